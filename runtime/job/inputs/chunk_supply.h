// ChunkSupply: chunks that a client gives to this agent, which took its
// submission. The client is asked for all chunks, those first that are missed;
// what is asked for and has not come is bounded.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SUPPLY_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SUPPLY_H_

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"
#include "runtime/job/inputs/chunk_layout.h"
#include "runtime/job/inputs/held_chunks.h"

namespace dogged {

class ChunkSupply {
 public:
  // At most `bytes_max` are asked for at a time.
  ChunkSupply(const ChunkLayout& layout, const HeldChunks& held,
              int64_t bytes_max)
      : layout_(layout), held_(held), bytes_max_(bytes_max) {}
  ChunkSupply(const ChunkSupply&) = delete;
  ChunkSupply& operator=(const ChunkSupply&) = delete;

  // A client is there that has all inputs.
  bool has_client() const { return has_client_; }
  // A client is there, or none any more; open requests are forgotten.
  void SetClient(bool is_there);
  // Asks for nothing from now on.
  void End() { has_client_ = false; }
  // A chunk is missed: it comes before all that only completes the supply.
  void Hasten(int64_t at) { first_.push_back(at); }
  // Chunks that the client is to supply next.
  std::vector<ChunkId> TakeWishes();
  // The value of the chunk at `at`, which the client has sent.
  // Errors: kFailedPrecondition for bytes that are not this chunk.
  absl::StatusOr<Value> Take(int64_t at, absl::string_view bytes);

  // Bytes of chunks that the client has given, or need not: they were here.
  int64_t supplied_bytes() const { return supplied_bytes_; }

 private:
  // It is here, and was not before.
  void Count(int64_t at);
  // The chunk to ask for next; -1: none.
  int64_t Next();
  bool IsMissing(int64_t at) const {
    return !held_.IsHere(at) && !asked_.contains(at);
  }

  const ChunkLayout& layout_;
  const HeldChunks& held_;
  const int64_t bytes_max_;
  bool has_client_ = false;
  std::deque<int64_t> first_;  // missed ones
  int64_t next_ = 0;           // all before were asked for
  std::set<int64_t> asked_;
  int64_t asked_bytes_ = 0;
  std::set<int64_t> counted_;
  int64_t supplied_bytes_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_SUPPLY_H_
