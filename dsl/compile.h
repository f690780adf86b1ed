// Compile: from program text to a Job; and runs of a Job in this thread.
#ifndef DOGGED_DSL_COMPILE_H_
#define DOGGED_DSL_COMPILE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/check/analysis.h"
#include "dsl/check/check.h"
#include "dsl/kernels/c_kernels.h"
#include "dsl/kernels/library_kernel.h"
#include "dsl/lower/footprint.h"
#include "dsl/lower/nest_lowering.h"
#include "dsl/lower/selections.h"
#include "dsl/lower/taken_parameters.h"
#include "dsl/results.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/include.h"
#include "dsl/tiling/coalesce.h"
#include "runtime/graph/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/numeric_class.h"

namespace dogged::dsl {

struct CompileOptions {
  std::string file;  // for messages; its last part without suffix is the name
  ParameterValues parameters;
  std::map<std::string, Value> inputs;  // by array, dense
  bool coalesce = true;
  // Programs that read by tables go in chunks of so many points or more, if
  // that makes two; 0: by points.
  int64_t chunk_points = 256;
  // Tiles of loop nests where there would be no tiles; null: points then. With
  // `prefers_nest` wherever they are possible.
  LowerNestFunction lower_nest = nullptr;
  bool prefers_nest = false;
  std::vector<int64_t> nest_widths;  // see NestTarget
  // Static arrays stay labels: for a drawing, not for a run.
  bool static_labels = false;
  // Tiles of this shape instead of chosen ones.
  std::optional<TileShape> shape;
  bool compiled = true;  // generated C, else the interpreter; the same bits
  TargetSize target;
  // An input without a file and 'else' is no error. Such a job can't run.
  bool may_lack_inputs = false;
  // More results, as 'phi(:)(50)' or 'phi(5:20)(50)'. A bare name stands for
  // the program's own result of that array.
  std::vector<std::string> selections;
  // They may name what only later rounds of a loop make: of a job that there is
  // already, to ask for it or to wait for it.
  bool selects_any_round = false;
  GivenBy given_by = GivenBy::kFlags;  // parameters and inputs, in messages
  // Where each was said, in errors: "--want"; those beyond: "--output".
  std::vector<std::string> selection_sources;
  NumericParts numeric;  // for Job::numeric_class
  // Reads included files, and libraries of kernels.
  ReadFile read_file;
  LoadLibrary load_library;      // for SerialRun
  bool loads_libraries = false;  // by it, to see if their functions are there
  AnalyzeFunction analyze = nullptr;  // AnalyzeWithIsl; required
};

// Facts of a program that its job does not have.
struct ProgramFacts {
  Footprint footprint;
  struct Input {
    std::string array;
    ElementType element = ElementType::kDouble;
    Shape shape;  // see WantedShape()
  };
  std::vector<Input> lacking;  // see CompileOptions::may_lack_inputs
  // With may_lack_inputs, of a program that takes parameters from the shapes of
  // inputs which are not there, and has no defaults for them: all inputs that
  // it wants, without shapes. Nothing else is known of such a program.
  std::vector<Input> awaited;
  // An input without a file, which the program makes itself.
  struct MadeInput {
    std::string array;
    std::string kernel;  // empty: by an expression
    ElementType element = ElementType::kDouble;
  };
  std::vector<MadeInput> made;
  std::vector<TakenParameter> taken;
  bool is_warned_of_points = false;  // a diagnostic says why it has no tiles
};

// The name of the program in `file`, and of its job, as heat1d of
// "apps/heat1d/heat1d.dog".
std::string NameOfFile(const std::string& file);

// Parses, checks, analyses and lowers `text`. Messages for the user are in
// `diagnostics`, which is made anew for `text`; with errors there the status is
// kInvalidArgument, or kNotFound if only selections are wrong, in whose text
// the messages then point. Job::lowering says in words how the program runs:
// the tiles' shape, or why it runs point by point. `placed` gets the labels of
// selections and of result files, `facts` more; either may be null.
absl::StatusOr<Job> Compile(absl::string_view text,
                            const CompileOptions& options,
                            const KernelRegistry& registry,
                            Diagnostics& diagnostics,
                            PlacedResults* placed = nullptr,
                            ProgramFacts* facts = nullptr);

struct SerialOutcome {
  std::vector<ResultView> views;
  std::vector<Value> values;  // dense, one per view
  Digest digest;              // as ResultDigest
};

// Runs the computation in this thread, interpreted, with a stencil in one tile
// that holds all of space: the reference for --check. `options.shape`, `target`
// and `compiled` don't count. For `progress` see RunSerially().
absl::StatusOr<SerialOutcome> SerialRun(
    absl::string_view text, CompileOptions options,
    const KernelRegistry& registry, Diagnostics& diagnostics,
    const SerialProgress& progress = nullptr);

// The digest of the results that a run of `job` in this thread gives.
absl::StatusOr<Digest> DigestOf(const Job& job, const KernelRegistry& registry,
                                const CompileSource& compile,
                                const LoadLibrary& load = nullptr);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_COMPILE_H_
