#include "apps/dogged/report/memory_check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/output/run_text.h"

namespace dogged {
namespace {

// Share of a computer's memory that a run can have at most: the rest is for the
// system and programs. A run that needs more than the second share is warned.
constexpr double kUsableShare = 0.9;
constexpr double kWarnShare = 0.8;

std::string Bytes1(double bytes) {
  return HumanBytes(static_cast<int64_t>(std::min(bytes, 9e18)));
}

absl::Status NoRoom(const std::string& needed, double there,
                    absl::string_view where, absl::string_view advice) {
  return absl::ResourceExhaustedError(
      absl::StrCat(needed, "; ", where, " ", Bytes1(there), ", of which ",
                   Bytes1(kUsableShare * there), " can be had; ", advice));
}

constexpr absl::string_view kFewer =
    "want fewer results, or use smaller "
    "parameters";

}  // namespace

AgentsMemory MemoryOf(const std::vector<StatusReply>& replies) {
  AgentsMemory out{.agents = static_cast<int>(replies.size())};
  std::set<std::string> hosts;
  std::map<std::string, double> unbounded;  // by host
  double workers = 0;
  double unbounded_workers = 0;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (m.member.id != reply.self) continue;
      hosts.insert(m.member.host);
      workers += m.member.workers;
      if (reply.memory_limit > 0) {
        out.bounded += static_cast<double>(reply.memory_limit);
      } else {
        unbounded_workers += m.member.workers;
        unbounded[m.member.host] = static_cast<double>(reply.host_bytes);
      }
    }
  }
  out.hosts = std::max(1, static_cast<int>(hosts.size()));
  for (const auto& [host, bytes] : unbounded) out.unbounded += bytes;
  if (workers > 0) out.unbounded_share = unbounded_workers / workers;
  return out;
}

absl::StatusOr<std::string> CheckMemory(const RunMemory& memory) {
  const dsl::Footprint& footprint = memory.footprint;
  const std::string results =
      absl::StrCat("the results take ", Bytes1(footprint.results));
  if (memory.agents == nullptr) {
    if (footprint.results > kUsableShare * memory.here) {
      return NoRoom(results, memory.here, "this computer has", kFewer);
    }
    const double certain = footprint.results + footprint.inputs;
    const double all =
        certain + footprint.in_use + footprint.beside + footprint.tables;
    if (certain > kUsableShare * memory.here) {
      return NoRoom(
          absl::StrCat(results, ", the inputs ", Bytes1(footprint.inputs)),
          memory.here, "this computer has", kFewer);
    }
    if (all <= kWarnShare * memory.here) return "";
    return absl::StrCat("this may take ", Bytes1(all), " of the ",
                        Bytes1(memory.here),
                        " that this computer has; agents with DOGGED_MEMORY "
                        "let values go to disk");
  }
  const AgentsMemory& agents = *memory.agents;
  // Agents of a host share a value instead of copying it.
  const double copies = std::min(memory.replicas, agents.hosts);
  const double kept = copies * footprint.results;
  const double in_use = copies * footprint.in_use + footprint.beside_on_agents;
  // The agent that takes the job has its inputs for all, and so has the client.
  const double inputs = footprint.inputs * agents.unbounded_share;
  double certain = agents.unbounded_share * kept + inputs;
  // Results that find no memory here go to a file.
  if (memory.agents_are_here) certain += footprint.inputs;
  const double there = memory.agents_are_here ? memory.here : agents.unbounded;
  const std::string what = absl::StrCat(
      results, copies > 1 ? absl::StrCat(", ", copies, " copies of each") : "",
      footprint.inputs > 0
          ? absl::StrCat(", the inputs ", Bytes1(footprint.inputs),
                         " at one agent")
          : "",
      ": ", Bytes1(certain));
  const bool is_unbounded = agents.unbounded_share > 0;
  if ((is_unbounded || memory.agents_are_here) &&
      certain > kUsableShare * there) {
    return NoRoom(
        what, there,
        memory.agents_are_here ? "this computer has" : "the agents' hosts have",
        is_unbounded ? absl::StrCat("agents with --memory (or DOGGED_MEMORY) "
                                    "let values go to disk, more hosts have "
                                    "more; or ",
                                    kFewer)
                     : std::string(kFewer));
  }
  // No table goes to disk; agents with a bound have room for theirs.
  const double tables = footprint.tables * agents.agents;
  const double all = certain + agents.unbounded_share * (in_use + tables);
  if (is_unbounded && all > kWarnShare * there) {
    return absl::StrCat("this may take ", Bytes1(all), " of the ",
                        Bytes1(there),
                        " that there are; agents with --memory (or "
                        "DOGGED_MEMORY) let values go to disk");
  }
  const double spilled = (1 - agents.unbounded_share) * (kept + in_use);
  if (spilled > kWarnShare * agents.bounded && agents.bounded > 0) {
    return absl::StrCat("values may take ", Bytes1(spilled), ", --memory is ",
                        Bytes1(agents.bounded),
                        " in all: the rest goes to disk, which takes longer");
  }
  return "";
}

std::string FootprintSentence(const dsl::Footprint& footprint) {
  std::string out = absl::StrCat("memory: results ", Bytes1(footprint.results));
  if (footprint.inputs > 0) {
    absl::StrAppend(&out, ", inputs ", Bytes1(footprint.inputs),
                    " at one agent");
  }
  if (footprint.tables > 0) {
    absl::StrAppend(&out, ", tables of indices about ",
                    Bytes1(footprint.tables), " in each process");
  }
  std::vector<std::string> in_use;
  if (footprint.in_use > 0 || footprint.unknown.empty()) {
    in_use.push_back(absl::StrCat("about ", Bytes1(footprint.in_use)));
  }
  if (!footprint.unknown.empty()) {
    in_use.push_back(absl::StrCat("what is read of ", footprint.unknown,
                                  ", for which no bound is known"));
  }
  absl::StrAppend(&out, ", in use meanwhile ", absl::StrJoin(in_use, " and "));
  if (footprint.beside > 0) {
    absl::StrAppend(&out, ", and beside these ", Bytes1(footprint.beside),
                    " in one process, ", Bytes1(footprint.beside_on_agents),
                    " on agents, for each is a label");
  }
  absl::StrAppend(&out, "; agents on several hosts keep two copies");
  return out;
}

}  // namespace dogged
