// JobStorage: where the bytes of one job's values are on this agent: in memory,
// on disk, or both; which are on their way from one to the other (ValueSpill);
// and which tasks wait for bytes before they may run (LoadingTasks). It decides
// when memory is short, and which loading task is next within the bound.
//
// A machine: no threads, clocks or messages. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_STORAGE_JOB_STORAGE_H_
#define DOGGED_RUNTIME_JOB_STORAGE_JOB_STORAGE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/shard.h"
#include "kvstore/storage/stored_values.h"
#include "kvstore/storage/value_store.h"
#include "runtime/base/ids.h"
#include "runtime/exec/activation_table.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"
#include "runtime/job/storage/loading_tasks.h"
#include "runtime/job/storage/memory_needs.h"
#include "runtime/job/storage/value_spill.h"

namespace dogged {

class JobStorage : public StoredValues {
 public:
  using Options = StorageOptions;
  using Loaded = LoadedValue;

  // `store` may be null: then nothing is ever written. All outlive this.
  JobStorage(Options options, ValueStore* store, const Relations& relations,
             const LabelRelations& labels, Shard& shard);
  JobStorage(const JobStorage&) = delete;
  JobStorage& operator=(const JobStorage&) = delete;

  bool has_store() const override { return values_.has_store(); }
  bool keeps_values() const override { return values_.options().keeps_values; }
  bool is_bounded() const override { return bytes_max() > 0; }
  int64_t bytes_max() const { return values_.options().bytes_max; }
  int64_t live_bytes() const { return values_.live_bytes(); }
  // No task that requires nothing should start while others run.
  bool IsPressed() const { return values_.IsPressed(); }

  // --- tasks
  // A task with these inputs can't run at once.
  bool MustLoad(const Activation& record) const;
  void AddLoading(std::unique_ptr<Activation> record) {
    tasks_.Add(std::move(record));
  }
  // Forgets `task`; false if it was not loading.
  bool Drop(const Task& task) { return tasks_.Drop(task); }
  std::vector<Task> AllLoading() const { return tasks_.All(); }
  bool IsLoading(const Task& task) const { return tasks_.Contains(task); }
  int64_t loading_count() const { return tasks_.size(); }
  // The memory that tasks take is known from now on, on an agent of so many
  // workers; see stuck().
  void SetKernels(std::shared_ptr<const KernelTable> kernels, int workers);
  // See MemoryNeeds.
  absl::Status Judge(const Task& task, int64_t bytes) const {
    return needs_.Judge(task, bytes);
  }
  // Spills values if memory is short, writes values, and hands out loading
  // tasks whose inputs are all here. `running` counts the tasks that have been
  // handed out and have not completed. `is_result` tells labels that must be
  // written; `replace_inputs` replaces each input of tasks that wait.
  using Visit = LoadingTasks::Visit;
  std::vector<std::unique_ptr<Activation>> Advance(
      absl::Time now, int64_t running, int workers,
      absl::FunctionRef<bool(const Label&)> is_result,
      absl::FunctionRef<void(Visit)> replace_inputs);
  // Inputs of loading tasks that this agent does not hold: to be demanded.
  std::vector<std::pair<Label, Task>> TakeRemote() {
    return tasks_.TakeRemote();
  }
  // Loading tasks whose inputs don't come: their spilled inputs count as
  // missing.
  std::vector<std::unique_ptr<Activation>> TakeReturned() {
    return tasks_.TakeReturned();
  }
  // The reason for which no task can ever run; OK as long as one may.
  const absl::Status& stuck() const { return stuck_; }

  // --- values; see ValueSpill
  void Load(const Label& label, const std::set<AgentId>& targets) override {
    values_.Load(label, targets);
  }
  std::vector<Loaded> TakeLoaded() { return values_.TakeLoaded(); }
  // Takes bytes that came from elsewhere, maybe for a loading task.
  void Offer(const Label& label, const Value& value) override {
    tasks_.Offer(label, value);
  }
  // An event of this job; see ValueSpill. Loading tasks get what was loaded.
  bool Note(const ValueStore::Event& event);
  void Adopt(const Label& label, LabelEntry& entry, const Value& value) {
    values_.Adopt(label, entry, value);
  }
  void Scan() { values_.Scan(); }
  void Conclude() { values_.Conclude(); }
  // See ValueSpill.
  void WriteAll() { values_.WriteAll(); }
  bool IsWritten() const { return values_.IsWritten(); }
  // Memory that would need the disk is stuck from now on.
  bool GiveUpDisk(const absl::Status& cause) {
    return values_.GiveUpDisk(cause);
  }

 private:
  void Relieve(absl::Time now, absl::FunctionRef<void(Visit)> replace_inputs);
  // Lets loading tasks become active, as far as there is room.
  void StartTasks(absl::Time now, int64_t running, int workers);
  // The next one, which takes `bytes`, has room, alone or beside others; else
  // it is noted how much it wants.
  bool HasRoom(bool is_idle, int64_t bytes);
  // The next one can never run.
  void NoteStuck(int64_t bytes);

  const Relations& relations_;
  ValueSpill values_;   // values between memory and disk
  LoadingTasks tasks_;  // tasks that wait for bytes, or room
  MemoryNeeds needs_;   // of tasks, as foretold
  // Written by Advance() alone, and by SetKernels().
  int64_t room_wanted_ = 0;  // by the loading task that is next
  absl::Time next_relief_ = absl::InfinitePast();
  absl::Time stuck_since_ = absl::InfiniteFuture();
  absl::Status stuck_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_STORAGE_JOB_STORAGE_H_
