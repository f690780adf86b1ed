// ResultFetch: results of a job on their way to this command, which waits for
// them. Results that died with the agents that had them are made again.
#ifndef DOGGED_APPS_DOGGED_JOBS_RESULT_FETCH_H_
#define DOGGED_APPS_DOGGED_JOBS_RESULT_FETCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/jobs/result_watch.h"
#include "apps/dogged/report/progress_printer.h"
#include "runtime/base/clock.h"
#include "runtime/base/label.h"
#include "runtime/graph/job.h"
#include "runtime/graph/relations.h"

namespace dogged {

class ResultFetch {
 public:
  // `client` and `job` outlive this.
  ResultFetch(ClusterClient& client, NamedJob named, const Job& job);

  // The client has all results of the job afterwards, or `labels`, some of a
  // job that is done.
  //
  // Errors: kCancelled by an interrupt; kDataLoss for results that are lost and
  //         can't be made again; why the job ended; as Collect().
  absl::Status Run(const std::vector<Label>& labels = {});

 private:
  void Show(ProgressPrinter& progress);

  ClusterClient& client_;
  SystemClock clock_;
  const Relations relations_;
  const int64_t executed_;  // before
  const bool was_done_;
  ResultWatch watch_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_RESULT_FETCH_H_
