#include "apps/dogged/run/sim_command.h"

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
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/run/loaded_program.h"
#include "dsl/results.h"
#include "runtime/sim/cluster.h"

namespace dogged {
namespace {

// A fault lasts for ten minutes at most.
constexpr absl::Duration kTimeWithLongFaults = absl::Minutes(15);

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

// Totals of many simulated runs.
struct SimTotals {
  int64_t seeds = 0;
  int64_t failed = 0;
  int64_t faults_injected = 0;
  int64_t tasks_needed = 0;
  int64_t tasks_executed = 0;
  int64_t held_labels_max = 0;  // at any agent
  absl::Duration elapsed;       // virtual
  uint64_t trace_digest = 0;    // of the last one

  // Adds a run. Returns its error; empty if it has none.
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
  nlohmann::ordered_json ToJson(const std::string& program) const {
    return {{"program", program},
            {"seeds", seeds},
            {"failed", failed},
            {"faults_injected", faults_injected},
            {"tasks_needed", tasks_needed},
            {"tasks_executed", tasks_executed},
            {"held_labels_max", held_labels_max},
            {"virtual_seconds", absl::ToDoubleSeconds(elapsed)},
            {"trace_digest", absl::StrFormat("%016x", trace_digest)}};
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

// The command with all flags that decide the outcome.
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
  if (program.prefers_nest) {
    words.insert(words.end(), {"--coalesce", "nest"});
  }
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
    PrintError(faults.status().message());
    return ExitCode::kMistyped;
  }
  const KernelSource kernels(environment, {.kind = LibraryPlace::Kind::kHere});
  ProgramOptions filled = options.program;
  filled.agents = options.agents;
  filled.workers = 1;
  const auto program = LoadProgram(filled, kernels);
  if (!program.ok()) return ExitCodeOf(program.status());
  const auto table = kernels.Load(program->job, /*workers=*/1);
  if (!table.ok()) return PrintError(table.status());
  const auto expected = SerialDigests(program->job, *table);
  if (!expected.ok()) {
    PrintError(expected.status().message());
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
    if (faults->HasLongFaults()) sim.time_max = kTimeWithLongFaults;
    const SimOutcome outcome =
        Cluster(sim, encoded, [&kernels](const Job& job) {
          return kernels.Load(job, /*workers=*/1);
        }).Run();
    const std::string wrong = totals.Add(outcome, *expected);
    if (wrong.empty()) continue;
    PrintError(absl::StrCat("seed ", seed, ": ", wrong,
                            "\n  replay: ", ReplayCommand(options, seed)));
  }
  if (options.json) {
    SetAnswer(totals.ToJson(program->job.program.name));
  } else {
    std::printf("%s\n", totals.ToWords().c_str());
  }
  return totals.failed == 0 ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace dogged
