// AgentWriters: the agents of a cluster that see the folder of an output, and
// write it together: each the values that it holds, so that none passes this
// process. Another agent reads each part again.
#ifndef DOGGED_APPS_DOGGED_WRITERS_AGENT_WRITERS_H_
#define DOGGED_APPS_DOGGED_WRITERS_AGENT_WRITERS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/report/output_parts.h"
#include "apps/output/parted_file.h"
#include "routing/control/control_client.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/base/clock.h"

namespace dogged {

class AgentWriters {
 public:
  struct Options {
    ConnectControl connect;              // reaches agents at
    std::vector<std::string> addresses;  // these addresses
    JobId job;
    bool (*is_interrupted)() = nullptr;
  };
  // `mark` is new.
  AgentWriters(const Options& options, const Digest& mark);
  AgentWriters(const AgentWriters&) = delete;
  AgentWriters& operator=(const AgentWriters&) = delete;

  struct Written {
    int64_t not_finite = 0;
    int writers = 0;  // agents
  };
  // Has the file written and read again, and gives it its name. Once.
  //
  // Errors: kFailedPrecondition if no agent sees its folder; kDataLoss if what
  // one has written another reads otherwise; kUnavailable if none is left;
  // kCancelled after an interrupt; as PartedFile. There is no file then.
  absl::StatusOr<Written> Write(const OutputParts& output);

 private:
  // Batch: parts that go to an agent together.
  struct Batch {
    std::string chunk;  // of a store, that its parts are in; else empty
    std::vector<FilePart> parts;
    std::vector<Digest> digests;  // of parts that are to be read again
    size_t writer = 0;            // of it
    size_t holder = 0;            // has the values, or had them
    bool is_check = false;
  };
  struct Writer {
    std::string address;
    std::unique_ptr<ControlCaller> caller;  // null: lost, or sees no file
    // The connection to an agent that sees no file: while it stands, that agent
    // keeps the values for others.
    std::unique_ptr<ControlCaller> blind;
    std::vector<std::pair<uint64_t, Batch>> sent;
    absl::Time heard;
    bool has_written = false;
  };

  // A file that those who are not left out see.
  absl::StatusOr<std::unique_ptr<PartedOutput>> CreateSeen(
      const OutputParts& output);
  // Leaves out those that don't see the file. False if one of them may yet sign
  // it. Errors: as Write().
  absl::StatusOr<bool> Probe(const PartedOutput& file);
  std::vector<Batch> BatchesOf(const OutputParts& output);
  // The agent that is to take a batch; of those to be read again another than
  // its writer, if there is one.
  size_t ChooseFor(const Batch& batch) const;
  void Send(Writer& writer, Batch batch);
  // Takes what has come from it within `patience`.
  absl::Status TakeFrom(size_t index, absl::Duration patience);
  absl::Status TakeReply(size_t index, const ControlFrame& frame);
  void Lose(Writer& writer);
  int CountAlive() const;

  SystemClock clock_;
  const JobId job_;
  bool (*const is_interrupted_)();
  Digest mark_;
  std::string path_;  // of the file while it is written
  std::vector<Writer> writers_;
  std::deque<Batch> due_;
  uint64_t next_number_ = 1;
  Written written_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_WRITERS_AGENT_WRITERS_H_
