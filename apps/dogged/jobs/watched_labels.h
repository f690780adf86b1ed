// WatchedLabels: labels of a job that `get` and `watch` ask for by the user's
// names, and their values as text.
#ifndef DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_
#define DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/process/environment.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"

namespace dogged {

// The labels of `selection`, as 'change(:)', in ascending order.
//
// Errors: kNotFound for what is no selection, is none of this program, is more
//         than can be watched, or lies in tiles, where agents know no labels of
//         the user's.
absl::StatusOr<std::vector<Label>> LabelsOf(const Job& job,
                                            const std::string& selection,
                                            const KernelSource& kernels);

// NamedLabels: the job that a command names, and its labels.
struct NamedLabels {
  std::unique_ptr<ClusterClient> client;
  NamedJob named;
  Job job;
  std::vector<Label> labels;
};
// Errors: as OpenCluster(), FindNamedJob(), FetchJob() and LabelsOf().
absl::StatusOr<NamedLabels> OpenLabels(const ClusterOptions& options,
                                       const Environment& environment);

// "change(50) = 0.125"; of a block its shape.
std::string LabelLine(const Program& program, const Label& label,
                      const Value& value);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_
