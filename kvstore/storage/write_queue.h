// WriteQueue: chooses the labels that an agent writes to its directory, and
// their order. An engine takes some 0.4 GB/s, and a processor for that; two
// workers make 2. So only every s-th version of a row is written once a disk
// has too much to do. The *stride* s is a power of two, so that different
// agents write the same versions. A label left out is held until the labels
// made of it are durable; a path of dependences comes to a multiple of s soon,
// so that is not long.
//
// A data structure: it writes nothing; time is passed in. Used by one thread.
#ifndef DOGGED_KVSTORE_STORAGE_WRITE_QUEUE_H_
#define DOGGED_KVSTORE_STORAGE_WRITE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/label_relations.h"
#include "runtime/base/label.h"

namespace dogged {

class WriteQueue {
 public:
  // `relations` outlives the queue.
  explicit WriteQueue(const LabelRelations& relations);

  // `label` was bound. `must_go`: it is written whatever its version.
  void Add(const Label& label, bool must_go);
  // The next label to be written; none if none waits.
  std::optional<Label> Take();
  // Labels that were left out go after all: nothing newer is to be waited for.
  void AddLeftOut();
  // None waits, nor is any left out.
  bool IsEmpty() const { return queue_.empty() && left_out_.empty(); }
  // Begins a pass of the loop, before Take(). `busy` is the time that the
  // engine has worked since it was opened. Adapts the stride to the engine's
  // load.
  void BeginPass(absl::Time now, absl::Duration busy);
  void Clear();

  int64_t stride() const { return stride_; }

 private:
  struct LeftOut {
    Label label;
    int64_t stride = 1;  // for which it was
  };

  int64_t VersionOf(const Label& label) const;  // -1: it has none
  void SetStride(absl::Time now, int64_t stride);

  const LabelRelations& relations_;
  const int64_t span_;  // versions from one to the next that reads it, at most
  int64_t stride_ = 1;
  absl::Time changed_ = absl::InfinitePast();
  std::deque<Label> queue_;
  // The first label that waits, with its version, of each row that has any.
  absl::flat_hash_map<Label, int64_t> first_of_row_;
  bool is_late_ = false;
  // Oldest first. A label that is still held when its array has come far beyond
  // is written after all: its dependences meet no multiple of the stride.
  std::deque<LeftOut> left_out_;
  std::vector<int64_t> newest_;  // versions, by array
  // Share of the time that the engine works, averaged over seconds.
  double share_ = 0;
  absl::Time last_pass_ = absl::InfinitePast();
  absl::Duration busy_then_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_WRITE_QUEUE_H_
