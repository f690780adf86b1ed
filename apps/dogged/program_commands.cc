// `dogged check` and `dogged sim`: commands that need no agents.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/errors.h"
#include "apps/dogged/job_source.h"
#include "apps/dogged/json_text.h"
#include "apps/dogged/room.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/results.h"
#include "dsl/text/explain.h"
#include "runtime/graph/rounds.h"
#include "runtime/sim/cluster.h"

namespace dogged {
namespace {

// The labels that the user wants, whatever tiles hold them.
int64_t WantedCount(const Program& program) {
  int64_t out = 0;
  for (const ResultView& view : program.views) {
    const ResultSet& set =
        program.results[static_cast<size_t>(view.result_set)];
    if (program.arrays[static_cast<size_t>(set.array)].name == view.array) {
      out += set.domain.Count();
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

}  // namespace

ExitCode CheckCommand(const ProgramOptions& options,
                      const Environment& environment) {
  const KernelSource kernels(environment);
  ProgramOptions filled = options;
  filled.workers = WorkersPerAgent(options.workers, options.agents);
  filled.may_lack_inputs = true;
  filled.loads_libraries = true;
  const auto program = LoadProgram(filled, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  const Program p = WholeProgram(program->job.program);
  // C goes where it can be compiled from.
  std::FILE* const to = options.emit_c ? stderr : stdout;
  const auto classes = static_cast<int>(p.classes.size());
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

ExitCode ExplainCommand(const std::string& code) {
  const std::string text = dsl::Explain(code);
  if (text.empty()) {
    SayError(absl::StrCat(code, " is no code; they go from D001 to D028"));
    return ExitCode::kMistyped;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitCode::kDone;
}

namespace {

// The results that every simulated run must give.
absl::StatusOr<absl::btree_map<Label, Digest>> SerialDigests(
    const Job& job, const KernelTable& table) {
  const Relations relations(job.program);
  absl::btree_map<Label, Digest> out;
  const auto ended = dsl::RunSerially(
      relations, table, [&out](const Label& label, const Value& value) {
        out[label] = value.digest();
        return absl::OkStatus();
      });
  if (!ended.ok()) return ended.status();
  return out;
}

// What many simulated runs come to.
struct SimTotals {
  int64_t seeds = 0;
  int64_t failed = 0;
  int64_t faults_injected = 0;
  int64_t tasks_needed = 0;
  int64_t tasks_executed = 0;
  int64_t held_labels_max = 0;  // at any agent
  absl::Duration elapsed;       // virtual
  uint64_t trace_digest = 0;    // of the last one

  // What was wrong with the run; empty if nothing was.
  std::string Add(const SimOutcome& outcome,
                  const absl::btree_map<Label, Digest>& expected) {
    ++seeds;
    faults_injected += outcome.faults_injected;
    tasks_needed += outcome.tasks_needed;
    tasks_executed += outcome.stats.tasks_executed;
    held_labels_max = std::max(held_labels_max, outcome.held_labels_max);
    elapsed += outcome.elapsed;
    trace_digest = outcome.trace_digest;
    if (outcome.status.ok() && outcome.results == expected) return "";
    ++failed;
    if (outcome.status.ok()) return "the results differ from the serial run";
    return std::string(outcome.status.message());
  }
  std::string ToWords() const {
    return absl::StrFormat(
        "%d seeds, %d failed; %d faults, executed/needed %.3f, at most %d "
        "labels at an agent, %.2f simulated s each, last trace %016x",
        seeds, failed, faults_injected,
        static_cast<double>(tasks_executed) / static_cast<double>(tasks_needed),
        held_labels_max,
        absl::ToDoubleSeconds(elapsed) /
            static_cast<double>(std::max<int64_t>(seeds, 1)),
        trace_digest);
  }
  std::string ToJson(const std::string& program) const {
    const nlohmann::ordered_json out = {
        {"program", program},
        {"seeds", seeds},
        {"failed", failed},
        {"faults_injected", faults_injected},
        {"tasks_needed", tasks_needed},
        {"tasks_executed", tasks_executed},
        {"held_labels_max", held_labels_max},
        {"virtual_seconds", absl::ToDoubleSeconds(elapsed)},
        {"trace_digest", absl::StrFormat("%016x", trace_digest)}};
    return JsonText(out);
  }
};

// `word` as a shell takes it.
std::string Quoted(absl::string_view word) {
  const bool is_plain = absl::c_all_of(word, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("_-+./,:=%@", c);
  });
  if (is_plain && !word.empty()) return std::string(word);
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// All that decides what happens.
std::string ReplayCommand(const SimCommandOptions& options, uint64_t seed) {
  const ProgramOptions& program = options.program;
  std::vector<std::string> words = {"dogged", "sim", program.file};
  for (const auto& [name, value] : program.definitions) {
    words.insert(words.end(), {"-D", absl::StrCat(name, "=", value)});
  }
  for (const auto& [array, path] : program.inputs) {
    words.insert(words.end(), {"--input", absl::StrCat(array, "=", path)});
  }
  if (!program.compiled) {
    words.insert(words.end(), {"--kernels", "interpreted"});
  }
  if (!program.coalesce) words.insert(words.end(), {"--coalesce", "off"});
  words.insert(words.end(), {"--agents", absl::StrCat(options.agents),
                             "--replicas", absl::StrCat(options.replicas),
                             "--seeds", absl::StrCat(seed, ":", seed)});
  if (!options.faults.empty()) {
    words.insert(words.end(), {"--faults", options.faults});
  }
  if (options.search_only) words.push_back("--search-only");
  if (!options.claims) words.insert(words.end(), {"--claims", "off"});
  return absl::StrJoin(words, " ", [](std::string* out, absl::string_view w) {
    out->append(Quoted(w));
  });
}

}  // namespace

ExitCode SimCommand(const SimCommandOptions& options,
                    const Environment& environment) {
  const auto faults = FaultPlan::Parse(options.faults);
  if (!faults.ok()) {
    SayError(faults.status().message());
    return ExitCode::kMistyped;
  }
  const KernelSource kernels(environment, KernelSource::Libraries::kHere);
  ProgramOptions filled = options.program;
  filled.agents = options.agents;
  filled.workers = 1;
  const auto program = LoadProgram(filled, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  const auto table = kernels.Load(program->job, /*workers=*/1);
  if (!table.ok()) return SayError(table.status());
  const auto expected = SerialDigests(program->job, *table);
  if (!expected.ok()) {
    SayError(expected.status().message());
    return ExitCode::kFailed;
  }
  SimTotals totals;
  Job cut = program->job;
  cut.CutInputs();
  const std::string encoded = cut.Encode();
  // The last seed may be the greatest there is.
  const uint64_t more = options.last_seed - options.first_seed;
  for (uint64_t i = 0; i <= more; ++i) {
    const uint64_t seed = options.first_seed + i;
    SimOptions sim{.agents = options.agents, .seed = seed, .inputs = &cut};
    sim.job = {.replicas = options.replicas,
               .search_only = options.search_only,
               .claims = options.claims};
    sim.faults = *faults;
    const SimOutcome outcome =
        Cluster(sim, encoded, [&kernels](const Job& job) {
          return kernels.Load(job, /*workers=*/1);
        }).Run();
    const std::string wrong = totals.Add(outcome, *expected);
    if (wrong.empty()) continue;
    SayError(absl::StrCat("seed ", seed, ": ", wrong,
                          "\n  replay: ", ReplayCommand(options, seed)));
  }
  const std::string words = options.json
                                ? totals.ToJson(program->job.program.name)
                                : totals.ToWords();
  std::printf("%s\n", words.c_str());
  return totals.failed == 0 ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace dogged
