#include "runtime/job/inputs/chunk_giver.h"

#include <optional>
#include <utility>

#include "runtime/base/codec.h"

namespace dogged {

bool ChunkGiver::SendTo(AgentId to, int64_t at, Outbox& out) {
  if (!held_.IsHeld(at)) return false;
  partners_.NoteReader(at, to);
  const Value value = held_.ValueOf(at);
  Encoder body;
  const std::optional<Loan> loan =
      lending_ == nullptr ? std::nullopt : lending_->Lend(to, value);
  body.PutU8(static_cast<uint8_t>(loan.has_value() ? ChunkWord::kLent
                                                   : ChunkWord::kChunk));
  body.PutSigned(at);
  if (loan.has_value()) {
    loan->EncodeTo(body);
  } else {
    body.PutRaw(value.view());
  }
  out.Send(to, kChunkKind, job_, Bytes(body.Take()));
  return true;
}

ChunkPositions ChunkGiver::ReceiveWish(AgentId from,
                                       const ChunkPositions& wanted,
                                       Outbox& out) {
  ChunkPositions coming;
  ChunkPositions absent;
  for (const int64_t at : wanted) {
    if (SendTo(from, at, out)) continue;
    if (!held_.IsWritten(at) && !supply_.has_client()) {
      absent.push_back(at);
      continue;
    }
    waiters_[at].insert(from);
    held_.SetAwaited(at, true);
    coming.push_back(at);
  }
  SendChunkWord(from, job_, ChunkWord::kComing, coming, out);
  SendChunkWord(from, job_, ChunkWord::kAbsent, absent, out);
  return coming;
}

ChunkPositions ChunkGiver::ReceiveKeep(AgentId from, const ChunkPositions& kept,
                                       Outbox& out) {
  ChunkPositions here;
  ChunkPositions missing;
  for (const int64_t at : kept) {
    held_.Keep(at, true);
    partners_.Set(at, from);
    if (held_.IsHere(at)) {
      here.push_back(at);
      continue;
    }
    keepers_[at].insert(from);
    missing.push_back(at);
  }
  SendChunkWord(from, job_, ChunkWord::kHeld, here, out);
  return missing;
}

void ChunkGiver::ServeWaiters(Outbox& out) {
  std::map<AgentId, ChunkPositions> absent;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const int64_t at = it->first;
    if (!held_.IsHeld(at) && held_.IsWritten(at)) held_.Load(at);
    if (!held_.IsHeld(at) && (held_.IsWritten(at) || supply_.has_client())) {
      ++it;
      continue;
    }
    for (const AgentId to : it->second) {
      if (!SendTo(to, at, out)) absent[to].push_back(at);
    }
    held_.SetAwaited(at, false);
    it = waiters_.erase(it);
  }
  for (const auto& [to, chunks] : absent) {
    SendChunkWord(to, job_, ChunkWord::kAbsent, chunks, out);
  }
  std::map<AgentId, ChunkPositions> here;
  for (auto it = keepers_.begin(); it != keepers_.end();) {
    if (!held_.IsHere(it->first)) {
      ++it;
      continue;
    }
    for (const AgentId to : it->second) here[to].push_back(it->first);
    it = keepers_.erase(it);
  }
  for (const auto& [to, chunks] : here) {
    SendChunkWord(to, job_, ChunkWord::kHeld, chunks, out);
  }
}

AgentId ChunkGiver::KeeperOf(int64_t at) const {
  const auto it = keepers_.find(at);
  return it == keepers_.end() ? AgentId() : *it->second.begin();
}

void ChunkGiver::Release() {
  waiters_.clear();
  keepers_.clear();
}

}  // namespace dogged
