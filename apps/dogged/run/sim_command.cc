#include "apps/dogged/run/sim_command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/sim_runs.h"

namespace dogged {
namespace {

// `word` as a shell takes it.
std::string QuotedWord(absl::string_view word) {
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
    out->append(QuotedWord(w));
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
  auto runs = SimRuns::Make(program->job, kernels,
                            {.agents = options.agents,
                             .replicas = options.replicas,
                             .search_only = options.search_only,
                             .claims = options.claims,
                             .faults = *faults});
  if (!runs.ok()) return PrintError(runs.status());
  // The last seed may be the greatest there is.
  const uint64_t more = options.last_seed - options.first_seed;
  for (uint64_t i = 0; i <= more; ++i) {
    const uint64_t seed = options.first_seed + i;
    const std::string wrong = runs->Run(seed);
    if (wrong.empty()) continue;
    PrintError(absl::StrCat("seed ", seed, ": ", wrong,
                            "\n  replay: ", ReplayCommand(options, seed)));
  }
  const SimTotals& totals = runs->totals();
  if (options.json) {
    SetAnswer(totals.ToJson(program->job.program.name));
  } else {
    std::printf("%s\n", totals.ToWords().c_str());
  }
  return totals.failed == 0 ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace dogged
