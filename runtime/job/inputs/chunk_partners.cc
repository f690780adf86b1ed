#include "runtime/job/inputs/chunk_partners.h"

#include <algorithm>
#include <map>

#include "absl/algorithm/container.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

// Partners that are asked at a time, and the time for which their answer is
// awaited.
constexpr int64_t kPartnersAtOnce = 32;
constexpr absl::Duration kPartnerPatience = absl::Seconds(2);

}  // namespace

bool ChunkPartners::NeedsPartner(size_t at) const {
  const auto position = static_cast<int64_t>(at);
  return held_.IsKept(position) && held_.IsHere(position) &&
         !chunks_[at].is_sure;
}

void ChunkPartners::FindPartners(const Pass& pass,
                                 absl::Span<const AgentId> others) {
  if (!std::equal(others.begin(), others.end(), others_.begin(),
                  others_.end())) {
    others_.assign(others.begin(), others.end());
    are_all_sure_ = false;
    next_try_ = pass.now;
    for (Chunk& chunk : chunks_) {
      if (chunk.partner.IsNone() ||
          absl::c_linear_search(others, chunk.partner))
        continue;
      chunk.partner = AgentId();
      chunk.is_sure = false;
    }
  }
  if (are_all_sure_ || others.empty()) return;
  pass.out.WakeAt(next_try_);
  if (pass.now < next_try_) return;
  next_try_ = pass.now + kPartnerPatience;
  std::map<AgentId, ChunkPositions> asked;
  int64_t count = 0;
  for (size_t i = 0; i < chunks_.size() && count < kPartnersAtOnce; ++i) {
    if (!NeedsPartner(i)) continue;
    Chunk& chunk = chunks_[i];
    ++count;
    if (absl::c_linear_search(others, chunk.reader))
      chunk.partner = chunk.reader;
    if (chunk.partner.IsNone()) {
      chunk.partner = others[Mix64(self_.value(), i) % others.size()];
    }
    asked[chunk.partner].push_back(static_cast<int64_t>(i));
    chunk.reader = AgentId();  // if it says nothing, another one is asked
  }
  are_all_sure_ = count == 0;
  for (const auto& [to, chunks] : asked) {
    SendChunkWord(to, job_, ChunkWord::kKeep, chunks, pass.out);
  }
}

void ChunkPartners::Doubt(int64_t at) {
  Find(at).is_sure = false;
  are_all_sure_ = false;
}

void ChunkPartners::Set(int64_t at, AgentId partner) {
  Find(at).partner = partner;
  Find(at).is_sure = true;
}

void ChunkPartners::NoteHeld(absl::Time now, AgentId from,
                             const ChunkPositions& chunks) {
  for (const int64_t at : chunks) {
    Find(at).is_sure |= Find(at).partner == from;
  }
  next_try_ = std::min(next_try_, now);
}

void ChunkPartners::NoteReader(int64_t at, AgentId reader) {
  Find(at).reader = reader;
}

bool ChunkPartners::IsNeeded() const {
  if (are_all_sure_) return false;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (NeedsPartner(i)) return true;
  }
  return false;
}

}  // namespace dogged
