#include "apps/dogged/run/loaded_program.h"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/text_file.h"
#include "apps/output/npy.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/nest/lower_nest.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/include.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Reads an input. kNotFound, as for a mistyped word, if the file is not there
// or no file; a file whose content can't serve has another error.
absl::StatusOr<Value> ReadInput(const std::string& array,
                                const std::string& path, bool may_map) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(
        absl::StrCat("input ", array, ": ", path, " is a directory"));
  }
  absl::StatusOr<Value> value = ReadNpy(path, may_map);
  if (value.ok()) return value;
  const std::string what = absl::StrCat("input ", array, ": ",
                                        std::string(value.status().message()));
  switch (value.status().code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return absl::NotFoundError(what);
    case absl::StatusCode::kResourceExhausted:
      return absl::ResourceExhaustedError(what);
    default:
      return absl::InvalidArgumentError(what);
  }
}

// "input A: has shape.." with the file that was given for A.
absl::Status NameFile(
    const absl::Status& status,
    const std::vector<std::pair<std::string, std::string>>& inputs) {
  const std::string message(status.message());
  for (const auto& [array, path] : inputs) {
    const std::string start = absl::StrCat("input ", array, ": ");
    if (absl::StartsWith(message, start)) {
      return absl::Status(
          status.code(),
          absl::StrCat(start, path, " ", message.substr(start.size())));
    }
  }
  return status;
}

// Reads files, and libraries that were given in place of some.
std::function<absl::StatusOr<std::string>(const std::string&)> ReaderOf(
    const ProgramOptions& options) {
  if (options.given == nullptr || options.given->libraries.empty()) {
    return ReadText;
  }
  std::map<std::string, std::string> given;
  for (const auto& [name, content] : options.given->libraries) {
    given[dsl::RelativeTo(options.file, name)] = content;
  }
  return [given = std::move(given)](
             const std::string& path) -> absl::StatusOr<std::string> {
    const auto found = given.find(path);
    if (found != given.end()) return found->second;
    return ReadText(path);
  };
}

// Compiles `out.text` with `out.options` into the rest of it.
absl::Status CompileInto(LoadedProgram& out, const KernelSource& kernels,
                         dsl::Diagnostics& diagnostics) {
  dsl::PlacedResults placed;
  DOGGED_ASSIGN_OR_RETURN(
      out.job, dsl::Compile(out.text, out.options, kernels.registry(),
                            diagnostics, &placed, &out.facts));
  // Labels that are only wanted come last, and go to no file.
  out.outputs.resize(placed.selections.size() - out.wanted);
  out.wanted_labels.assign(
      placed.selections.begin() + static_cast<ptrdiff_t>(out.outputs.size()),
      placed.selections.end());
  placed.selections.resize(out.outputs.size());
  DOGGED_RETURN_IF_ERROR(SetLabels(std::move(placed.selections), out.outputs));
  if (out.writes_results) {
    DOGGED_RETURN_IF_ERROR(
        AddResultFiles(placed.files, out.output_form, out.outputs));
  }
  return CheckAxes(out.output_form, out.outputs);
}

}  // namespace

ExitCode ExitCodeOfLoad(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) ? ExitCode::kWrong
                                            : ExitCodeOf(status);
}

absl::StatusOr<LoadedProgram> LoadProgram(const ProgramOptions& options,
                                          const KernelSource& kernels) {
  GivenProgram* const given = options.given;
  const auto fail = [given](const absl::Status& status) {
    if (given == nullptr) PrintError(status.message());
    return status;
  };
  LoadedProgram out;
  absl::StatusOr<std::string> text =
      given == nullptr ? ReadText(options.file) : given->text;
  if (!text.ok()) return fail(text.status());
  out.text = *std::move(text);
  out.writes_results = options.writes_results;
  out.options.read_file = ReaderOf(options);
  out.options.load_library = kernels.load_library();
  out.options.file = options.file;
  out.options.parameters = options.definitions;
  out.options.loads_libraries = options.loads_libraries;
  out.options.coalesce = options.coalesce;
  out.options.prefers_nest = options.prefers_nest;
  out.options.lower_nest = dsl::LowerNestWithIsl;
  out.options.static_labels = options.static_labels;
  out.options.may_lack_inputs = options.may_lack_inputs;
  out.options.compiled = options.compiled;
  out.options.target = {.agents = options.agents, .workers = options.workers};
  out.options.numeric = kernels.numeric_parts();
  out.options.analyze = dsl::AnalyzeWithIsl;
  for (const auto& [array, path] : options.inputs) {
    absl::StatusOr<Value> value = ReadInput(
        // A single process reads it where it is: nobody compares digests.
        array, path, /*may_map=*/options.agents != 1);
    if (!value.ok()) return fail(value.status());
    out.options.inputs[array] = *std::move(value);
  }
  absl::StatusOr<std::vector<Output>> outputs =
      ParseOutputs(options.outputs, options.output_form);
  if (!outputs.ok()) return fail(outputs.status());
  out.outputs = *std::move(outputs);
  out.output_form = options.output_form;
  for (const Output& output : out.outputs) {
    out.options.selections.push_back(output.selection.text);
  }
  out.wanted = options.wanted.size();
  for (const std::string& wanted : options.wanted) {
    const auto selection = ParseLabels(wanted);
    const char* const source = given == nullptr ? "--want" : "want";
    if (!selection.ok()) {
      return fail(absl::NotFoundError(
          absl::StrCat(source, ": ", selection.status().message())));
    }
    out.options.selection_sources.resize(out.options.selections.size(),
                                         "--output");
    out.options.selections.push_back(selection->text);
    out.options.selection_sources.push_back(source);
  }
  if (given != nullptr) {
    out.options.inputs = given->inputs;
    out.options.given_by = dsl::GivenBy::kCall;
  }
  dsl::Diagnostics diagnostics(options.file, out.text);
  const absl::Status compiled = CompileInto(out, kernels, diagnostics);
  if (given != nullptr) {
    given->diagnostics.emplace(std::move(diagnostics));
    given->awaited = out.facts.awaited;
    given->made = out.facts.made;
    return compiled.ok() ? absl::StatusOr<LoadedProgram>(std::move(out))
                         : compiled;
  }
  NoteDiagnostics(diagnostics);
  const std::string words = diagnostics.ToString();
  std::fwrite(words.data(), 1, words.size(), stderr);
  if (diagnostics.HasErrors()) {
    return absl::Status(compiled.code(), "the program is wrong");
  }
  if (!compiled.ok()) return fail(NameFile(compiled, options.inputs));
  const absl::Status kept = CheckKeepInputs(options.inputs, out.outputs);
  if (!kept.ok()) return fail(kept);
  return out;
}

absl::StatusOr<LoadedProgram> Retarget(const LoadedProgram& program,
                                       const dsl::TargetSize& target,
                                       const KernelSource& kernels) {
  LoadedProgram out = program;
  out.options.target = target;
  dsl::Diagnostics diagnostics(out.options.file, out.text);
  DOGGED_RETURN_IF_ERROR(CompileInto(out, kernels, diagnostics));
  return out;
}

uint64_t TextHash(const LoadedProgram& program) {
  return Hash64(dsl::WithoutSelections(program.job.source,
                                       program.options.selections)) |
         1;
}

std::string FolderOfJob(const std::string& directory, const Job& job) {
  if (directory.empty()) return "";
  return absl::StrCat(directory, "/",
                      JobHash(job.Encode()).ToString().substr(0, kNameDigits));
}

}  // namespace dogged
