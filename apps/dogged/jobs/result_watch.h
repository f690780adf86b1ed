// ResultWatch: whether results of a job that the agents have had before this
// client asked for them still come. Those that died with their agents are made
// again, unless an agent says that it can't.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_JOBS_RESULT_WATCH_H_
#define DOGGED_APPS_DOGGED_JOBS_RESULT_WATCH_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"

namespace dogged {

class ResultWatch {
 public:
  // `client` is attached to the job and outlives this.
  ResultWatch(const ClusterClient& client, NamedJob named, absl::Time now)
      : client_(client), named_(std::move(named)), moved_(now) {}

  // Takes in how the job stands at `now`. Errors: why it ended; kDataLoss for
  // results that are lost and are not made again.
  absl::Status Note(NamedJob named, absl::Time now);
  const NamedJob& named() const { return named_; }
  bool IsDone() const { return named_.record().state == JobState::kDone; }

 private:
  const ClusterClient& client_;
  NamedJob named_;    // as of the last Note()
  absl::Time moved_;  // when a result came or a task ended
  int64_t moves_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_RESULT_WATCH_H_
