#include "routing/membership/record_set.h"

#include <algorithm>
#include <iterator>

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

bool RecordSet::Put(absl::string_view key, const GossipRecord& record) {
  const auto [it, is_new] = records_.try_emplace(memory_.CopyOf(key));
  KeptRecord& mine = it->second;
  if (!is_new &&
      std::make_pair(record.version, record.bytes.view()) <=
          std::make_pair(mine.version, absl::string_view(mine.bytes))) {
    return false;
  }
  mine.version = record.version;
  // Swapped, as assignment might keep the larger block of the two.
  std::pmr::string bytes = memory_.CopyOf(record.bytes.view());
  mine.bytes.swap(bytes);
  const uint64_t place = Hash64(key);
  const uint64_t hash = record.HashAt(key);
  ++hashed_count_;
  auto [slot, end] = slots_.equal_range(place);
  slot = std::find_if(slot, end, [&it = *it](const auto& known) {
    return known.second.record == &it;
  });
  uint64_t change = hash;
  if (slot == end) {
    slots_.emplace(place, Slot{&*it, hash});
  } else {
    change -= slot->second.hash;
    slot->second.hash = hash;
  }
  sum_ += change;
  PartOf(place) += change;
  Grow();
  return true;
}

void RecordSet::Grow() {
  if (records_.size() <= kPartRecordsMax << part_bits_ ||
      part_bits_ == kPartBitsMax) {
    return;
  }
  ++part_bits_;
  part_sums_.assign(size_t{1} << part_bits_, 0);
  for (const auto& [place, slot] : slots_) PartOf(place) += slot.hash;
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
  for (auto it = slots_.lower_bound(range.first());
       it != slots_.end() && it->first <= range.last(); ++it) {
    sum += it->second.hash;
  }
  return sum;
}

std::vector<RecordPrint> RecordSet::PrintsOf(const RecordRange& range,
                                             size_t count_max) const {
  std::vector<RecordPrint> out;
  for (auto it = slots_.lower_bound(range.first());
       it != slots_.end() && it->first <= range.last() &&
       out.size() < count_max;
       ++it) {
    out.push_back({it->first, it->second.hash});
  }
  // Records may share a place; these are in no order yet.
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<const RecordSet::Map::value_type*> RecordSet::At(
    uint64_t place) const {
  std::vector<const Map::value_type*> out;
  const auto [begin, end] = slots_.equal_range(place);
  for (auto it = begin; it != end; ++it) out.push_back(it->second.record);
  return out;
}

}  // namespace dogged
