// Messages between agents about chunks of inputs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/job/input_chunks.h"

namespace dogged {
namespace {

enum Form : uint8_t {
  kWish = 1,
  kChunk = 2,
  kLent = 3,
  kComing = 4,
  kAbsent = 5,
  kKeep = 6,
  kHeld = 7,
};

// An agent that was asked and not heard for so long: another one is asked.
constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kComingPatience = absl::Seconds(5);
constexpr absl::Duration kPatienceMax = absl::Seconds(10);
// An agent that lacked a chunk may have it after this time.
constexpr absl::Duration kAbsentTime = absl::Seconds(2);
constexpr absl::Duration kNobodyPause = absl::Milliseconds(200);
// Times that a giver is asked: it may have left, which no view tells apart from
// leaving.
constexpr int kGiverTriesMax = 16;
// Partners that are asked at a time, and the time for which their answer is
// awaited.
constexpr int64_t kPartnersAtOnce = 32;
constexpr absl::Duration kPartnerPatience = absl::Seconds(2);

std::vector<int64_t> PositionsIn(Decoder& in) {
  std::vector<int64_t> out;
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) out.push_back(in.GetSigned());
  return out;
}

void Put(uint8_t form, const std::vector<int64_t>& chunks, Encoder& out) {
  out.PutU8(form);
  out.PutVarint(chunks.size());
  for (const int64_t at : chunks) out.PutSigned(at);
}

bool IsIn(absl::Span<const AgentId> others, AgentId agent) {
  return std::find(others.begin(), others.end(), agent) != others.end();
}

}  // namespace

void InputChunks::Send(AgentId to, uint8_t form, const Positions& chunks,
                       Outbox& out) const {
  if (chunks.empty()) return;
  Encoder body;
  Put(form, chunks, body);
  out.Send(to, kKind, options_.id, Bytes(body.Take()));
}

Bytes InputChunks::AnswerWithout(absl::string_view body) {
  Decoder in(body);
  if (in.GetU8() != kWish) return {};
  const Positions wanted = PositionsIn(in);
  if (!in.Finish("wish").ok() || wanted.empty()) return {};
  Encoder out;
  Put(kAbsent, wanted, out);
  return Bytes(out.Take());
}

absl::Status InputChunks::Receive(absl::Time now, AgentId from,
                                  absl::string_view body, Outbox& out) {
  Decoder in(body);
  const uint8_t form = in.GetU8();
  if (form == kChunk || form == kLent) {
    return ReceiveBytes(now, from, in, form == kLent);
  }
  const Positions chunks = PositionsIn(in);
  DOGGED_RETURN_IF_ERROR(in.Finish("word about chunks"));
  for (const int64_t at : chunks) {
    if (at < 0 || at >= std::ssize(chunks_)) {
      return absl::InvalidArgumentError("a chunk of no input");
    }
  }
  switch (form) {
    case kWish:
      ReceiveWish(from, chunks, out);
      return absl::OkStatus();
    case kKeep:
      ReceiveKeep(from, chunks, out);
      return absl::OkStatus();
    case kHeld:
      for (const int64_t at : chunks) {
        Chunk& chunk = chunks_[static_cast<size_t>(at)];
        chunk.is_partner_sure |= chunk.partner == from;
      }
      next_partners_ = std::min(next_partners_, now);
      return absl::OkStatus();
    case kComing:
    case kAbsent:
      for (const int64_t at : chunks) {
        const auto it = searches_.find(at);
        if (it == searches_.end()) continue;
        Search& search = it->second;
        if (form == kAbsent) {
          search.absent[from] = now;
          if (search.asked == from) search.asked = AgentId();
          continue;
        }
        search.absent.erase(from);
        search.since = now;
        if (search.asked != from) continue;
        search.is_coming = true;
        search.asked_at = now;
      }
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError("no word about chunks");
  }
}

absl::Status InputChunks::ReceiveBytes(absl::Time now, AgentId from,
                                       Decoder& in, bool is_lent) {
  const int64_t at = in.GetSigned();
  const bool is_one = at >= 0 && at < std::ssize(chunks_);
  if (!in.ok() || !is_one) {
    return absl::InvalidArgumentError("a chunk of no input");
  }
  const Chunk& chunk = chunks_[static_cast<size_t>(at)];
  Value value;
  if (is_lent) {
    const Loan loan = Loan::DecodeFrom(in);
    DOGGED_RETURN_IF_ERROR(in.Finish("loan of a chunk"));
    if (options_.lending == nullptr) return absl::OkStatus();
    // A refused loan counts as lost.
    value = options_.lending->Borrow(from, loan);
    if (value.IsNone()) return absl::OkStatus();
  } else if (!chunk.is_held) {
    value = ValueOf(chunk, in.GetRaw(in.remaining()));
  }
  heard_[from] = now;
  likely_ = from;
  // The chunk is not awaited any more, or came before.
  if (chunk.is_held || !searches_.contains(at)) return absl::OkStatus();
  if (value.IsNone() || value.digest() != chunk.digest ||
      value.bytes() != BytesOf(chunk)) {
    return absl::InvalidArgumentError("a chunk that is not what it should be");
  }
  counts_.received_bytes += value.bytes();
  Hold(at, value);
  Arrived(at);
  return absl::OkStatus();
}

