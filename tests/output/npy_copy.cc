// Reads an .npy file and writes it again: npy_copy FROM TO. For numpy_test.py.
#include <iostream>

#include "apps/output/npy.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::StatusOr<dogged::Value> value = dogged::ReadNpy(argv[1]);
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    return 1;
  }
  const absl::Status status = dogged::WriteNpy(argv[2], *value);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
