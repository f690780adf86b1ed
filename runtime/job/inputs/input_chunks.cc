#include "runtime/job/inputs/input_chunks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {

InputChunks::InputChunks(Options options, const Job& job)
    : options_(std::move(options)),
      layout_(job),
      held_({.job = options_.hash,
             .memory_bytes_max = options_.memory_bytes_max,
             .cache_bytes = options_.limits.input_cache_bytes,
             .store = options_.store,
             .keeps_values = options_.keeps_values},
            layout_),
      readers_(layout_, held_),
      supply_(layout_, held_, options_.limits.input_supply_bytes),
      partners_(options_.self, options_.id, layout_, held_),
      giver_(options_.id, options_.lending, held_, supply_, partners_),
      search_(options_.id, options_.limits, layout_, readers_, giver_) {}

bool InputChunks::IsNeededFor(const Job& job) {
  return std::any_of(job.inputs.begin(), job.inputs.end(),
                     [](const JobInput& input) { return input.IsInChunks(); });
}

void InputChunks::Want(int64_t at) {
  if (held_.IsHeld(at)) return;
  if (held_.IsWritten(at)) return held_.Load(at);
  if (supply_.has_client()) {
    supply_.Hasten(at);
  } else {
    search_.Begin(at);
  }
}

void InputChunks::Arrived(int64_t at) {
  search_.End(at);
  readers_.NoteArrived(at);
}

// --- tasks

bool InputChunks::Pin(const Task& task, const Kernel& kernel) {
  ChunkPositions missing;
  const bool is_ready = readers_.Pin(task, kernel, missing);
  for (const int64_t at : missing) Want(at);
  return is_ready;
}

void InputChunks::Unpin(const Task& task) {
  for (const int64_t at : readers_.Unpin(task)) {
    if (!held_.IsKept(at)) search_.End(at);
  }
}

// --- the client

void InputChunks::SetSupplier(bool is_there) {
  supply_.SetClient(is_there);
  partners_.LookAgain();
  if (is_there) search_.EndForClient();
  held_.KeepForClient(is_there);
  for (const int64_t at : readers_.Awaited()) Want(at);
}

void InputChunks::Adopt(const InputChunks& other) {
  std::map<Digest, Value> theirs;
  for (int64_t at = 0; at < other.layout_.size(); ++at) {
    if (!other.held_.IsHeld(at)) continue;
    theirs.emplace(other.layout_.DigestOf(at), other.held_.ValueOf(at));
  }
  for (int64_t at = 0; at < layout_.size() && !theirs.empty(); ++at) {
    const auto found = theirs.find(layout_.DigestOf(at));
    if (found == theirs.end() || held_.IsHere(at) ||
        !layout_.IsOfForm(at, found->second)) {
      continue;
    }
    held_.Hold(at, found->second);
    Arrived(at);
  }
}

absl::Status InputChunks::Supply(const ChunkId& chunk,
                                 absl::string_view bytes) {
  const int64_t at = layout_.PositionOf(chunk);
  if (at < 0) return absl::InvalidArgumentError("a chunk of no input");
  DOGGED_ASSIGN_OR_RETURN(const Value value, supply_.Take(at, bytes));
  held_.Hold(at, value);
  Arrived(at);
  return absl::OkStatus();
}

// --- others

Bytes InputChunks::AnswerWithout(absl::string_view body) {
  Decoder in(body);
  if (static_cast<ChunkWord>(in.GetU8()) != ChunkWord::kWish) return {};
  const ChunkPositions wanted = DecodeChunkPositions(in);
  if (!in.Finish("wish").ok() || wanted.empty()) return {};
  return EncodeChunkWord(ChunkWord::kAbsent, wanted);
}

