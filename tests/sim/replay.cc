// Aim: a change that only moves or renames code changes nothing that agents do.
// Method: hundreds of simulated clusters, each event of which (a message, a
// task, a result, at a time) goes into a digest; digests are compared with
// those of a file. Numbers alone are hashed, no names; they depend neither on
// the build nor on the processor nor on where things lie in memory.
//
//   sim_replay [--program NAME[/PLAN]] [--seeds A:B] [--trace] [--golden FILE]
//
// Without options: a line for each program and plan, and one for all, as they
// belong into FILE. With --program a line for each seed; with --trace the
// events, as Recorder has them: time in ns, kind (SimEvent, or 0 at the end),
// agent, and for a message the other agent and five numbers per envelope (kind,
// kind within a multicast, flags, length and hash of the body).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/transport/envelope.h"
#include "tests/sim/replay_cases.h"

namespace dogged {
namespace {

struct Options {
  std::string program;
  std::optional<std::pair<long long, long long>> seeds;
  bool prints_events = false;
  std::string golden;
};

std::optional<Options> ParseOptions(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view word = argv[i];
    if (word == "--trace") {
      out.prints_events = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    long long first = 0;
    long long last = 0;
    if (word == "--program" && *value != 0) {
      out.program = value;
    } else if (word == "--golden" && *value != 0) {
      out.golden = value;
    } else if (word == "--seeds" &&
               std::sscanf(value, "%lld:%lld", &first, &last) == 2) {
      out.seeds = {first, last};
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// Hashes the events of one run, and prints them if it is told to.
class Recorder {
 public:
  explicit Recorder(bool prints) : prints_(prints) {}

  void Add(const SimEvent& event) {
    numbers_ = {static_cast<uint64_t>(event.kind), NumberOf(event.agent)};
    switch (event.kind) {
      case SimEvent::Kind::kSent:
      case SimEvent::Kind::kArrived:
        numbers_.push_back(NumberOf(event.other));
        AddMessage(event.message);
        break;
      case SimEvent::Kind::kTaskStarted:
      case SimEvent::Kind::kTaskEnded:
        numbers_.push_back(event.is_ok ? 1 : 0);
        AddIndices(event.task.task_class, event.task.index);
        break;
      case SimEvent::Kind::kResult:
        AddIndices(event.label.array, event.label.index);
        numbers_.push_back(event.digest.low);
        numbers_.push_back(event.digest.high);
        break;
    }
    Close(event.time);
  }
  // The figures that a run ends with.
  void AddOutcome(const SimOutcome& outcome) {
    numbers_ = {0,
                static_cast<uint64_t>(outcome.status.raw_code()),
                static_cast<uint64_t>(outcome.stats.tasks_executed),
                static_cast<uint64_t>(outcome.tasks_needed),
                static_cast<uint64_t>(outcome.messages),
                static_cast<uint64_t>(outcome.held_labels_max),
                static_cast<uint64_t>(outcome.refused),
                static_cast<uint64_t>(outcome.loans),
                static_cast<uint64_t>(outcome.rebirths),
                static_cast<uint64_t>(outcome.disk_bytes)};
    Close(absl::UnixEpoch() + outcome.elapsed);
  }
  uint64_t digest() const { return digest_; }

 private:
  // Agents by the order in which they are met.
  uint64_t NumberOf(AgentId agent) {
    return agent_numbers_.try_emplace(agent, agent_numbers_.size())
        .first->second;
  }
  void AddIndices(int32_t number, const IndexVector& index) {
    numbers_.push_back(static_cast<uint64_t>(number));
    for (const int64_t i : index) numbers_.push_back(static_cast<uint64_t>(i));
  }
  // Each envelope's kind and flags, the length and the hash of its body. Bytes
  // that are no message count as a whole, as kind 0.
  void AddMessage(Bytes bytes) {
    while (!bytes.empty()) {
      const Bytes all = bytes;
      const absl::StatusOr<Message> message = TakeMessage(bytes);
      const Bytes& body = message.ok() ? message->body : all;
      const Envelope head = message.ok() ? message->head : Envelope();
      for (const uint64_t number :
           {uint64_t{head.kind}, KindWithin(head, body), uint64_t{head.flags},
            static_cast<uint64_t>(body.size()), Hash64(body.view())}) {
        numbers_.push_back(number);
      }
    }
  }
  // In a body that goes to many the kind stands behind the origin.
  static uint64_t KindWithin(const Envelope& head, const Bytes& body) {
    constexpr int64_t kOriginBytes = 8;
    if (head.kind != static_cast<uint8_t>(RoutingKind::kMulticast) ||
        body.size() <= kOriginBytes) {
      return 0;
    }
    return static_cast<uint8_t>(body.view()[kOriginBytes]);
  }
  void Close(absl::Time time) {
    const int64_t ns = absl::ToUnixNanos(time);
    digest_ = Mix64(digest_, static_cast<uint64_t>(ns));
    for (const uint64_t number : numbers_) digest_ = Mix64(digest_, number);
    if (!prints_) return;
    std::printf("%lld %s\n", static_cast<long long>(ns),
                absl::StrJoin(numbers_, " ").c_str());
  }

  const bool prints_;
  std::map<AgentId, uint64_t> agent_numbers_;
  std::vector<uint64_t> numbers_;
  uint64_t digest_ = 0;
};

uint64_t RunSeed(const ReplayCase& one, uint64_t seed, bool prints) {
  Recorder recorder(prints);
  SimOptions options = one.options;
  options.seed = seed;
  options.trace = [&recorder](const SimEvent& event) { recorder.Add(event); };
  if (!one.job.inputs.empty()) options.inputs = &one.job;
  recorder.AddOutcome(Cluster(options, one.job.Encode(), one.load).Run());
  return recorder.digest();
}

std::string Hex(uint64_t number) {
  return absl::StrCat(absl::Hex(number, absl::kZeroPad16));
}

// Says which lines differ from the file, and how to go on from there.
int Compare(const std::string& text, const std::string& file) {
  std::ifstream in(file);
  std::ostringstream golden;
  golden << in.rdbuf();
  if (text == golden.str()) return 0;
  const std::vector<std::string> known = absl::StrSplit(golden.str(), '\n');
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    if (std::find(known.begin(), known.end(), line) != known.end()) continue;
    std::printf("differs from %s: %s\n", file.c_str(), line.c_str());
  }
  std::printf(
      "Agents do other things than before.\n"
      "If they were meant to: sim_replay > %s\n"
      "If not: compare what `sim_replay --program NAME` prints before and "
      "after the\nchange, then the events of the first seed that differs, "
      "`sim_replay --program\nNAME/PLAN --seeds A:A --trace`.\n",
      file.c_str());
  return 1;
}

int Replay(const Options& options) {
  std::string text;
  uint64_t all = 0;
  int64_t runs = 0;
  for (const ReplayCase& one : ReplayCases()) {
    if (one.name != options.program &&
        !absl::StartsWith(one.name, options.program.empty()
                                        ? ""
                                        : absl::StrCat(options.program, "/"))) {
      continue;
    }
    const auto [first, last] =
        options.seeds.value_or(std::pair<long long, long long>(1, one.seeds));
    uint64_t digest = 0;
    for (long long seed = first; seed <= last; ++seed) {
      const uint64_t run =
          RunSeed(one, static_cast<uint64_t>(seed), options.prints_events);
      digest = Mix64(digest, run);
      ++runs;
      if (options.program.empty()) continue;
      absl::StrAppend(&text, one.name, " ", seed, " ", Hex(run), "\n");
    }
    all = Mix64(all, digest);
    if (!options.program.empty()) continue;
    absl::StrAppend(&text, one.name, " ", first, ":", last, " ", Hex(digest),
                    "\n");
  }
  if (runs == 0) {
    std::fprintf(stderr, "no program is named %s\n", options.program.c_str());
    return 2;
  }
  absl::StrAppend(&text, "all ", runs, " ", Hex(all), "\n");
  if (!options.golden.empty()) return Compare(text, options.golden);
  std::printf("%s", text.c_str());
  return 0;
}

}  // namespace
}  // namespace dogged

int main(int argc, char** argv) {
  const auto options = dogged::ParseOptions(argc, argv);
  if (!options.has_value()) {
    std::fprintf(stderr,
                 "usage: sim_replay [--program NAME[/PLAN]] [--seeds A:B] "
                 "[--trace] [--golden FILE]\n");
    return 2;
  }
  return dogged::Replay(*options);
}