bool InputChunks::SendTo(AgentId to, int64_t at, Outbox& out) {
  Chunk& chunk = chunks_[static_cast<size_t>(at)];
  if (!chunk.is_held) return false;
  chunk.reader = to;
  const Value value = Held(chunk);
  Encoder body;
  const std::optional<Loan> loan = options_.lending == nullptr
                                       ? std::nullopt
                                       : options_.lending->Lend(to, value);
  body.PutU8(loan.has_value() ? kLent : kChunk);
  body.PutSigned(at);
  if (loan.has_value()) {
    loan->EncodeTo(body);
  } else {
    body.PutRaw(value.view());
  }
  out.Send(to, kKind, options_.id, Bytes(body.Take()));
  return true;
}

void InputChunks::ReceiveWish(AgentId from, const Positions& wanted,
                              Outbox& out) {
  Positions coming;
  Positions absent;
  for (const int64_t at : wanted) {
    Chunk& chunk = chunks_[static_cast<size_t>(at)];
    if (SendTo(from, at, out)) continue;
    if (!chunk.is_written && !has_supplier_) {
      absent.push_back(at);
      continue;
    }
    waiters_[at].insert(from);
    coming.push_back(at);
    Want(at);
  }
  Send(from, kComing, coming, out);
  Send(from, kAbsent, absent, out);
}

void InputChunks::ReceiveKeep(AgentId from, const Positions& kept,
                              Outbox& out) {
  Positions held;
  for (const int64_t at : kept) {
    Chunk& chunk = chunks_[static_cast<size_t>(at)];
    Keep(chunk, true);
    chunk.partner = from;
    chunk.is_partner_sure = true;
    if (IsHere(chunk)) {
      held.push_back(at);
      continue;
    }
    holders_wanted_[at].insert(from);
    likely_ = from;
    Want(at);
  }
  Send(from, kHeld, held, out);
}

void InputChunks::ServeWaiters(Outbox& out) {
  absl::btree_map<AgentId, Positions> absent;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    Chunk& chunk = chunks_[static_cast<size_t>(it->first)];
    if (!chunk.is_held && chunk.is_written) Load(chunk);
    if (!chunk.is_held && (chunk.is_written || has_supplier_)) {
      ++it;
      continue;
    }
    for (const AgentId to : it->second) {
      if (!SendTo(to, it->first, out)) absent[to].push_back(it->first);
    }
    it = waiters_.erase(it);
  }
  for (const auto& [to, chunks] : absent) Send(to, kAbsent, chunks, out);
  absl::btree_map<AgentId, Positions> held;
  for (auto it = holders_wanted_.begin(); it != holders_wanted_.end();) {
    const Chunk& chunk = chunks_[static_cast<size_t>(it->first)];
    if (!IsHere(chunk)) {
      ++it;
      continue;
    }
    for (const AgentId to : it->second) held[to].push_back(it->first);
    it = holders_wanted_.erase(it);
  }
  for (const auto& [to, chunks] : held) Send(to, kHeld, chunks, out);
}

absl::Time InputChunks::PatienceEnd(const Search& search) const {
  if (search.is_coming) return search.asked_at + kComingPatience;
  const auto heard = heard_.find(search.asked);
  absl::Time last = search.asked_at;
  if (heard != heard_.end()) last = std::max(last, heard->second);
  // A chunk sent before the rest has been lost by then, however many follow.
  return std::min(last + kPatience, search.asked_at + kPatienceMax);
}

AgentId InputChunks::Candidate(absl::Time now, int64_t at, const Search& search,
                               absl::Span<const AgentId> others) const {
  const auto may_have = [&](AgentId agent) {
    const auto said = search.absent.find(agent);
    return said == search.absent.end() || now - said->second > kAbsentTime;
  };
  if (search.tries == 0 && IsIn(others, likely_) && may_have(likely_)) {
    return likely_;
  }
  AgentId out;
  const auto count = std::ssize(others);
  for (int64_t i = 0; i < count; ++i) {
    const AgentId agent =
        others[static_cast<size_t>((at + search.tries + i) % count)];
    if (!may_have(agent)) continue;
    if (agent != search.asked) return agent;
    out = agent;
  }
  return out;
}

