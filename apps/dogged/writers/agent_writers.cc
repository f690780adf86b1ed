#include "apps/dogged/writers/agent_writers.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/client/client_times.h"
#include "apps/output/file.h"
#include "apps/output/zarr.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// An agent that says nothing for so long, with work of ours, is left out: a
// value may have to be made again, and disks are slow.
constexpr absl::Duration kWriterSilenceMax = absl::Seconds(60);
constexpr absl::Duration kTurn = absl::Milliseconds(20);
// Bytes of values that an agent gathers for one request, and requests that it
// has at a time.
constexpr int64_t kBatchBytes = 64 << 20;
constexpr size_t kSentMax = 2;

absl::StatusOr<std::unique_ptr<PartedOutput>> CreateFor(
    const OutputParts& output, const Digest& mark) {
  if (output.IsStore()) {
    return CreatePartedZarr(output.written.path, output.description,
                            output.chunk, mark);
  }
  DOGGED_ASSIGN_OR_RETURN(PartedFile file,
                          PartedFile::Create(output.written.path, output.header,
                                             output.data_bytes, mark));
  return std::make_unique<PartedFile>(std::move(file));
}

}  // namespace

AgentWriters::AgentWriters(const Options& options, const Digest& mark)
    : job_(options.job), is_interrupted_(options.is_interrupted), mark_(mark) {
  for (const std::string& address : options.addresses) {
    auto caller = options.connect(address, kConnectTimeout);
    if (!caller.ok()) continue;
    writers_.push_back({.address = address,
                        .caller = *std::move(caller),
                        .sent = {},
                        .heard = clock_.Now()});
  }
}

absl::StatusOr<AgentWriters::Written> AgentWriters::Write(
    const OutputParts& output) {
  DOGGED_ASSIGN_OR_RETURN(const std::unique_ptr<PartedOutput> file,
                          CreateSeen(output));
  for (Batch& batch : BatchesOf(output)) due_.push_back(std::move(batch));
  while (true) {
    if (is_interrupted_()) {
      return absl::CancelledError(absl::StrCat(
          "interrupted: ", output.written.path, " is not written"));
    }
    bool is_waiting = false;
    for (std::deque<Batch> due = std::exchange(due_, {}); !due.empty();
         due.pop_front()) {
      const size_t at = ChooseFor(due.front());
      if (writers_[at].sent.size() < kSentMax) {
        Send(writers_[at], std::move(due.front()));
      } else {
        due_.push_back(std::move(due.front()));
      }
    }
    for (size_t i = 0; i < writers_.size(); ++i) {
      if (writers_[i].sent.empty()) continue;
      is_waiting = true;
      DOGGED_RETURN_IF_ERROR(TakeFrom(i, kTurn));
    }
    if (CountAlive() == 0) {
      return absl::UnavailableError(
          absl::StrCat("no agent that sees ", path_, " answers any more"));
    }
    if (!is_waiting && due_.empty()) break;
  }
  DOGGED_RETURN_IF_ERROR(file->Commit());
  for (const Writer& writer : writers_) {
    written_.writers += writer.has_written ? 1 : 0;
  }
  return written_;
}

absl::StatusOr<std::unique_ptr<PartedOutput>> AgentWriters::CreateSeen(
    const OutputParts& output) {
  while (true) {
    DOGGED_ASSIGN_OR_RETURN(std::unique_ptr<PartedOutput> file,
                            CreateFor(output, mark_));
    path_ = file->path();
    DOGGED_ASSIGN_OR_RETURN(const bool is_settled, Probe(*file));
    if (is_settled) return file;
    ++mark_.low;
  }
}

absl::StatusOr<bool> AgentWriters::Probe(const PartedOutput& file) {
  std::string why = "no agent answers";
  bool is_settled = true;
  for (Writer& writer : writers_) {
    if (writer.caller == nullptr) continue;
    const WriteRequest request{.job = job_,
                               .number = next_number_++,
                               .path = path_,
                               .mark = mark_,
                               .parts = {},
                               .digests = {}};
    auto frame = writer.caller->Call(FrameType(ControlType::kWrite),
                                     request.Encode().view(), kCallTimeout);
    absl::Status status = frame.status();
    // Its sign may come when the file is whole: not in this file, then.
    if (!frame.ok()) is_settled = false;
    if (frame.ok() && frame->type == FrameType(ControlType::kWritten)) {
      const auto reply = WrittenReply::Decode(frame->body.view());
      status = reply.ok() ? reply->status : reply.status();
    } else if (frame.ok()) {
      status = DecodeError(frame->body.view());
    }
    if (status.ok() && file.HasSign(request.number)) continue;
    if (status.ok()) {
      status = absl::DataLossError("it writes to another file of that name");
    }
    why = absl::StrCat(writer.address, " says: ", status.message());
    writer.blind = std::move(writer.caller);
  }
  if (CountAlive() > 0) return is_settled;
  return absl::FailedPreconditionError(
      absl::StrCat("no agent sees that folder (", why, ")"));
}

