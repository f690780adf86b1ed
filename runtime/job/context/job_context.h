// JobContext: state that all components of one job's run share: the program and
// how it is run, the ports to the executor and to other agents, and reports of
// the components: counts, progress, times, failure.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_CONTEXT_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_CONTEXT_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/lending/lending.h"
#include "kvstore/messages/job_messenger.h"
#include "runtime/base/random.h"
#include "runtime/exec/executor.h"
#include "runtime/graph/job.h"
#include "runtime/graph/relations.h"
#include "runtime/job/context/job_dependencies.h"
#include "runtime/job/context/job_goal.h"
#include "runtime/job/context/job_messages.h"
#include "runtime/job/context/job_options.h"
#include "runtime/job/context/job_stats.h"
#include "runtime/job/context/program_labels.h"
#include "runtime/job/context/stall_detector.h"
#include "runtime/job/context/task_times.h"
#include "runtime/job/context/trouble.h"
#include "runtime/job/inputs/input_chunks.h"

namespace dogged {

struct JobContext {
  explicit JobContext(const JobDependencies& parts)
      : self(parts.self),
        id(parts.id),
        job(parts.job),
        options(parts.options),
        limits(LimitsOf(parts)),
        relations(job->program),
        labels_of_program(relations),
        forward(!options.search_only && job->program.every_task_needed),
        executor(*parts.executor),
        lending(parts.lending),
        inputs(parts.inputs),
        rng(parts.rng),
        dictionary{.self = self,
                   .replicas = options.replicas,
                   .forward = forward,
                   .limits = limits,
                   .relations = labels_of_program,
                   .lending = lending,
                   .link_rate = parts.link_rate,
                   .stats = stats,
                   .messenger = JobMessenger({.self = self, .job = id},
                                             limits.batch_bytes_max,
                                             *parts.multicast, stats)},
        goal(relations),
        times(job->program.classes.size(), limits) {}
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;

  const Program& program() const { return job->program; }
  // The first failure stays.
  void Fail(absl::Status status) { dictionary.Fail(std::move(status)); }
  bool IsUnable() const { return trouble.kind == TroubleKind::kUnable; }
  // Something of this job may have been lost, so labels may be made again.
  bool HasLost() const { return rebuild_after != absl::InfinitePast(); }

  static JobLimits LimitsOf(const JobDependencies& parts) {
    JobLimits limits = parts.limits;
    if (parts.options.redo_max_ms > 0) {
      limits.cuts.redo_max = absl::Milliseconds(parts.options.redo_max_ms);
    }
    return limits;
  }

  // --- constant after construction
  const AgentId self;
  const JobId id;
  const std::shared_ptr<const Job> job;
  const JobOptions options;
  const JobLimits limits;
  const Relations relations;
  const ProgramLabels labels_of_program;
  // Tasks run as their inputs come: that wastes nothing only where every task
  // is needed. Else only tasks that walks find are run.
  const bool forward;

  // --- ports
  Executor& executor;
  Lending* const lending;     // null: values are copied
  InputChunks* const inputs;  // null: all inputs are in the job

  // --- written by any component
  Rng rng;
  JobStats stats;
  LabelContext dictionary;  // what its components share
  JobMessenger& messenger = dictionary.messenger;
  absl::Status& failure = dictionary.failure;  // OK: the job goes on
  JobGoal goal;
  StallDetector stall;
  TaskTimes times;
  // After a death nothing is rebuilt before this: copies come first.
  absl::Time rebuild_after = absl::InfinitePast();
  absl::Time next_sweep = absl::InfinitePast();
  Trouble trouble;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_CONTEXT_H_