AgentId InputChunks::GiverOf(int64_t at) const {
  const auto it = holders_wanted_.find(at);
  return it == holders_wanted_.end() ? AgentId() : *it->second.begin();
}

void InputChunks::AskOthers(absl::Time now, absl::Span<const AgentId> others,
                            Outbox& out) {
  int64_t asked_bytes = 0;
  is_nobody_left_ = false;
  absl::btree_map<AgentId, Positions> messages;
  for (auto& [at, search] : searches_) {
    const int64_t bytes = BytesOf(chunks_[static_cast<size_t>(at)]);
    search.since = std::min(search.since, now);
    const AgentId giver = GiverOf(at);
    const bool is_asked = !search.asked.IsNone() &&
                          (IsIn(others, search.asked) || search.asked == giver);
    if (is_asked && now < PatienceEnd(search)) {
      asked_bytes += search.is_coming ? 0 : bytes;
      out.WakeAt(PatienceEnd(search));
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
        is_givers_turn ? giver : Candidate(now, at, search, others);
    // Candidates take turns by the count of their own tries: each one's comes.
    ++(is_givers_turn ? search.giver_tries : search.tries);
    search.asked = to;
    search.asked_at = now;
    search.is_coming = false;
    if (to.IsNone()) {
      NoteLost(now, at, search);
      out.WakeAt(now + kNobodyPause);
      continue;
    }
    asked_bytes += bytes;
    messages[to].push_back(at);
    out.WakeAt(now + kPatience);
  }
  for (const auto& [to, chunks] : messages) Send(to, kWish, chunks, out);
}

// An agent that does not answer still counts: its death will be known.
void InputChunks::NoteLost(absl::Time now, int64_t at, const Search& search) {
  if (!awaiting_.contains(at)) return;
  is_nobody_left_ = true;
  if (now - search.since < limits_.input_patience || !lost_.ok()) return;
  const ChunkId& id = chunks_[static_cast<size_t>(at)].id;
  const auto input = static_cast<size_t>(id.input);
  const DenseBox box = grids_[input].BoxOf(id.index);
  lost_ = absl::DataLossError(absl::StrCat(
      "input ", names_[input], " is lost: no agent has its elements from ",
      box.first.ToString(),
      " on any more, and no client is there that has the "
      "file; run the same command again"));
}

std::string InputChunks::Note() const {
  if (!is_nobody_left_) return "";
  return absl::StrCat(
      "no agent has all of what its tasks read of its inputs; it fails if no "
      "client gives it again within ",
      absl::FormatDuration(limits_.input_patience));
}

void InputChunks::FindPartners(absl::Time now, absl::Span<const AgentId> others,
                               Outbox& out) {
  if (has_supplier_ && !is_leaving_) return;
  if (!std::equal(others.begin(), others.end(), partners_of_.begin(),
                  partners_of_.end())) {
    partners_of_.assign(others.begin(), others.end());
    are_all_partnered_ = false;
    next_partners_ = now;
    for (Chunk& chunk : chunks_) {
      if (chunk.partner.IsNone() || IsIn(others, chunk.partner)) continue;
      chunk.partner = AgentId();
      chunk.is_partner_sure = false;
    }
  }
  if (are_all_partnered_ || others.empty()) return;
  out.WakeAt(next_partners_);
  if (now < next_partners_) return;
  next_partners_ = now + kPartnerPatience;
  absl::btree_map<AgentId, Positions> asked;
  int64_t count = 0;
  for (size_t i = 0; i < chunks_.size() && count < kPartnersAtOnce; ++i) {
    Chunk& chunk = chunks_[i];
    if (!chunk.is_kept || !IsHere(chunk) || chunk.is_partner_sure) continue;
    ++count;
    if (IsIn(others, chunk.reader)) chunk.partner = chunk.reader;
    if (chunk.partner.IsNone()) {
      chunk.partner = others[static_cast<size_t>(
          Mix64(options_.self.value(), i) % others.size())];
    }
    asked[chunk.partner].push_back(static_cast<int64_t>(i));
    chunk.reader = AgentId();  // if it says nothing, another one is asked
  }
  are_all_partnered_ = count == 0;
  for (const auto& [to, chunks] : asked) Send(to, kKeep, chunks, out);
}

bool InputChunks::HasToStay() const {
  return !are_all_partnered_ &&
         std::any_of(chunks_.begin(), chunks_.end(), [this](const Chunk& c) {
           return c.is_kept && IsHere(c) && !c.is_partner_sure;
         });
}

void InputChunks::Tick(absl::Time now, absl::Span<const AgentId> others,
                       Outbox& out) {
  ServeWaiters(out);
  AskOthers(now, others, out);
  FindPartners(now, others, out);
}

}  // namespace dogged
