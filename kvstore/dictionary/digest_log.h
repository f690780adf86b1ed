// DigestLog: the digests of labels that this agent has held or heard of, also
// of those that were dropped. Where a label is bound a second time, be it at
// another agent, its digest is compared with the one that is logged.
//
// A *row* is a label without its version index; the log keeps its newest
// versions, in a ring. A label is made again from a retained generation, so
// older versions are bound again only where that was lost, too; from there on
// the versions follow one another into the ring.
//
// A data structure: no messages; time is passed in. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_DIGEST_LOG_H_
#define DOGGED_KVSTORE_DICTIONARY_DIGEST_LOG_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"

namespace dogged {

// The logged versions of one row, which need not be consecutive.
struct RowDigests {
  Label row;  // zero at its version index
  std::vector<std::pair<int64_t, Digest>> versions;  // ascending
};

class DigestLog {
 public:
  // At most `versions_max` versions of a row, at least one, and of all rows
  // `digests_max` digests together, or one each where there are more rows than
  // that. Both are powers of two.
  DigestLog(int64_t versions_max, int64_t digests_max);

  // Logs the digest of that version, unless it is older than those that are
  // kept. A digest that is logged stays; true if it is none or an equal one.
  // Cost: O(1) amortised; O(rows) each time that the rows outgrow the bound.
  bool Note(const Label& row, int64_t version, const Digest& digest);
  // None: not logged, or no longer.
  std::optional<Digest> Find(const Label& row, int64_t version) const;

  // Rows that satisfy `wanted`, in label order.
  std::vector<RowDigests> Select(
      absl::FunctionRef<bool(const Label& row)> wanted) const;

  // The home of this row may not know the logged digests, and a message with
  // them may be lost: TakeUntold() gives the row at `first`, then again and
  // again for 8 s, at intervals that double.
  void MarkUntold(const Label& row, absl::Time first) {
    untold_[row] = {.next = first, .interval = kToldAgainAfter};
  }
  void MarkTold(const Label& row) { untold_.erase(row); }
  // Rows that are to be told of now, in label order.
  std::vector<RowDigests> TakeUntold(absl::Time now);

  int64_t digest_count() const { return digest_count_; }  // places for them

 private:
  // Version v is at v modulo the size, which is a power of two; zero: none.
  struct Ring {
    int64_t newest = -1;
    absl::InlinedVector<Digest, 1> digests;

    size_t IndexOf(int64_t version) const {
      return static_cast<size_t>(version) & (digests.size() - 1);
    }
    int64_t oldest() const {  // that it has room for
      return std::max<int64_t>(0, newest - std::ssize(digests) + 1);
    }
    bool Covers(int64_t version) const {
      return oldest() <= version && version <= newest;
    }
  };

  struct Untold {
    absl::Time next;
    absl::Duration interval;
  };
  static constexpr absl::Duration kToldAgainAfter = absl::Milliseconds(250);
  static constexpr absl::Duration kToldAgainMax = absl::Seconds(4);

  void Resize(Ring& ring, int64_t size);
  RowDigests DigestsOf(const Label& row, const Ring& ring) const;
  void Cover(Ring& ring, int64_t from, int64_t to);
  void Advance(Ring& ring, int64_t version);

  int64_t versions_max_;
  const int64_t digests_max_;
  int64_t digest_count_ = 0;
  absl::flat_hash_map<Label, Ring> rows_;
  std::map<Label, Untold> untold_;  // rows
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_DIGEST_LOG_H_
