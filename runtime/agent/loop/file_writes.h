// FileWrites: results on their way from this agent into files that clients
// share with it. A request waits until all of its values are here, then goes to
// the writer, whose answer goes to the client.
//
// A data structure; used by one thread at a time.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_FILE_WRITES_H_
#define DOGGED_RUNTIME_AGENT_LOOP_FILE_WRITES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "routing/control/control_socket.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// PartWriter: the port to files. Reading and writing take their time, so they
// run beside the agent's loop.
class PartWriter {
 public:
  virtual ~PartWriter() = default;
  // `values` are those of the request's parts; of parts that are read again
  // there are none.
  virtual void Submit(ConnectionId client, WriteRequest request,
                      std::vector<Value> values) = 0;
  // Drops what has not begun for a client that has gone.
  virtual void Forget(ConnectionId client) = 0;
  // Answers to requests that are done.
  virtual std::vector<std::pair<ConnectionId, WrittenReply>> TakeDone() = 0;
};

class FileWrites {
 public:
  // `writer` outlives it.
  explicit FileWrites(PartWriter& writer) : writer_(writer) {}
  FileWrites(const FileWrites&) = delete;
  FileWrites& operator=(const FileWrites&) = delete;

  // Requests that a client may have here at a time.
  static constexpr int64_t kPendingMax = 16;

  // Errors: kResourceExhausted where Add() would have none.
  absl::Status CheckRoom(ConnectionId client) const;
  // Its values are to be given, unless its parts are only read again. Errors:
  // kResourceExhausted for one request too many.
  absl::Status Add(ConnectionId client, WriteRequest request);
  // The value of `label`, for the requests that wait for it.
  void AddValue(JobId job, const Label& label, const Value& value);
  // Keeps `hold` on the results of a job until the connection of `client` ends,
  // instead of a former one; see Agent::HoldForWriting().
  void Hold(ConnectionId client, JobId job, std::shared_ptr<const void> hold) {
    holds_[client][job] = std::move(hold);
  }
  // The connection of `client` has ended.
  void Forget(ConnectionId client);
  // Answers that are due.
  void SendDone(
      absl::FunctionRef<void(ConnectionId, const WrittenReply&)> send);

 private:
  struct Waiting {
    ConnectionId client;
    WriteRequest request;
    std::vector<Value> values;  // by part
    int64_t missing = 0;
  };

  PartWriter& writer_;
  std::map<ConnectionId, std::map<JobId, std::shared_ptr<const void>>> holds_;
  std::map<ConnectionId, int64_t> pending_;  // requests not answered
  uint64_t next_ = 0;
  std::map<uint64_t, Waiting> waiting_;
  // Requests and their parts that wait for a label.
  std::map<std::pair<JobId, Label>, std::vector<std::pair<uint64_t, size_t>>>
      wanted_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_FILE_WRITES_H_
