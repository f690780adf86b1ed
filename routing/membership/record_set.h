// RecordSet: a grow-only set of records, which keeps the largest of each key,
// with sums that tell where two sets differ.
//
// A record's *place* is a hash of its key. The first b bits of places cut them
// into 2^b parts of some tens of records each; the set keeps the sum of the
// hashes of each part, and b grows with the set. So the sum over any range of
// places costs little, whatever b the other set has.
//
// Records stay for good, so they lie close together, in memory of their own:
// among what comes and goes each would hold a page of the heap.
//
// A data structure. Used by one thread.
#ifndef DOGGED_ROUTING_MEMBERSHIP_RECORD_SET_H_
#define DOGGED_ROUTING_MEMBERSHIP_RECORD_SET_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "routing/membership/gossip_codec.h"
#include "runtime/base/bytes.h"
#include "runtime/base/small_blocks.h"

namespace dogged {

// The places whose first `bits` bits are `prefix`.
struct RecordRange {
  int bits = 0;  // 0 to 64
  uint64_t prefix = 0;

  // Sound: there are such places.
  bool IsSound() const;
  uint64_t first() const;
  uint64_t last() const;
  // The `number`th of the 2^ways ranges that make up this one.
  RecordRange Part(int ways, uint64_t number) const {
    return {.bits = bits + ways, .prefix = (prefix << ways) + number};
  }
};

// A record as two agents compare it.
struct RecordPrint {
  uint64_t place = 0;
  uint64_t hash = 0;  // of key, version and bytes
  friend auto operator<=>(const RecordPrint&, const RecordPrint&) = default;
};

// A record as a set keeps it.
struct KeptRecord {
  using allocator_type = std::pmr::polymorphic_allocator<char>;

  explicit KeptRecord(const allocator_type& memory) : bytes(memory) {}

  uint64_t version = 0;
  std::pmr::string bytes;

  GossipRecord ToSend() const {
    return {.version = version, .bytes = Bytes::CopyOf(bytes)};
  }
};

class RecordSet {
 public:
  struct KeyLess {
    using is_transparent = void;
    bool operator()(absl::string_view a, absl::string_view b) const {
      return a < b;
    }
  };
  // By key. Records stay where they are.
  using Map = std::pmr::map<std::pmr::string, KeptRecord, KeyLess>;

  RecordSet() = default;
  RecordSet(const RecordSet&) = delete;
  RecordSet& operator=(const RecordSet&) = delete;

  // False if the record here is as large or larger.
  bool Put(absl::string_view key, const GossipRecord& record);
  const Map& records() const { return records_; }
  // Sum of the hashes of all records: equal for equal sets.
  uint64_t sum() const { return sum_; }
  uint64_t SumOf(const RecordRange& range) const;
  // Records of a range, in order of place; at most the first `count_max`.
  std::vector<RecordPrint> PrintsOf(const RecordRange& range,
                                    size_t count_max) const;
  // Records at a place: mostly one, or none.
  std::vector<const Map::value_type*> At(uint64_t place) const;

  int part_bits() const { return part_bits_; }
  // Hashes of records computed so far: one for each that came or changed.
  int64_t hashed_count() const { return hashed_count_; }

 private:
  struct Slot {
    const Map::value_type* record = nullptr;
    uint64_t hash = 0;
  };
  uint64_t& PartOf(uint64_t place);
  void Grow();

  SmallBlocks memory_;
  Map records_{&memory_};
  // By place.
  absl::btree_multimap<
      uint64_t, Slot, std::less<uint64_t>,
      std::pmr::polymorphic_allocator<std::pair<const uint64_t, Slot>>>
      slots_{&memory_};
  int part_bits_ = 0;
  std::vector<uint64_t> part_sums_ = {0};
  uint64_t sum_ = 0;
  int64_t hashed_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RECORD_SET_H_
