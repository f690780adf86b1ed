// A folder of its own for a test, removed with all in it.
#ifndef DOGGED_TESTS_OUTPUT_TEMPORARY_FOLDER_H_
#define DOGGED_TESTS_OUTPUT_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace dogged {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "dogged_output_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << path_;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }
  int FileCount() const {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  std::string Write(const std::string& name, absl::string_view content) const {
    std::ofstream out(*this / name, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    return *this / name;
  }

 private:
  std::string path_;
};

inline std::string ContentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace dogged

#endif  // DOGGED_TESTS_OUTPUT_TEMPORARY_FOLDER_H_
