// MPI_Bcast as a peer of our multicasts: one rank on each host.
//
//     mpirun ... dogged-bench-mpi SAMPLES RANKS,... BYTES,...
//
// prints "ranks bytes seconds..." a line, the seconds from when rank 0 starts
// to when the last rank has it, by clocks that one machine shares.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "runtime/base/clock.h"

namespace {

double Now() {
  static dogged::SystemClock clock;
  return absl::ToDoubleSeconds(clock.Now() - absl::UnixEpoch());
}

std::vector<int> Numbers(const char* text) {
  std::vector<int> numbers;
  for (const auto part : absl::StrSplit(text, ',')) {
    int number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

double TimeOne(MPI_Comm group, std::vector<char>& body) {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  MPI_Barrier(group);
  // Barriers end at slightly different times: the time begins at rank 0.
  double start = Now();
  MPI_Bcast(body.data(), static_cast<int>(body.size()), MPI_CHAR, 0, group);
  double end = Now();
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, group);
  double last = 0;
  MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, group);
  return last - start;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int samples = 1;
  if (argc != 4 || !absl::SimpleAtoi(argv[1], &samples)) {
    std::fprintf(stderr, "dogged-bench-mpi SAMPLES RANKS,... BYTES,...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int ranks : Numbers(argv[2])) {
    MPI_Comm group = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank,
                   &group);
    for (int bytes : Numbers(argv[3])) {
      if (group == MPI_COMM_NULL) continue;
      std::vector<char> body(static_cast<size_t>(bytes), 'x');
      TimeOne(group, body);
      std::string line = std::to_string(ranks) + " " + std::to_string(bytes);
      for (int i = 0; i < samples; ++i) {
        line += " " + std::to_string(TimeOne(group, body));
      }
      if (rank == 0) std::printf("%s\n", line.c_str());
    }
    if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
