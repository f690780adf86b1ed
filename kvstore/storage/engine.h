// Engine: the port to a local store of bytes that outlives this process. It
// stands behind the live store (Shard), never in its place: its requests are
// answered some time later.
//
// A single thread submits and polls; neither call ever waits for the disk.
#ifndef DOGGED_KVSTORE_STORAGE_ENGINE_H_
#define DOGGED_KVSTORE_STORAGE_ENGINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/bytes.h"

namespace dogged {

struct EngineRequest {
  enum class Kind : uint8_t {
    kGet,          // the value of `key`
    kPut,          // `key` gets `value`, then `rest`
    kErase,        // `key` goes
    kErasePrefix,  // every key that begins with `key`, not all 0xff, goes
    kScan,         // keys that begin with `key`, with their values
  };
  Kind kind = Kind::kGet;
  uint64_t ticket = 0;  // comes back with the reply
  std::string key;
  Bytes value;
  Bytes rest;  // of a put; so large values need not be copied to be put
  // A scan gives keys greater than `after`, in order, until their values are
  // `bytes_max` long together; at least one key.
  std::string after;
  int64_t bytes_max = 1 << 20;
};

struct EngineReply {
  EngineRequest::Kind kind = EngineRequest::Kind::kGet;
  uint64_t ticket = 0;
  // kNotFound: no such key. kDataLoss: there is one, and it can't be read.
  // kResourceExhausted: the disk takes no more, for whatever reason.
  absl::Status status;
  Bytes value;                                       // of a get
  std::vector<std::pair<std::string, Bytes>> found;  // of a scan
  bool more = false;                                 // a scan stopped early
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Every request is answered once. They take effect in the order in which
  // they are submitted.
  //
  // The reply to a put says that it outlives this process. A put without a
  // reply, and any erase, may or may not have happened if the process dies.
  virtual void Submit(EngineRequest request) = 0;
  // Appends the replies since the last call.
  virtual void Poll(std::vector<EngineReply>& replies) = 0;
  // How long it has worked, or waited for the disk, since it was made.
  virtual absl::Duration BusyTime() const = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_ENGINE_H_
