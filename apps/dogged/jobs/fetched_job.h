// FetchedJob: a job that agents know and this client knows by its hash: its
// program, without files, and the labels that selections mean in it.
#ifndef DOGGED_APPS_DOGGED_JOBS_FETCHED_JOB_H_
#define DOGGED_APPS_DOGGED_JOBS_FETCHED_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "dsl/compile.h"
#include "runtime/graph/job.h"

namespace dogged {

// The job's value, from any agent that has it. Errors: kDataLoss, in words that
// say what became of it, if none has; kResourceExhausted.
absl::StatusOr<Job> FetchJob(ClusterClient& client, const NamedJob& named);

// The job whose loop has ended with its parameter at `time`: without the loop,
// so that what is selected of it is what there is. `job`, if it has no loop.
Job EndedJob(const Job& job, int64_t time);
// Likewise, at the end that the record of a job that is done tells; `job` if it
// is none.
Job EndedJob(const Job& job, const JobRecord& record);

// The labels that each of `selections` of the command or field `from` means.
// `view` is that of the job's program which has all of them; -1: they are not
// its results.
//
// Errors: kNotFound for a selection that can't be had, with its place;
//         kInternal if the job's text does not compile here.
absl::StatusOr<std::vector<dsl::SelectedLabels>> SelectLabels(
    const Job& job, const std::vector<std::string>& selections,
    const std::string& from, const KernelSource& kernels);

// The same of labels that the job keeps: kNotFound for those that are no result
// of it, too. `option` is what the job's client wants more results by.
absl::StatusOr<std::vector<dsl::SelectedLabels>> SelectResults(
    const Job& job, const std::vector<std::string>& selections,
    const std::string& from, absl::string_view option,
    const KernelSource& kernels);

// kDataLoss for bits that are other than those that the job ended with: these
// are none of it.
absl::Status CheckDigest(const Digest& here, const JobRecord& record);

// "u(0:100)(1000)", for each of the job's results; "u(0:100)(T)" where a loop's
// end is one.
std::string ResultWords(const Program& program);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_JOBS_FETCHED_JOB_H_