std::vector<AgentWriters::Batch> AgentWriters::BatchesOf(
    const OutputParts& output) {
  const std::vector<FilePart>& parts = output.parts;
  // The holder of each label; the first one that says so.
  absl::flat_hash_map<Label, size_t> holders;
  WantRequest all{.job = job_, .labels = {}};
  for (const FilePart& part : parts) all.labels.push_back(part.label);
  for (size_t i = 0; i < writers_.size(); ++i) {
    if (writers_[i].caller == nullptr) continue;
    const auto frame = writers_[i].caller->Call(
        FrameType(ControlType::kHeldWanted), all.Encode().view(), kCallTimeout);
    if (!frame.ok() || frame->type != FrameType(ControlType::kHeld)) continue;
    const auto held = WantRequest::Decode(frame->body.view());
    if (!held.ok()) continue;
    for (const Label& label : held->labels) {
      // Copies: half of them here, half there.
      const auto [it, is_new] = holders.try_emplace(label, i);
      if (!is_new && label.Hash() % writers_.size() == i) it->second = i;
    }
  }
  struct Open {
    Batch batch;
    int64_t bytes = 0;
  };
  std::vector<Batch> out;
  // By holder and chunk.
  std::map<std::pair<size_t, std::string>, Open> open;
  const auto close = [&out](Open& one) {
    if (!one.batch.parts.empty()) out.push_back(std::exchange(one.batch, {}));
    one.bytes = 0;
  };
  size_t next = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const FilePart& part = parts[i];
    const auto it = holders.find(part.label);
    size_t at = it == holders.end() ? next++ % writers_.size() : it->second;
    while (writers_[at].caller == nullptr) at = (at + 1) % writers_.size();
    const std::string chunk = output.IsStore() ? output.chunks[i] : "";
    Open& one = open[{at, chunk}];
    if (one.bytes + part.bytes() > kBatchBytes ||
        std::ssize(one.batch.parts) >= WriteRequest::kPartsMax) {
      close(one);
    }
    one.batch.holder = at;
    one.batch.chunk = chunk;
    one.batch.parts.push_back(part);
    one.bytes += part.bytes();
  }
  for (auto& [place, one] : open) close(one);
  return out;
}

size_t AgentWriters::ChooseFor(const Batch& batch) const {
  const size_t first = batch.is_check ? batch.writer + 1 : batch.holder;
  for (size_t k = 0; k < writers_.size(); ++k) {
    const size_t at = (first + k) % writers_.size();
    if (writers_[at].caller != nullptr) return at;
  }
  return 0;
}

void AgentWriters::Send(Writer& writer, Batch batch) {
  const std::string path =
      batch.chunk.empty() ? path_
                          : absl::StrCat(path_, kUnfinishedFolder, batch.chunk);
  const WriteRequest request{.job = job_,
                             .number = next_number_++,
                             .path = path,
                             .mark = mark_,
                             .parts = batch.parts,
                             .digests = batch.digests};
  if (writer.sent.empty()) writer.heard = clock_.Now();
  writer.sent.emplace_back(request.number, std::move(batch));
  if (writer.caller == nullptr ||
      !writer.caller
           ->Send(FrameType(ControlType::kWrite), request.Encode().view(),
                  kCallTimeout)
           .ok()) {
    Lose(writer);
  }
}

void AgentWriters::Lose(Writer& writer) {
  writer.caller.reset();
  for (auto& [number, batch] : std::exchange(writer.sent, {})) {
    due_.push_back(std::move(batch));
  }
}

absl::Status AgentWriters::TakeFrom(size_t index, absl::Duration patience) {
  Writer& writer = writers_[index];
  auto frame = writer.caller->Receive(patience);
  const absl::Time now = clock_.Now();
  if (frame.ok()) {
    writer.heard = now;
    return TakeReply(index, *frame);
  }
  if (!absl::IsDeadlineExceeded(frame.status()) ||
      now - writer.heard > kWriterSilenceMax) {
    Lose(writer);
  }
  return absl::OkStatus();
}

absl::Status AgentWriters::TakeReply(size_t index, const ControlFrame& frame) {
  Writer& writer = writers_[index];
  // It does not run the job, or takes no such request: others do.
  if (frame.type == FrameType(ControlType::kError)) {
    Lose(writer);
    return absl::OkStatus();
  }
  if (frame.type != FrameType(ControlType::kWritten)) return absl::OkStatus();
  DOGGED_ASSIGN_OR_RETURN(WrittenReply reply,
                          WrittenReply::Decode(frame.body.view()));
  const auto it = std::find_if(
      writer.sent.begin(), writer.sent.end(),
      [&reply](const auto& sent) { return sent.first == reply.number; });
  if (it == writer.sent.end()) return absl::OkStatus();
  Batch batch = std::move(it->second);
  writer.sent.erase(it);
  if (!reply.status.ok()) {
    return absl::Status(
        reply.status.code(),
        absl::StrCat(reply.status.message(), " (agent ", writer.address, ")"));
  }
  if (batch.is_check) return absl::OkStatus();
  written_.not_finite += reply.not_finite;
  writer.has_written = true;
  batch.digests = std::move(reply.digests);
  batch.is_check = true;
  batch.writer = index;
  if (batch.digests.size() != batch.parts.size()) {
    return absl::DataLossError(
        absl::StrCat(writer.address, " has not written all that it was given"));
  }
  due_.push_back(std::move(batch));
  return absl::OkStatus();
}

int AgentWriters::CountAlive() const {
  return static_cast<int>(std::count_if(
      writers_.begin(), writers_.end(),
      [](const Writer& writer) { return writer.caller != nullptr; }));
}

}  // namespace dogged
