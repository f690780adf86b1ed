#include "apps/dogged/run/check_command.h"

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/worker_count.h"
#include "apps/dogged/report/memory_check.h"
#include "apps/dogged/report/point_cost.h"
#include "apps/dogged/run/loaded_program.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/point_warning.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

// The labels that the user wants, whatever tiles hold them.
int64_t WantedCount(const Program& program) {
  int64_t out = 0;
  for (const ResultView& view : program.views) {
    const ResultSet& set = program.results[view.result_set];
    if (program.arrays[set.array].name == view.array) {
      out += set.domain.Count();
      continue;
    }
    if (view.held.has_value()) {
      out += view.held->Count();
      continue;
    }
    int64_t count = 1;
    for (size_t d = 0; d < view.lower.size(); ++d) {
      count *= view.Count(d);
    }
    out += count;
  }
  return out;
}

// "1 task", "12 tasks".
std::string Counted(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

nlohmann::ordered_json CheckJson(const LoadedProgram& loaded,
                                 const Program& whole) {
  nlohmann::ordered_json out = {
      {"program", whole.name},
      {"values_wanted", WantedCount(whole)},
      {"tasks", whole.TaskCount()},
      {"task_classes", whole.classes.size()},
      {"lowering", loaded.job.lowering},
      {"footprint", FootprintSentence(loaded.facts.footprint)}};
  if (const auto& repeat = loaded.job.program.repeat; repeat.has_value()) {
    out["loop"] = {{"parameter", repeat->parameter},
                   {"first", repeat->first},
                   {"last", repeat->last}};
  }
  out["parameters_taken"] = nlohmann::ordered_json::object();
  for (const dsl::TakenParameter& taken : loaded.facts.taken) {
    out["parameters_taken"][taken.name] = taken.value;
  }
  out["inputs_lacking"] = nlohmann::ordered_json::array();
  for (const dsl::ProgramFacts::Input& input : loaded.facts.lacking) {
    out["inputs_lacking"].push_back(
        {{"array", input.array},
         {"type", ElementName(input.element)},
         {"shape",
          std::vector<int64_t>(input.shape.begin(), input.shape.end())}});
  }
  return out;
}

}  // namespace

ExitCode CheckCommand(const ProgramOptions& options,
                      const Environment& environment) {
  const KernelSource kernels(environment);
  ProgramOptions filled = options;
  filled.workers = WorkersPerAgent(options.workers, options.agents);
  filled.may_lack_inputs = true;
  filled.loads_libraries = true;
  const auto program = LoadProgram(filled, kernels);
  if (!program.ok()) return ExitCodeOfLoad(program.status());
  const Program p = WholeProgram(program->job.program);
  // C goes where it can be compiled from.
  std::FILE* const to = options.emit_c ? stderr : stdout;
  const auto classes = static_cast<int>(p.classes.size());
  if (options.json) {
    SetAnswer(CheckJson(*program, p));
    return ExitCode::kDone;
  }
  std::fprintf(
      to, "%s: %s wanted; %s in %s; %s\n", p.name.c_str(),
      Counted(WantedCount(p), "value").c_str(),
      Counted(p.TaskCount(), "task").c_str(),
      absl::StrCat(classes, classes == 1 ? " class" : " classes").c_str(),
      program->job.lowering.c_str());
  if (const auto& repeat = program->job.program.repeat; repeat.has_value()) {
    std::fprintf(
        to, "a loop: at most that many, if %s = %lld; at least %lld\n",
        repeat->parameter.c_str(), static_cast<long long>(repeat->last),
        static_cast<long long>(
            ProgramAt(program->job.program, repeat->first).TaskCount()));
  }
  std::fprintf(to, "%s\n", FootprintSentence(program->facts.footprint).c_str());
  if (absl::StartsWith(program->job.lowering, dsl::kPointByPoint)) {
    const auto cost = PointCostOf(p, filled.workers);
    if (cost.has_value()) {
      std::fprintf(to, "time: %s, for each point is a task\n",
                   PointCostText(*cost).c_str());
    }
  }
  for (const dsl::TakenParameter& taken : program->facts.taken) {
    std::fprintf(to, "%s = %lld, by the shape of %s\n", taken.name.c_str(),
                 static_cast<long long>(taken.value), taken.array.c_str());
  }
  for (const dsl::ProgramFacts::Input& input : program->facts.lacking) {
    std::fprintf(to, "a run wants --input %s=FILE.npy, of shape %s, %s\n",
                 input.array.c_str(), dsl::ShapeText(input.shape).c_str(),
                 std::string(ElementName(input.element)).c_str());
  }
  for (const KernelSpec& spec : p.kernels) {
    if (!options.emit_c || spec.kind != "c") continue;
    std::fwrite(spec.body.data(), 1, spec.body.size(), stdout);
  }
  return ExitCode::kDone;
}

}  // namespace dogged
