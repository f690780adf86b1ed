#include "runtime/job/inputs/chunk_search.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// Nothing was heard for so long of an agent that was asked: another one is.
constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kComingPatience = absl::Seconds(5);
constexpr absl::Duration kPatienceMax = absl::Seconds(10);
// An agent that has said that it lacks a chunk may have it after this time.
constexpr absl::Duration kAbsentTime = absl::Seconds(2);
constexpr absl::Duration kNobodyPause = absl::Milliseconds(200);
// Of a job that is over: agents that hold a chunk may still be on their way
// here.
constexpr absl::Duration kOverPatience = absl::Seconds(3);
// Times that a giver is asked: it may have left, which no view tells apart from
// leaving.
constexpr int kGiverTriesMax = 16;

}  // namespace

void ChunkSearch::EndForClient() {
  lost_ = absl::OkStatus();
  searches_.clear();
}

absl::Time ChunkSearch::PatienceEnd(const Search& search) const {
  if (search.is_coming) return search.asked_at + kComingPatience;
  const auto heard = heard_.find(search.asked);
  absl::Time last = search.asked_at;
  if (heard != heard_.end()) last = std::max(last, heard->second);
  // A chunk sent before the rest has been lost by then, however many follow.
  return std::min(last + kPatience, search.asked_at + kPatienceMax);
}

AgentId ChunkSearch::Candidate(absl::Time now, int64_t at, const Search& search,
                               absl::Span<const AgentId> others) const {
  const auto may_have = [&](AgentId agent) {
    const auto said = search.absent.find(agent);
    return said == search.absent.end() || now - said->second > kAbsentTime;
  };
  if (search.tries == 0 && absl::c_linear_search(others, likely_) &&
      may_have(likely_)) {
    return likely_;
  }
  AgentId out;
  const auto count = std::ssize(others);
  for (int64_t i = 0; i < count; ++i) {
    const AgentId agent = others[(at + search.tries + i) % count];
    if (!may_have(agent)) continue;
    if (agent != search.asked) return agent;
    out = agent;
  }
  return out;
}

void ChunkSearch::AskOthers(const Pass& pass,
                            absl::Span<const AgentId> others) {
  int64_t asked_bytes = 0;
  is_nobody_left_ = false;
  lost_ = absl::OkStatus();
  std::map<AgentId, ChunkPositions> messages;
  for (auto& [at, search] : searches_) {
    const int64_t bytes = layout_.BytesOf(at);
    search.since = std::min(search.since, pass.now);
    const AgentId giver = giver_.KeeperOf(at);
    const bool is_asked =
        !search.asked.IsNone() &&
        (absl::c_linear_search(others, search.asked) || search.asked == giver);
    if (is_asked && pass.now < PatienceEnd(search)) {
      asked_bytes += search.is_coming ? 0 : bytes;
      pass.out.WakeAt(PatienceEnd(search));
      continue;
    }
    if (asked_bytes > 0 && asked_bytes + bytes > limits_.input_window_bytes) {
      continue;
    }
    // An agent that leaves is in no view any more, and gives its chunks.
    const bool is_givers_turn = !giver.IsNone() &&
                                search.giver_tries <= search.tries &&
                                search.giver_tries < kGiverTriesMax;
    const AgentId to =
        is_givers_turn ? giver : Candidate(pass.now, at, search, others);
    // Candidates take turns by the count of their own tries: each one's comes.
    ++(is_givers_turn ? search.giver_tries : search.tries);
    search.asked = to;
    search.asked_at = pass.now;
    search.is_coming = false;
    if (to.IsNone()) {
      NoteLost(pass.now, at, search);
      pass.out.WakeAt(pass.now + kNobodyPause);
      continue;
    }
    asked_bytes += bytes;
    messages[to].push_back(at);
    pass.out.WakeAt(pass.now + kPatience);
  }
  for (const auto& [to, chunks] : messages) {
    SendChunkWord(to, job_, ChunkWord::kWish, chunks, pass.out);
  }
}

void ChunkSearch::NoteHeard(absl::Time now, AgentId from) {
  heard_[from] = now;
  likely_ = from;
}

void ChunkSearch::NoteComing(absl::Time now, AgentId from,
                             const ChunkPositions& chunks) {
  for (const int64_t at : chunks) {
    const auto it = searches_.find(at);
    if (it == searches_.end()) continue;
    Search& search = it->second;
    search.absent.erase(from);
    search.since = now;
    if (search.asked != from) continue;
    search.is_coming = true;
    search.asked_at = now;
  }
}

void ChunkSearch::NoteAbsent(absl::Time now, AgentId from,
                             const ChunkPositions& chunks) {
  for (const int64_t at : chunks) {
    const auto it = searches_.find(at);
    if (it == searches_.end()) continue;
    Search& search = it->second;
    search.absent[from] = now;
    if (search.asked == from) search.asked = AgentId();
  }
}

// An agent that does not answer is not nobody: its death will be known.
void ChunkSearch::NoteLost(absl::Time now, int64_t at, const Search& search) {
  if (!readers_.IsAwaited(at)) return;
  is_nobody_left_ = true;
  const absl::Duration patience =
      is_over_ ? std::min(kOverPatience, limits_.input_patience)
               : limits_.input_patience;
  if (now - search.since < patience || !lost_.ok()) return;
  const ChunkId& id = layout_.IdOf(at);
  const DenseBox box = layout_.GridOf(id.input).BoxOf(id.index);
  lost_ = absl::DataLossError(absl::StrCat(
      "input ", layout_.NameOf(id.input),
      " is lost: no agent has its elements from ", box.first.ToString(),
      " on any more",
      is_over_ ? ""
               : ", and no client is there that has the file; run the same "
                 "command again"));
}

std::string ChunkSearch::Note() const {
  if (!is_nobody_left_) return "";
  return absl::StrCat(
      "no agent has all of what its tasks read of its inputs; it fails if no "
      "client gives it again within ",
      absl::FormatDuration(limits_.input_patience));
}

}  // namespace dogged
