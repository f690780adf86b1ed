// From a program file to a job, and from a job to kernels: what all commands
// that know programs share.
#ifndef DOGGED_APPS_DOGGED_JOB_SOURCE_H_
#define DOGGED_APPS_DOGGED_JOB_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/options.h"
#include "apps/dogged/outputs.h"
#include "dsl/compile.h"
#include "runtime/agent/agent.h"
#include "runtime/exec/helper_library.h"
#include "runtime/exec/kernel_library.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"

namespace dogged {

// The kernels this binary knows by name, and the compiler for the others.
// SetUpBlas() came before: numeric classes depend on it.
class KernelSource {
 public:
  // Libraries of the user's own run in processes of their own, or in this one.
  enum class Libraries : uint8_t { kApart, kHere };
  explicit KernelSource(const Environment& environment,
                        Libraries libraries = Libraries::kApart);

  const KernelRegistry& registry() const { return registry_; }
  // The parts that this host has; a job needs some of them.
  const NumericParts& numeric_parts() const { return numeric_parts_; }
  // For so many workers that run them. Why they are interpreted, where they
  // should have been compiled, is for `trouble`, or the log without it. Errors:
  // kFailedPrecondition for a job that needs another numeric class;
  // kResourceExhausted, see ReserveBlas().
  absl::StatusOr<KernelTable> Load(const Job& job, int workers,
                                   absl::Status* trouble = nullptr) const;
  dsl::CompileSource compile() const;
  LoadLibrary load_library() const;
  // See KernelCompiler::Interrupt() and KernelHelpers::Interrupt().
  void Interrupt() const {
    compiler_.Interrupt();
    helpers_.Interrupt();
  }

 private:
  KernelRegistry registry_;
  KernelCompiler compiler_;
  KernelHelpers helpers_;
  Libraries libraries_;
  NumericParts numeric_parts_;
};

struct LoadedProgram {
  std::string text;
  dsl::CompileOptions options;
  Job job;
  std::vector<Output> outputs;
  bool writes_results = false;  // as ProgramOptions
  dsl::ProgramFacts facts;
};

// Reads the file and the inputs, and compiles. What is wrong has been printed
// on standard error when this returns an error.
absl::StatusOr<LoadedProgram> LoadProgram(const ProgramOptions& options,
                                          const KernelSource& kernels);

// The same program with tiles for others; says nothing. Errors: as Compile.
absl::StatusOr<LoadedProgram> Retarget(const LoadedProgram& program,
                                       const dsl::TargetSize& target,
                                       const KernelSource& kernels);

// Of a program as its file has it, with those that it includes, but for the
// names of files that results go to; never 0.
uint64_t TextHash(const LoadedProgram& program);

// A file of at most 16 MB as it is, but for a byte order mark; `what` it should
// be is for messages. Errors: kNotFound, also for a directory, a device, a
// pipe; kInvalidArgument for what is larger.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     absl::string_view what);
// The same of a program text.
absl::StatusOr<std::string> ReadText(const std::string& path);

// The status for a user: printed by whoever returns it to main.
ExitCode ExitCodeOf(const absl::Status& status);

// Processors of this host divided by `agents`, at least 1, if `workers` is 0.
int WorkersPerAgent(int workers, int agents);

// Of a job's hash, for people.
inline constexpr size_t kNameDigits = 12;
// Where a run's own agents keep values of `job`, below `directory`; empty if
// that is. It has the name of the job: a later run of that goes on there, and
// no other one.
std::string FolderOfJob(const std::string& directory, const Job& job);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOB_SOURCE_H_
