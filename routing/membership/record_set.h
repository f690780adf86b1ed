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
#include <memory_resource>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
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

// A record as a set keeps it: a block of memory, with the text of its key and
// its bytes behind the fields. It never changes.
class KeptRecord {
 public:
  uint64_t version() const { return version_; }
  absl::string_view key() const { return {text(), key_size_}; }
  absl::string_view bytes() const { return {text() + key_size_, bytes_size_}; }
  uint64_t place() const { return place_; }
  uint64_t hash() const { return hash_; }

  GossipRecord ToSend() const {
    return {.version = version_, .bytes = Bytes::CopyOf(bytes())};
  }

 private:
  friend class RecordSet;
  KeptRecord(absl::string_view key, const GossipRecord& record);
  static size_t SizeOf(size_t text_size) {
    return sizeof(KeptRecord) + text_size;
  }
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }

  const uint64_t version_;
  const uint64_t place_;
  const uint64_t hash_;  // of key, version and bytes
  const uint32_t key_size_;
  const uint32_t bytes_size_;
};

class RecordSet {
 public:
  RecordSet() = default;
  RecordSet(const RecordSet&) = delete;
  RecordSet& operator=(const RecordSet&) = delete;

  // False if the record here is as large or larger.
  bool Put(absl::string_view key, const GossipRecord& record);
  // Null if there is none.
  const KeptRecord* Find(absl::string_view key) const;
  // Records whose keys begin like that, in order of key.
  std::vector<const KeptRecord*> StartingWith(absl::string_view prefix) const;
  int64_t size() const { return std::ssize(records_); }
  // Sum of the hashes of all records: equal for equal sets.
  uint64_t sum() const { return sum_; }
  uint64_t SumOf(const RecordRange& range) const;
  // Records of a range, in order of place; at most the first `count_max`.
  std::vector<RecordPrint> PrintsOf(const RecordRange& range,
                                    size_t count_max) const;
  // Records at a place: mostly one, or none.
  std::vector<const KeptRecord*> At(uint64_t place) const;

  int part_bits() const { return part_bits_; }
  // Hashes of records computed so far: one for each that came or changed.
  int64_t hashed_count() const { return hashed_count_; }

 private:
  struct KeyLess {
    using is_transparent = void;
    static absl::string_view KeyOf(absl::string_view key) { return key; }
    static absl::string_view KeyOf(const KeptRecord* record) {
      return record->key();
    }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return KeyOf(a) < KeyOf(b);
    }
  };
  struct PlaceLess {
    using is_transparent = void;
    bool operator()(const KeptRecord* a, const KeptRecord* b) const {
      return std::pair(a->place(), a->key()) < std::pair(b->place(), b->key());
    }
    bool operator()(const KeptRecord* a, uint64_t b) const {
      return a->place() < b;
    }
    bool operator()(uint64_t a, const KeptRecord* b) const {
      return a < b->place();
    }
  };
  uint64_t& PartOf(uint64_t place);
  void Remove(const KeptRecord* record);
  void Grow();

  template <typename Less>
  using SetBy =
      absl::btree_set<const KeptRecord*, Less,
                      std::pmr::polymorphic_allocator<const KeptRecord*>>;

  SmallBlocks memory_;
  // The same records; one that replaces another has a block of its own.
  SetBy<KeyLess> records_{&memory_};
  SetBy<PlaceLess> places_{&memory_};
  int part_bits_ = 0;
  std::vector<uint64_t> part_sums_ = {0};
  uint64_t sum_ = 0;
  int64_t hashed_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RECORD_SET_H_
