#include "routing/membership/record_set.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

// Records of a part, at most, on average.
constexpr size_t kPartRecordsMax = 64;
constexpr int kPartBitsMax = 32;

}  // namespace

bool RecordRange::IsSound() const {
  if (bits < 0 || bits > 64) return false;
  return bits == 64 || prefix >> bits == 0;
}

uint64_t RecordRange::first() const {
  return bits == 0 ? 0 : prefix << (64 - bits);
}

uint64_t RecordRange::last() const {
  return bits == 64 ? prefix : first() | ~uint64_t{0} >> bits;
}

uint64_t& RecordSet::PartOf(uint64_t place) {
  return part_sums_[part_bits_ == 0 ? 0 : place >> (64 - part_bits_)];
}

KeptRecord::KeptRecord(absl::string_view key, const GossipRecord& record)
    : version_(record.version),
      place_(Hash64(key)),
      hash_(record.HashAt(key)),
      key_size_(static_cast<uint32_t>(key.size())),
      bytes_size_(static_cast<uint32_t>(record.bytes.size())) {
  char* const behind = reinterpret_cast<char*>(this + 1);
  std::copy(key.begin(), key.end(), behind);
  const absl::string_view bytes = record.bytes.view();
  std::copy(bytes.begin(), bytes.end(), behind + key.size());
}

const KeptRecord* RecordSet::Find(absl::string_view key) const {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : *it;
}

std::vector<const KeptRecord*> RecordSet::StartingWith(
    absl::string_view prefix) const {
  std::vector<const KeptRecord*> out;
  for (auto it = records_.lower_bound(prefix);
       it != records_.end() && absl::StartsWith((*it)->key(), prefix); ++it) {
    out.push_back(*it);
  }
  return out;
}

bool RecordSet::Put(absl::string_view key, const GossipRecord& record) {
  const KeptRecord* const former = Find(key);
  if (former != nullptr) {
    if (std::pair(record.version, record.bytes.view()) <=
        std::pair(former->version(), former->bytes())) {
      return false;
    }
  }
  const size_t text_size =
      key.size() + static_cast<size_t>(record.bytes.size());
  void* const block =
      memory_.allocate(KeptRecord::SizeOf(text_size), alignof(KeptRecord));
  const auto* const kept = new (block) KeptRecord(key, record);
  ++hashed_count_;
  if (former != nullptr) Remove(former);
  records_.insert(kept);
  places_.insert(kept);
  sum_ += kept->hash();
  PartOf(kept->place()) += kept->hash();
  Grow();
  return true;
}

void RecordSet::Remove(const KeptRecord* record) {
  records_.erase(record);
  places_.erase(record);
  sum_ -= record->hash();
  PartOf(record->place()) -= record->hash();
  memory_.deallocate(
      const_cast<KeptRecord*>(record),
      KeptRecord::SizeOf(record->key().size() + record->bytes().size()),
      alignof(KeptRecord));
}

void RecordSet::Grow() {
  if (records_.size() <= kPartRecordsMax << part_bits_ ||
      part_bits_ == kPartBitsMax) {
    return;
  }
  ++part_bits_;
  part_sums_.assign(size_t{1} << part_bits_, 0);
  for (const KeptRecord* record : places_) {
    PartOf(record->place()) += record->hash();
  }
}

uint64_t RecordSet::SumOf(const RecordRange& range) const {
  uint64_t sum = 0;
  if (range.bits <= part_bits_) {
    const uint64_t count = uint64_t{1} << (part_bits_ - range.bits);
    for (uint64_t i = 0; i < count; ++i) {
      sum += part_sums_[range.prefix * count + i];
    }
    return sum;
  }
  for (auto it = places_.lower_bound(range.first());
       it != places_.end() && (*it)->place() <= range.last(); ++it) {
    sum += (*it)->hash();
  }
  return sum;
}

std::vector<RecordPrint> RecordSet::PrintsOf(const RecordRange& range,
                                             size_t count_max) const {
  std::vector<RecordPrint> out;
  for (auto it = places_.lower_bound(range.first());
       it != places_.end() && (*it)->place() <= range.last() &&
       out.size() < count_max;
       ++it) {
    out.push_back({(*it)->place(), (*it)->hash()});
  }
  // Records may share a place; these are in no order yet.
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<const KeptRecord*> RecordSet::At(uint64_t place) const {
  const auto [begin, end] = places_.equal_range(place);
  return {begin, end};
}

}  // namespace dogged