absl::Status InputChunks::Receive(const Pass& pass, AgentId from,
                                  absl::string_view body) {
  Decoder in(body);
  const auto word = static_cast<ChunkWord>(in.GetU8());
  if (word == ChunkWord::kChunk || word == ChunkWord::kLent) {
    return ReceiveBytes(pass.now, from, in, word == ChunkWord::kLent);
  }
  const ChunkPositions chunks = DecodeChunkPositions(in);
  DOGGED_RETURN_IF_ERROR(in.Finish("word about chunks"));
  for (const int64_t at : chunks) {
    if (!layout_.Contains(at)) {
      return absl::InvalidArgumentError("a chunk of no input");
    }
  }
  switch (word) {
    case ChunkWord::kWish:
      for (const int64_t at : giver_.ReceiveWish(from, chunks, pass.out))
        Want(at);
      return absl::OkStatus();
    case ChunkWord::kKeep:
      for (const int64_t at : giver_.ReceiveKeep(from, chunks, pass.out)) {
        search_.NoteLikely(from);
        Want(at);
      }
      return absl::OkStatus();
    case ChunkWord::kHeld:
      partners_.NoteHeld(pass.now, from, chunks);
      return absl::OkStatus();
    case ChunkWord::kComing:
      search_.NoteComing(pass.now, from, chunks);
      return absl::OkStatus();
    case ChunkWord::kAbsent:
      search_.NoteAbsent(pass.now, from, chunks);
      return absl::OkStatus();
    case ChunkWord::kChunk:
    case ChunkWord::kLent:
      break;  // dealt with above
  }
  return absl::InvalidArgumentError("no word about chunks");
}

absl::Status InputChunks::ReceiveBytes(absl::Time now, AgentId from,
                                       Decoder& in, bool is_lent) {
  const int64_t at = in.GetSigned();
  if (!in.ok() || !layout_.Contains(at)) {
    return absl::InvalidArgumentError("a chunk of no input");
  }
  Value value;
  if (is_lent) {
    const Loan loan = Loan::DecodeFrom(in);
    DOGGED_RETURN_IF_ERROR(in.Finish("loan of a chunk"));
    if (options_.lending == nullptr) return absl::OkStatus();
    // A loan that is refused counts as lost.
    value = options_.lending->Borrow(from, loan);
    if (value.IsNone()) return absl::OkStatus();
  } else if (!held_.IsHeld(at)) {
    value = layout_.ValueOf(at, in.GetRaw(in.remaining()));
  }
  search_.NoteHeard(now, from);
  // The chunk is not awaited any more, or came before.
  if (held_.IsHeld(at) || !search_.IsOpen(at)) return absl::OkStatus();
  if (value.IsNone() || value.digest() != layout_.DigestOf(at) ||
      value.bytes() != layout_.BytesOf(at)) {
    return absl::InvalidArgumentError("a chunk that is not what it should be");
  }
  received_bytes_ += value.bytes();
  held_.Hold(at, value);
  Arrived(at);
  return absl::OkStatus();
}

void InputChunks::Tick(const Pass& pass, absl::Span<const AgentId> others) {
  giver_.ServeWaiters(pass.out);
  search_.AskOthers(pass, others);
  // As long as a client is there it is the partner.
  if (supply_.has_client() && !is_leaving_) return;
  partners_.FindPartners(pass, others);
}

void InputChunks::OnDisk(const ValueStore::Event& event) {
  const int64_t at = layout_.PositionOf(event.label);
  if (at < 0) return;
  switch (held_.OnDisk(at, event)) {
    case HeldChunks::DiskNews::kNone:
      // Other agents may have been asked for it before it was found here.
      if (held_.IsWritten(at) && search_.IsOpen(at)) Want(at);
      return;
    case HeldChunks::DiskNews::kArrived:
      return Arrived(at);
    case HeldChunks::DiskNews::kLost:
      partners_.Doubt(at);
      return Want(at);
  }
}

void InputChunks::Release(bool drops) {
  held_.Release(drops);
  search_.EndAll();
  giver_.Release();
  supply_.End();
}

InputChunks::Counts InputChunks::counts() const {
  return {.received_bytes = received_bytes_,
          .supplied_bytes = std::max(
              int64_t{0}, supply_.supplied_bytes() - held_.writing_bytes()),
          .read_bytes = readers_.read_bytes()};
}

}  // namespace dogged
