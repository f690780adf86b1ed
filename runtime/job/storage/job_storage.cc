#include "runtime/job/storage/job_storage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kReliefInterval = absl::Milliseconds(2);
// A state without progress for so long is final.
constexpr absl::Duration kStuckTime = absl::Seconds(2);

}  // namespace

JobStorage::JobStorage(Options options, ValueStore* store,
                       const Relations& relations, const LabelRelations& labels,
                       Shard& shard)
    : relations_(relations),
      values_(std::move(options), store, labels, shard),
      tasks_(relations, shard, values_),
      needs_(relations, values_.options().bytes_max) {}

// --- making room

void JobStorage::Relieve(absl::Time now,
                         absl::FunctionRef<void(Visit)> replace_inputs) {
  const int64_t room = bytes_max() - room_wanted_;
  const int64_t high = std::min(bytes_max() / 4 * 3, room);
  const int64_t target = std::min(bytes_max() / 8 * 5, room);
  if (live_bytes() <= high || now < next_relief_) return;
  next_relief_ = now + kReliefInterval;
  // Waiting tasks need to know only that their inputs are there. Inputs that
  // share a block with the shard are replaced first: nothing is lost by it.
  const auto spill_shared = [](const Value& v) {
    return v.IsUnique() || v.bytes() < kSpilledMin ? v : v.Spilled();
  };
  replace_inputs(spill_shared);
  tasks_.ReplaceInputs(spill_shared);
  values_.Evict(target);
  if (live_bytes() <= high) return;
  // Values that other agents hold have to be fetched again.
  const auto spill_all = [](const Value& v) {
    return v.bytes() < kSpilledMin ? v : v.Spilled();
  };
  replace_inputs(spill_all);
  tasks_.ReplaceInputs(spill_all);
  if (values_.disk().ok()) return;
  stuck_ = Annotate(values_.disk(), absl::StrCat(live_bytes(),
                                                 " bytes of values are "
                                                 "more than --memory ",
                                                 bytes_max(), " has room for"));
}

// --- tasks

bool JobStorage::MustLoad(const Activation& record) const {
  for (const Value& input : record.inputs) {
    if (input.IsSpilled()) return true;
  }
  return has_store() && bytes_max() > 0 &&
         relations_.RequiredCount(record.task) > 0 &&
         (loading_count() > 0 || IsPressed());
}

void JobStorage::SetKernels(std::shared_ptr<const KernelTable> kernels,
                            int workers) {
  if (!has_store() || bytes_max() == 0) return;
  stuck_ = needs_.SetKernels(std::move(kernels), workers,
                             values_.options().generation_interval);
}

std::vector<std::unique_ptr<Activation>> JobStorage::Advance(
    absl::Time now, int64_t running, int workers,
    absl::FunctionRef<bool(const Label&)> is_result,
    absl::FunctionRef<void(Visit)> replace_inputs) {
  if (has_store()) {
    values_.TakeNews(now, is_result);
    if (bytes_max() > 0) Relieve(now, replace_inputs);
    values_.StartWrites();
  }
  tasks_.Retry(now);
  StartTasks(now, running, workers);
  return tasks_.TakeReady();
}

void JobStorage::StartTasks(absl::Time now, int64_t running, int workers) {
  room_wanted_ = 0;
  bool is_stuck = false;
  // Nothing that goes on now would make room.
  const auto is_idle = [&] {
    return running == 0 && tasks_.active_count() == 0;
  };
  while (tasks_.HasNext() &&
         running + tasks_.active_count() < 2 * workers + 2) {
    const int64_t bytes =
        tasks_.NextSpilledBytes() + needs_.OutputsOf(tasks_.Next());
    if (bytes_max() > 0 && !HasRoom(is_idle(), bytes)) {
      is_stuck = is_idle() && !values_.IsWriting();
      if (is_stuck && now - stuck_since_ > kStuckTime) NoteStuck(bytes);
      break;
    }
    tasks_.StartNext(now, bytes);
  }
  if (!is_stuck) stuck_since_ = absl::InfiniteFuture();
  if (is_stuck && stuck_since_ == absl::InfiniteFuture()) stuck_since_ = now;
}

bool JobStorage::HasRoom(bool is_idle, int64_t bytes) {
  const int64_t reserved = tasks_.reserved_bytes();
  const int64_t bound = is_idle ? bytes_max() : bytes_max() / 8 * 7;
  if (live_bytes() + reserved + bytes <= bound) return true;
  room_wanted_ = reserved + bytes;
  return false;
}

void JobStorage::NoteStuck(int64_t bytes) {
  const int64_t live = live_bytes();
  stuck_ = absl::ResourceExhaustedError(absl::StrCat(
      "task ", relations_.program().TaskText(tasks_.Next()), " needs ", bytes,
      " bytes more for its inputs and output, beside ", live,
      " bytes of values that can't go; --memory ", bytes_max(),
      " is too little, ", needs_.Enough(live, bytes), " would do"));
}

// --- values

bool JobStorage::Note(const ValueStore::Event& event) {
  const bool is_lost = values_.Note(event);
  if (event.kind == ValueStore::Event::Kind::kLoaded) {
    tasks_.Offer(event.label, event.value);
  }
  return is_lost;
}

}  // namespace dogged
