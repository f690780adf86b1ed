// WatchedLabels: labels of a job that `get` and `watch` ask for by the user's
// names, and their values as text.
#ifndef DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_
#define DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_options.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/process/environment.h"
#include "dsl/lower/selections.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/job.h"

namespace dogged {

// WantedLabels: what a selection, as 'change(:)', means in a job. A loop that
// has ended is one without a loop.
struct WantedLabels {
  std::string text;
  dsl::SelectedLabels box;
  // The array of which they are labels; none where tiles hold them, of which
  // agents know no labels of the user's.
  std::optional<int32_t> array;

  double Count() const;
};
// Errors: kNotFound for what is no selection, or none of this program.
absl::StatusOr<WantedLabels> Wanted(const Job& job,
                                    const std::string& selection,
                                    const KernelSource& kernels);

// The labels, in ascending order. Errors: kNotFound for more than can be
// watched, and for those that lie in tiles.
absl::StatusOr<std::vector<Label>> LabelsOf(const WantedLabels& wanted);

// NamedLabels: the job that a command names, and the labels that it asks for.
struct NamedLabels {
  std::unique_ptr<ClusterClient> client;
  NamedJob named;
  Job job;
  Job ended;            // EndedJob() of it
  WantedLabels wanted;  // of `ended`
};
// Errors: as OpenCluster(), FindNamedJob(), FetchJob() and Wanted().
absl::StatusOr<NamedLabels> OpenLabels(const ClusterOptions& options,
                                       const Environment& environment);

// "change(50) = 0.125", of a label's text; of a block its shape.
std::string LabelLine(const std::string& label, const Value& value);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_WATCHED_LABELS_H_
