#include "dsl/compile.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/call_shapes.h"
#include "dsl/check/check_parameters.h"
#include "dsl/chunks/lower_chunks.h"
#include "dsl/job_inputs.h"
#include "dsl/kernels/load_kernels.h"
#include "dsl/kernels/numeric_needs.h"
#include "dsl/lower/index_tables.h"
#include "dsl/lower/input_sizes.h"
#include "dsl/lower/lower.h"
#include "dsl/lower/lower_points.h"
#include "dsl/lower/places_apart.h"
#include "dsl/lower/size_limits.h"
#include "dsl/lower/told_indices.h"
#include "dsl/point_warning.h"
#include "dsl/text/parser.h"
#include "dsl/tiling/lower_program.h"
#include "dsl/tiling/stencil.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/rounds.h"

namespace dogged::dsl {
namespace {

// Time steps of one task in a serial run: progress can be told between tasks,
// each of which costs a copy of all of space.
constexpr int64_t kSerialTimeSteps = 32;

// Reports an error of a kernel's library, if it can be told here.
void TryKernel(const CheckedKernel& kernel, const std::string& content,
               const LoadLibrary& load, Diagnostics& diagnostics) {
  const absl::Status loaded = load({.name = kernel.library,
                                    .content = content,
                                    .functions = {kernel.name}})
                                  .status();
  if (!absl::IsInvalidArgument(loaded)) return;
  const std::string words(loaded.message());
  std::string help;
  if (absl::StrContains(words, "has no function")) {
    help = "it must be a C function, in C++ one that is  extern \"C\"";
  } else if (absl::StrContains(words, "undefined symbol")) {
    help = "link it with the library that has that, as in  gcc ... -lm";
  } else if (absl::StrContains(words, "can't be loaded")) {
    help = "a shared library is made by  gcc -shared -fPIC -o mine.so mine.c";
  }
  diagnostics.Error(Code::kKernel, kernel.range, words).Help(help);
}

// Adds the libraries that kernels come from: the job carries them, so that all
// agents run the same code.
void AddLibraries(const CheckedProgram& checked, const CompileOptions& options,
                  Program& program, Diagnostics& diagnostics) {
  for (const CheckedKernel& kernel : checked.kernels) {
    if (kernel.library.empty()) continue;
    const bool is_there = std::any_of(
        program.kernels.begin(), program.kernels.end(),
        [&kernel](const KernelSpec& spec) {
          return spec.kind == "library" && spec.name == kernel.library;
        });
    if (is_there && !options.loads_libraries) continue;
    absl::StatusOr<std::string> content =
        options.read_file == nullptr
            ? absl::UnavailableError("nothing can be read here")
            : options.read_file(RelativeTo(options.file, kernel.library));
    if (!content.ok()) {
      diagnostics
          .Error(Code::kKernel, kernel.range,
                 absl::StrCat(kernel.library, " can't be read"))
          .Help("the path is seen from the program's file");
      continue;
    }
    if (options.loads_libraries) {
      TryKernel(kernel, *content, options.load_library, diagnostics);
    }
    if (is_there) continue;
    program.kernels.push_back({.name = kernel.library,
                               .kind = "library",
                               .body = *std::move(content)});
  }
}

// Checks that there are results, and that a loop has them whenever it ends:
// labels that nothing reads, such as corners, are made for the last round only.
// Tiles hold such labels anyway, so the points are asked.
absl::Status CheckResults(const PointProgram& points, bool selects_any_round,
                          Diagnostics& diagnostics) {
  if (std::none_of(points.results.begin(), points.results.end(),
                   [](const PointResult& result) {
                     return result.domain.Count() > 0;
                   })) {
    diagnostics.Error(Code::kResult, {}, "the result is empty")
        .Help("its range has no point with these parameters");
  }
  if (!points.repeat.has_value() || selects_any_round) return absl::OkStatus();
  DOGGED_ASSIGN_OR_RETURN(const Program program, LowerPoints(points, {}));
  const Program first = ProgramAt(program, program.repeat->first);
  const Relations relations(first);
  int64_t left = 1'000'000;
  relations.ForEachResult([&](const Label& label) {
    if (relations.ProducerOf(label).has_value()) return --left > 0;
    relations.ForEachResultPoint(label, [&](size_t set, const IndexVector&) {
      const std::string& parameter = program.repeat->parameter;
      const bool is_at_end = program.repeat->result_time[set].is_exact;
      diagnostics
          .Error(Code::kRepeat, points.results[set].range,
                 absl::StrCat("if the loop ends at ", parameter, " = ",
                              program.repeat->first, ", nothing makes ",
                              first.LabelText(label)))
          .Help(is_at_end
                    ? "leave out what no task reads, corners for example:  "
                      "for x = ..."
                    : absl::StrCat("what a result names without ", parameter,
                                   " has to be made by the first round"));
      return false;
    });
    return false;
  });
  return absl::OkStatus();
}

ElementType ElementOf(const ast::Program& tree, const std::string& name) {
  for (const ast::Array& array : tree.arrays) {
    if (array.name.text == name) return array.element;
  }
  return ElementType::kDouble;
}

std::vector<ProgramFacts::MadeInput> MadeInputs(const ast::Program& tree,
                                                const CompileOptions& options) {
  std::vector<ProgramFacts::MadeInput> out;
  for (const ast::Input& input : tree.inputs) {
    const std::string& array = input.ref.array.text;
    const bool is_made = input.else_call || input.else_value;
    if (!is_made || options.inputs.count(array) > 0) continue;
    out.push_back({array, input.else_call ? input.else_call->kernel.text : "",
                   ElementOf(tree, array)});
  }
  return out;
}

// Parameters that have no value but the one that a shape would give.
std::vector<const ast::Parameter*> FindAwaiting(const ast::Program& tree,
                                                const CheckOptions& check) {
  std::vector<const ast::Parameter*> out;
  for (const ast::Parameter& parameter : tree.parameters) {
    const auto is_it = [&parameter](const auto& given) {
      return given.first == parameter.name.text;
    };
    if (!parameter.from.empty() && !parameter.value.has_value() &&
        std::none_of(check.parameters.begin(), check.parameters.end(), is_it)) {
      out.push_back(&parameter);
    }
  }
  return out;
}

// How to give them values.
std::string AwaitingWords(absl::Span<const ast::Parameter* const> awaiting,
                          GivenBy given_by) {
  std::vector<std::string> takes;
  std::set<std::string> inputs;
  std::vector<std::string> numbers;
  for (const ast::Parameter* parameter : awaiting) {
    const std::string& array = parameter->from.front().text;
    takes.push_back(
        absl::StrCat(parameter->name.text, " from the shape of ", array));
    inputs.insert(InputWords(given_by, array, "FILE.npy"));
    numbers.push_back(ParameterWords(given_by, parameter->name.text, "NUMBER"));
  }
  return absl::StrCat(" takes ", absl::StrJoin(takes, ", "),
                      takes.size() == 1 ? ": give it,  " : ": give them,  ",
                      absl::StrJoin(inputs, " "), ",  or  ",
                      absl::StrJoin(numbers, " "));
}

// Inputs that the program does not make itself.
std::vector<ProgramFacts::Input> InputsWanted(const ast::Program& tree) {
  std::vector<ProgramFacts::Input> out;
  for (const ast::Input& input : tree.inputs) {
    if (input.else_call || input.else_value) continue;
    const std::string& array = input.ref.array.text;
    out.push_back({array, ElementOf(tree, array), {}});
  }
  return out;
}

// All that tasks make are blocks: they are tiles, of the program's own. A
// vector of a point is none.
bool HasOwnTiles(const PointProgram& points) {
  constexpr int64_t kPointElementsMax = 8;
  return std::all_of(
      points.classes.begin(), points.classes.end(), [&](const PointClass& c) {
        return std::all_of(c.creates.begin(), c.creates.end(),
                           [&points](const Create& create) {
                             return points.arrays[create.array].elements >
                                    kPointElementsMax;
                           });
      });
}

// In chunks, or else point by point.
absl::StatusOr<Program> LowerGathering(const PointProgram& points,
                                       const PointClass& gathering,
                                       const CompileOptions& options,
                                       std::string& how) {
  how = absl::StrCat(kPointByPoint, ": task ", gathering.name,
                     " reads labels by indices from tables");
  if (options.coalesce && options.chunk_points > 0) {
    const absl::StatusOr<Program> chunks =
        LowerChunks(points, options.target, options.chunk_points, how);
    if (!absl::IsUnimplemented(chunks.status())) return chunks;
    absl::StrAppend(&how, "; no chunks: ", chunks.status().message());
  }
  return LowerPoints(points, options.target);
}

// A program that has no tiles, as `how` says: in chunks, or `by_points`.
absl::StatusOr<Program> ChunksOr(absl::StatusOr<Program> by_points,
                                 const PointProgram& points,
                                 const CompileOptions& options,
                                 std::string& how) {
  if (options.coalesce && options.chunk_points > 0) {
    std::string chunks_how;
    absl::StatusOr<Program> chunks =
        LowerChunks(points, options.target, options.chunk_points, chunks_how);
    if (chunks.ok()) {
      how = absl::StrCat(chunks_how, "; no tiles",
                         how.substr(kPointByPoint.size()));
      return chunks;
    }
    if (!absl::IsUnimplemented(chunks.status())) return chunks;
    absl::StrAppend(&how, "; no chunks: ", chunks.status().message());
  }
  if (HasOwnTiles(points)) how = std::string(kOwnTiles);
  return by_points;
}

// Lowers `points` in the way that `options` ask for, or the best that there is,
// and says in `how` which that was: a uniform stencil in its own tiles, but for
// products of matrices in one process, where blocks of both factors cost no
// bytes on a link; all others as a nest.
absl::StatusOr<Program> LowerBest(const PointProgram& points,
                                  const CompileOptions& options,
                                  std::string& how) {
  if (const PointClass* const c = FindGathering(points)) {
    return LowerGathering(points, *c, options, how);
  }
  const bool may_nest = options.lower_nest != nullptr && options.coalesce;
  absl::StatusOr<Program> nest = absl::UnimplementedError("");
  const auto lower_nest = [&] {
    std::string nest_how;
    nest = options.lower_nest(
        points, {.size = options.target, .widths = options.nest_widths},
        nest_how);
    if (nest.ok()) how = nest_how;
    return nest.ok();
  };
  if (may_nest && options.prefers_nest && lower_nest()) return nest;
  absl::StatusOr<Program> own = LowerProgram(
      points, options.target, options.coalesce, options.shape, how);
  if (!own.ok()) return own;
  const bool has_tiles = !absl::StartsWith(how, kPointByPoint);
  const bool is_best =
      has_tiles &&
      (options.shape || options.target.agents > 1 || !GathersWithoutHalo(*own));
  if (may_nest && !options.prefers_nest && !is_best && lower_nest()) {
    return nest;
  }
  if (may_nest && (options.prefers_nest || !has_tiles)) {
    absl::StrAppend(&how, kNoLoopNest, nest.status().message());
  }
  if (has_tiles) return own;
  if (!absl::IsUnimplemented(nest.status())) return nest;
  return ChunksOr(std::move(own), points, options, how);
}

CheckOptions CheckOptionsOf(const CompileOptions& options,
                            const KernelRegistry& registry) {
  CheckOptions out{.parameters = options.parameters,
                   .input_files = {},
                   .may_lack_inputs = options.may_lack_inputs,
                   .kernels = &registry};
  for (const auto& input : options.inputs) out.input_files.insert(input.first);
  return out;
}

std::map<std::string, Shape> ShapesOf(const CompileOptions& options) {
  std::map<std::string, Shape> out;
  for (const auto& [array, value] : options.inputs) out[array] = value.shape();
  return out;
}

// Compile, but for whose mistake it is.
absl::StatusOr<Job> CompileTogether(absl::string_view text,
                                    const CompileOptions& options,
                                    const KernelRegistry& registry,
                                    Diagnostics& diagnostics,
                                    PlacedResults& placed,
                                    ProgramFacts& facts) {
  diagnostics = Include(options.file, text, options.read_file);
  const size_t own_bytes = OwnBytes(diagnostics.text());
  if (!options.selections.empty()) {
    std::vector<SourcePart> parts = diagnostics.parts();
    std::vector<Diagnostic> said = diagnostics.all();
    diagnostics = Diagnostics(
        options.file, WithSelections(diagnostics.text(), options.selections));
    diagnostics.SetParts(std::move(parts));
    for (const Diagnostic& one : said) {
      diagnostics.Error(one.code, one.range, one.message).Help(one.help);
    }
  }
  diagnostics.SetGivenBy(options.given_by);
  const std::string& whole_text = diagnostics.text();
  const absl::Status wrong =
      absl::InvalidArgumentError(absl::StrCat(options.file, " has errors"));
  const ast::Program tree = Parse(diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  facts.made = MadeInputs(tree, options);
  CheckOptions check = CheckOptionsOf(options, registry);
  facts.taken = TakeParameters(tree, check, ShapesOf(options), diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  for (const TakenParameter& one : facts.taken) {
    check.parameters.emplace_back(one.name, absl::StrCat(one.value));
  }
  const std::vector<const ast::Parameter*> awaiting = FindAwaiting(tree, check);
  if (options.may_lack_inputs && !awaiting.empty()) {
    CheckGivenParameters(tree, check.parameters, diagnostics);
    if (diagnostics.HasErrors()) return wrong;
    facts.awaited = InputsWanted(tree);
    return absl::FailedPreconditionError(
        absl::StrCat(options.file, AwaitingWords(awaiting, options.given_by)));
  }
  CheckedProgram checked = Check(tree, check, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  MarkSelections(own_bytes, checked);
  const std::vector<std::string> lacking =
      LackingIndexFiles(options.inputs, checked);
  if (options.may_lack_inputs && !lacking.empty()) {
    facts.awaited = InputsWanted(tree);
    return absl::FailedPreconditionError(absl::StrCat(
        options.file, " reads indices from ", lacking.front(), ": give it,  ",
        InputWords(options.given_by, lacking.front(), "FILE.npy")));
  }
  const std::vector<std::string> index_files =
      FillTables(options.inputs, options.given_by, checked, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  options.analyze(checked, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  PointProgram points =
      MakePointProgram(checked, NameOfFile(options.file), diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  points = WithPlacesApart(std::move(points));
  if (!options.static_labels) points = WithoutToldIndices(std::move(points));
  points.has_static_labels = options.static_labels;
  placed = PlaceResults(options.selections, points, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  NameIndices(checked, points, placed);
  CheckSize(points, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  CheckCallShapes(checked, points, registry, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  Job job;
  std::string how;
  DOGGED_ASSIGN_OR_RETURN(job.program, LowerBest(points, options, how));
  facts.is_warned_of_points =
      WarnOfPoints(checked, points, options, job.program, how, diagnostics);
  for (const std::string& array : index_files) {
    job.program.kernels.push_back(
        IndexFileSpec(array, options.inputs.at(array)));
  }
  AddLibraries(checked, options, job.program, diagnostics);
  if (diagnostics.HasErrors()) return wrong;
  DOGGED_RETURN_IF_ERROR(
      CheckResults(points, options.selects_any_round, diagnostics));
  if (diagnostics.HasErrors()) return wrong;
  DOGGED_ASSIGN_OR_RETURN(std::string source, CSourceOf(job.program));
  if (!source.empty()) {
    job.program.kernels.push_back(
        {.name = "source", .kind = "c", .body = std::move(source)});
  }
  job.source = WithoutFiles(whole_text, tree);
  job.parameters = check.parameters;
  facts.footprint = absl::StartsWith(how, kPointByPoint) || how == kOwnTiles
                        ? PointFootprintOf(points)
                        : FootprintOf(points, job.program);
  DOGGED_RETURN_IF_ERROR(AddInputs(
      points, options,
      [&](const std::string& array, const Shape& shape) {
        return HelpWithShape(tree, check, array, shape, options.given_by);
      },
      job, facts));
  DOGGED_ASSIGN_OR_RETURN(
      job.numeric_class,
      NumericClassOf(job.program, registry, options.numeric));
  job.lowering = options.compiled ? how : absl::StrCat(how, "\n", kInterpreted);
  return job;
}

}  // namespace

std::string NameOfFile(const std::string& file) {
  const size_t slash = file.rfind('/');
  std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  if (absl::EndsWith(name, ".dog")) name.resize(name.size() - 4);
  return name;
}

absl::StatusOr<Job> Compile(absl::string_view text,
                            const CompileOptions& options,
                            const KernelRegistry& registry,
                            Diagnostics& diagnostics, PlacedResults* placed,
                            ProgramFacts* facts) {
  DOGGED_CHECK(options.analyze != nullptr) << "no analysis";
  PlacedResults results;
  ProgramFacts known;
  const absl::StatusOr<Job> job =
      CompileTogether(text, options, registry, diagnostics, results, known);
  if (facts != nullptr) *facts = known;
  if (placed != nullptr) *placed = std::move(results);
  if (job.ok() || options.selections.empty()) return job;
  // The program's mistake, or that of a selection?
  CompileOptions fewer = options;
  fewer.selections.clear();
  Diagnostics found(options.file, "");
  const absl::StatusOr<Job> alone =
      CompileTogether(text, fewer, registry, found, results, known);
  if (!alone.ok()) {
    diagnostics = std::move(found);
    return alone;
  }
  SelectionErrors errors(options.selections, options.selection_sources);
  for (size_t k = 0; k < options.selections.size(); ++k) {
    fewer.selections = {options.selections[k]};
    if (!CompileTogether(text, fewer, registry, found, results, known).ok()) {
      errors.Add(k, found);
    }
  }
  if (!errors.IsEmpty()) diagnostics = errors.Take();
  return absl::NotFoundError(
      absl::StrCat(options.file, " has no such results"));
}

namespace {

// Outcome of a run: the values of its result labels, and the program whose
// results they are, which for a loop is that of its last round.
struct RanJob {
  Program program;
  absl::flat_hash_map<Label, Value> values;
};

// Runs `job` in this thread.
absl::StatusOr<RanJob> RunJob(const Job& job, const KernelRegistry& registry,
                              const CompileSource& compile,
                              const LoadLibrary& load,
                              const SerialProgress& progress = nullptr) {
  DOGGED_ASSIGN_OR_RETURN(const KernelTable kernels,
                          LoadKernels(job, registry, compile, load));
  const Relations relations(job.program);
  RanJob out;
  DOGGED_ASSIGN_OR_RETURN(const int64_t time,
                          RunSerially(
                              relations, kernels,
                              [&](const Label& label, const Value& value) {
                                out.values[label] = value;
                                return absl::OkStatus();
                              },
                              progress));
  out.program = job.program.repeat.has_value() ? ProgramAt(job.program, time)
                                               : job.program;
  return out;
}

absl::StatusOr<Value> Find(const absl::flat_hash_map<Label, Value>& values,
                           const Label& label) {
  const auto it = values.find(label);
  if (it == values.end()) return absl::InternalError("a result is missing");
  return it->second;
}

}  // namespace

absl::StatusOr<SerialOutcome> SerialRun(absl::string_view text,
                                        CompileOptions options,
                                        const KernelRegistry& registry,
                                        Diagnostics& diagnostics,
                                        const SerialProgress& progress) {
  options.compiled = false;
  options.target = {};
  // Points are what nests and chunks are held to.
  options.lower_nest = nullptr;
  options.chunk_points = 0;
  // A single tile over all of space: no halos, only the loop over the points of
  // each time step.
  options.shape = TileShape{.widths = {}, .depth = kSerialTimeSteps};
  DOGGED_ASSIGN_OR_RETURN(const Job job,
                          Compile(text, options, registry, diagnostics));
  DOGGED_ASSIGN_OR_RETURN(
      const RanJob ran,
      RunJob(job, registry, nullptr, options.load_library, progress));
  const auto find = [&ran](const Label& label) {
    return Find(ran.values, label);
  };
  SerialOutcome out;
  out.views = ran.program.views;
  ResultViews views(ran.program, find);
  for (size_t v = 0; v < out.views.size(); ++v) {
    DOGGED_ASSIGN_OR_RETURN(Value dense, views.Assembled(v));
    out.values.push_back(std::move(dense));
  }
  DOGGED_ASSIGN_OR_RETURN(out.digest, views.DigestOfAll());
  return out;
}

absl::StatusOr<Digest> DigestOf(const Job& job, const KernelRegistry& registry,
                                const CompileSource& compile,
                                const LoadLibrary& load) {
  DOGGED_ASSIGN_OR_RETURN(const RanJob ran,
                          RunJob(job, registry, compile, load));
  return ResultDigest(ran.program, [&ran](const Label& label) {
    return Find(ran.values, label);
  });
}

}  // namespace dogged::dsl
