#include "runtime/agent/records/troubles.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::string_view kTroublePrefix = "trouble/";
// Agents that a message names, at most.
constexpr size_t kNamedMax = 8;

TroubleKind KindOf(const Troubles& troubles, AgentId agent) {
  const auto known = troubles.find(agent);
  return known == troubles.end() ? TroubleKind::kNotice : known->second.kind;
}

std::string NameOf(const Member& member) {
  return absl::StrCat("agent ", member.id.ToString(),
                      member.control_address.empty() ? "" : " at ",
                      member.control_address);
}

}  // namespace

std::string TroublePrefix(const Digest& job) {
  return absl::StrCat(kTroublePrefix, job.ToString(), "/");
}

std::string TroubleKey(const Digest& job, AgentId agent) {
  return absl::StrCat(TroublePrefix(job), agent.ToString());
}

bool IsTroubleKey(absl::string_view key) {
  return absl::StartsWith(key, kTroublePrefix);
}

Troubles TroublesOf(const RecordSet& records, const Digest& job,
                    absl::Span<const SubmissionId> running) {
  Troubles out;
  for (const KeptRecord* record : records.StartingWith(TroublePrefix(job))) {
    auto trouble = Trouble::Decode(record->bytes());
    if (!trouble.ok()) continue;
    const auto runs = [&](SubmissionId submission) {
      return std::find(running.begin(), running.end(), submission) !=
             running.end();
    };
    if (!running.empty() && std::none_of(trouble->submissions.begin(),
                                         trouble->submissions.end(), runs)) {
      continue;
    }
    out[trouble->agent] = *std::move(trouble);
  }
  return out;
}

std::vector<const Member*> TakersOf(std::vector<const Member*> members,
                                    const Troubles& troubles) {
  if (troubles.empty()) return members;
  auto least = TroubleKind::kUnable;
  for (const Member* member : members) {
    least = std::min(least, KindOf(troubles, member->id));
  }
  std::erase_if(members, [&](const Member* member) {
    const TroubleKind kind = KindOf(troubles, member->id);
    return kind > least || kind == TroubleKind::kUnable;
  });
  return members;
}

std::vector<std::string> WordsOf(const Troubles& troubles,
                                 absl::Span<const Member> members) {
  std::vector<std::string> out;
  for (const Member& member : members) {
    const auto known = troubles.find(member.id);
    if (known == troubles.end()) continue;
    absl::string_view what = ": ";
    switch (known->second.kind) {
      case TroubleKind::kNotice:
        break;
      case TroubleKind::kSlow:
        what = " runs nothing of this job while others can: ";
        break;
      case TroubleKind::kUnable:
        what = " runs nothing of this job: ";
    }
    out.push_back(absl::StrCat(NameOf(member), what,
                               std::string(known->second.cause.message())));
  }
  return out;
}

absl::Status NobodyLeft(const Troubles& troubles,
                        const std::vector<const Member*>& members) {
  if (members.size() == 1) return troubles.at(members.front()->id).cause;
  // Agents that say the same, together.
  std::map<std::string, std::vector<std::string>> said;
  absl::StatusCode code = absl::StatusCode::kOk;
  for (const Member* member : members) {
    const absl::Status& cause = troubles.at(member->id).cause;
    said[std::string(cause.message())].push_back(NameOf(*member));
    const bool is_same = code == absl::StatusCode::kOk || code == cause.code();
    code = is_same ? cause.code() : absl::StatusCode::kUnavailable;
  }
  std::vector<std::string> words;
  for (const auto& [cause, names] : said) {
    if (words.size() == kNamedMax) {
      words.push_back(absl::StrCat(said.size() - kNamedMax, " more causes"));
      break;
    }
    const size_t named = std::min(names.size(), kNamedMax);
    words.push_back(
        absl::StrCat(absl::StrJoin(names.begin(), names.begin() + named, ", "),
                     named < names.size()
                         ? absl::StrCat(" and ", names.size() - named, " more")
                         : "",
                     ": ", cause));
  }
  return absl::Status(code, absl::StrCat("no agent is left that can run it: ",
                                         absl::StrJoin(words, "; ")));
}

}  // namespace dogged
