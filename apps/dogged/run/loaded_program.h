// LoadedProgram: from a program file to a job, for all commands that know
// programs.
#ifndef DOGGED_APPS_DOGGED_RUN_LOADED_PROGRAM_H_
#define DOGGED_APPS_DOGGED_RUN_LOADED_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/report/outputs.h"
#include "apps/dogged/run/program_options.h"
#include "dsl/compile.h"
#include "runtime/graph/job.h"

namespace dogged {

struct LoadedProgram {
  std::string text;
  dsl::CompileOptions options;
  Job job;
  std::vector<Output> outputs;
  OutputForm output_form;  // also of files that the program names
  size_t wanted = 0;       // of ProgramOptions::wanted
  std::vector<dsl::SelectedLabels> wanted_labels;  // of these
  bool writes_results = false;                     // as ProgramOptions
  dsl::ProgramFacts facts;
};

// The status to end with after an error of LoadProgram(): a program that lacks
// the files which tell its parameters is wrong as it was given.
ExitCode ExitCodeOfLoad(const absl::Status& status);

// Reads the file and the inputs, and compiles. Errors have been printed on
// standard error, but for a given program, of which nothing is printed.
absl::StatusOr<LoadedProgram> LoadProgram(const ProgramOptions& options,
                                          const KernelSource& kernels);

// The same program with tiles for another target; prints nothing. Errors: as
// Compile.
absl::StatusOr<LoadedProgram> Retarget(const LoadedProgram& program,
                                       const dsl::TargetSize& target,
                                       const KernelSource& kernels);

// Hash of a program's text and of its includes, without the names of files that
// results go to; never 0.
uint64_t TextHash(const LoadedProgram& program);

// Where a run's own agents keep values of `job`, below `directory`; empty if
// that is. It has the name of the job: a later run of that goes on there, and
// no other one.
std::string FolderOfJob(const std::string& directory, const Job& job);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_LOADED_PROGRAM_H_
