// Messages between clients and agents on the control port: the bodies of its
// frames (routing/control/control_socket.h). A client needs no libfabric.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_CONTROL_H_
#define DOGGED_RUNTIME_AGENT_LOOP_CONTROL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kvstore/lending/loan.h"
#include "kvstore/storage/value_store.h"
#include "routing/membership/view.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"

namespace dogged {

enum class ControlType : uint8_t {
  kError = 1,     // body: code and message; the answer to a failed request
  kJoin = 2,      // Agent::Snapshot(); answered by kSnapshot
  kSnapshot = 3,  // Agent::Snapshot()
  // From one agent to another: my ID; answered by kLifeLine with the other's.
  // The end of such a connection is the end of that incarnation.
  kLifeLine = 4,
  kSubmit = 5,     // SubmitRequest; answered by kSubmitted
  kSubmitted = 6,  // the job's ID
  kStatus = 7,     // StatusRequest; answered by kStatusReply
  kStatusReply = 8,
  kWant = 9,       // WantRequest; answered by kValues, as they come
  kValues = 10,    // ValuesReply
  kConclude = 11,  // a JobRecord in its new state; answered by kConcluded
  kConcluded = 12,
  // ReturnedNotice: loans that are not in use any more. No answer.
  kReturned = 13,
  // From an agent to a client that has submitted a job with large inputs, as
  // often as it wants some: ChunksWanted; answered by a kChunk for each.
  kChunksWanted = 14,
  kChunk = 15,  // ChunkPart. No answer.
  // From a client that has only the job's ID; answered by kJobValue.
  kJobWanted = 16,
  kJobValue = 17,  // Job::Encode()
  // WantRequest; answered by kHeld with those that are bound at this agent.
  kHeldWanted = 18,
  kHeld = 19,  // a WantRequest with some of the labels
  // WantRequest; answered by kValues for those that are bound, or will be until
  // the job ends: none is made for it.
  kWatch = 20,
  // Words of a transport that asks to be admitted (Admission); answered by
  // kAdmitted without a body.
  kAdmit = 21,
  kAdmitted = 22,
  // WriteRequest (file_messages.h); answered by kWritten once its parts are in
  // the file, or by why they are not.
  kWrite = 23,
  kWritten = 24,  // WrittenReply
};

// As ControlFrame has it.
constexpr uint8_t FrameType(ControlType type) {
  return static_cast<uint8_t>(type);
}

struct SubmitRequest {
  SubmissionId submission;
  JobOptions options;
  uint64_t text_hash = 0;  // of the program's text; 0: not told
  bool supplies = false;   // the inputs that are not in the job, when asked
  absl::string_view job;   // Job::Encode()

  Bytes Encode() const;
  // `job` is a view into `body`.
  static absl::StatusOr<SubmitRequest> Decode(absl::string_view body);
};

// MemberStatus: a member as an agent knows it.
struct MemberStatus {
  Member member;
  std::string state;  // "alive", "suspect", "left", "dead"
  std::string cause;  // of its end
  // Stats that an agent that left has published of its last jobs.
  std::vector<std::pair<JobId, JobStats>> stats;

  void EncodeTo(Encoder& encoder) const;
  // A malformed one marks the decoder as failed.
  static MemberStatus DecodeFrom(Decoder& decoder);
};

// LinkStatus: the way from the agent that answers to another one, as its own
// messages know it.
struct LinkStatus {
  AgentId to;
  // That it takes; 0: not known, as nothing has had to wait for it yet.
  double bytes_per_second = 0;
  // Time of a ping and its answer, usually; less than 0: not known.
  double round_trip_seconds = -1;
};

struct StatusRequest {
  JobQuery jobs;
  // Hash of a program's text: asks for the sizes that its jobs were cut for,
  // too. 0: does not.
  uint64_t text_hash = 0;

  Bytes Encode() const;
  static absl::StatusOr<StatusRequest> Decode(absl::string_view body);
};

// StatusReply: an agent's report about itself and all members.
struct StatusReply {
  AgentId self;
  int64_t memory_bytes = 0;  // of this process, now
  int64_t memory_bytes_peak = 0;
  int64_t memory_limit = 0;  // of its values, the rest goes to disk; 0: none
  int64_t host_bytes = 0;    // memory of its computer
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  // Malformed messages of agents, and connections with malformed frames.
  int64_t refused = 0;
  // Messages that were not sent, or came in part only: no room, no such peer.
  int64_t dropped = 0;
  std::vector<std::string> keys;  // ids of its keys, the used one first
  std::vector<MemberStatus> members;
  // Jobs that were asked for. Stats are this agent's own.
  std::vector<JobSummary> jobs;
  int64_t jobs_known = 0;  // however many were asked for
  // Sizes that jobs of the text asked for were cut for: agents, workers of
  // each.
  std::vector<std::pair<int, int>> sizes;
  // The jobs of that text with values in this agent's directory.
  std::vector<StoredJob> stored;
  std::vector<LinkStatus> links;  // to the other members that live
  // Its directory may have jobs that are not in `jobs` yet.
  bool reads_directory = false;

  Bytes Encode() const;
  static absl::StatusOr<StatusReply> Decode(absl::string_view body);
};

struct WantRequest {
  JobId job;
  // Values may be lent: the client can read arenas of this host.
  bool may_borrow = false;
  std::vector<Label> labels;

  Bytes Encode() const;
  static absl::StatusOr<WantRequest> Decode(absl::string_view body);
};

// LentValue: a value that the client reads where it lies, until it has returned
// it or its connection ends. A client that has lost the connection checks the
// bytes that it has read.
struct LentValue {
  Label label;
  std::string arena;  // SharedMemory::address()
  Loan loan;          // numbered from 1 for each connection
};

struct ValuesReply {
  JobId job;
  std::vector<std::pair<Label, Value>> values;
  std::vector<LentValue> lent;

  Bytes Encode() const;
  static absl::StatusOr<ValuesReply> Decode(absl::string_view body);
};

struct ChunksWanted {
  JobId job;
  std::vector<ChunkId> chunks;

  Bytes Encode() const;
  static absl::StatusOr<ChunksWanted> Decode(absl::string_view body);
};

struct ChunkPart {
  JobId job;
  ChunkId chunk;
  absl::string_view bytes;

  // With that chunk of `input`, which has its content, in place of `bytes`.
  std::string EncodeWith(const JobInput& input) const;
  // `bytes` is a view into `body`.
  static absl::StatusOr<ChunkPart> Decode(absl::string_view body);
};

struct ReturnedNotice {
  uint64_t number = 0;  // all loans of this connection up to this one

  Bytes Encode() const;
  static absl::StatusOr<ReturnedNotice> Decode(absl::string_view body);
};

Bytes EncodeError(const absl::Status& status);
// The error that a kError frame carries.
absl::Status DecodeError(absl::string_view body);

template <typename Tag>
Bytes EncodeId(Id<Tag> id) {
  Encoder out;
  out.PutId(id);
  return Bytes(out.Take());
}
template <typename IdType>
absl::StatusOr<IdType> DecodeId(absl::string_view body) {
  Decoder in(body);
  const auto id = in.GetId<IdType>();
  absl::Status status = in.Finish("ID");
  if (!status.ok()) return status;
  return id;
}

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_CONTROL_H_
