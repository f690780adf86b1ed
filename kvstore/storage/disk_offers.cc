#include "kvstore/storage/disk_offers.h"

#include <algorithm>
#include <optional>

namespace dogged {
namespace {

// An agent with a directory waits so long for a label that was announced, and
// so many times as long for other agents to read their directories, before it
// computes labels that were not offered.
constexpr absl::Duration kOffersTimeMax = absl::Seconds(1);
constexpr int kOffersTimesMax = 5;

}  // namespace

bool DiskOffers::IsRecovering(absl::Time now) const {
  return is_reading_ || now < end_;
}

// An agent that has completed its hand-over has announced all its labels, which
// are then on their way. A running job may announce without end, so there is a
// limit.
void DiskOffers::NoteOffer(absl::Time now) {
  if (is_reading_ || !IsRecovering(now)) return;
  absl::Time end = limit_;
  if (others_.empty()) {
    end = now +
          (coming_.empty() ? job_.limits.demand_timeout_min : kOffersTimeMax);
  }
  end_ = std::min(end, limit_);
}

// A label of this home is out of a directory, or may be, and the labels made
// before it are in none. They were bound, though: where a row of another array
// ended in it, that row need not be made again.
void DiskOffers::NoteFound(const Label& label, Outbox& out) {
  labels_.watermarks.MarkUnverified(job_.relations.RowOf(label),
                                    job_.relations.VersionOf(label));
  const std::optional<Reader> producer = job_.relations.ProducerOf(label);
  if (!producer.has_value()) return;
  job_.relations.ForEachRead(*producer, [&](const Label& input) {
    if (input.array == label.array || labels_.watermarks.WasBound(input))
      return;
    const Label row = job_.relations.RowOf(input);
    const int64_t version = job_.relations.VersionOf(input);
    if (labels_.places.IsHome(input)) {
      labels_.watermarks.NoteBound(input);
      labels_.watermarks.MarkUnverified(row, version);
    } else {
      job_.messenger.SendTo(labels_.places.HomeOf(input),
                            LabelMessage::kWatermarks,
                            EncodeWatermarks({.done = {{row, version}}}), out);
    }
  });
}

void DiskOffers::BeginScan() {
  is_reading_ = true;
  for (const PlacementMember& member : labels_.places.placement().members()) {
    if (member.agent != job_.self) others_.insert(member.agent);
  }
}

void DiskOffers::NoteScanned(absl::Time now) {
  is_reading_ = false;
  if (labels_.places.placement().members().size() == 1) return;
  limit_ = now + kOffersTimesMax * kOffersTimeMax;
  end_ = limit_;
  NoteOffer(now);
}

void DiskOffers::NoteArrived(absl::Time now, const Label& label) {
  if (coming_.erase(label) > 0) NoteOffer(now);
}

void DiskOffers::NoteHandoverComplete(absl::Time now, AgentId agent) {
  if (others_.erase(agent) > 0) NoteOffer(now);
}

void DiskOffers::ForgetIf(absl::Time now,
                          absl::FunctionRef<bool(AgentId)> gone) {
  std::erase_if(others_, gone);
  NoteOffer(now);
}

}  // namespace dogged
