#include "apps/dogged/jobs/watched_labels.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/report/outputs.h"
#include "apps/output/selection.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int64_t kLabelsMax = 1'000'000;

// The labels of a box, in ascending order.
std::vector<Label> LabelsIn(int32_t array, const dsl::SelectedLabels& box) {
  std::vector<Label> out;
  IndexVector at;
  for (const int64_t first : box.lower) at.push_back(first);
  while (true) {
    out.push_back({.array = array, .index = at});
    int d = at.size() - 1;
    while (d >= 0 && at[d] + box.step[d] > box.upper[d]) {
      at[d] = box.lower[d];
      --d;
    }
    if (d < 0) return out;
    at[d] += box.step[d];
  }
}

}  // namespace

absl::StatusOr<std::vector<Label>> LabelsOf(const Job& job,
                                            const std::string& selection,
                                            const KernelSource& kernels) {
  // Only the form of what stands before a file is wanted.
  const auto parsed = ParseSelection(absl::StrCat(selection, "=any.npy"));
  if (!parsed.ok()) {
    return absl::NotFoundError(std::string(parsed.status().message()));
  }
  DOGGED_ASSIGN_OR_RETURN(const std::vector<dsl::SelectedLabels> selected,
                          SelectLabels(job, {parsed->text}, "LABEL", kernels));
  const dsl::SelectedLabels& box = selected.front();
  double count = 1;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    count *=
        static_cast<double>((box.upper[d] - box.lower[d]) / box.step[d] + 1);
  }
  if (count > kLabelsMax) {
    return absl::NotFoundError(
        absl::StrCat(parsed->text, " are ", count, " labels, ", kLabelsMax,
                     " are the most: give ranges of its indices"));
  }
  const std::optional<int32_t> array = job.program.FindArray(parsed->array);
  const bool is_users = array.has_value() &&
                        job.program.arrays[static_cast<size_t>(*array)].rank ==
                            static_cast<int32_t>(box.lower.size());
  if (!is_users) {
    return absl::NotFoundError(absl::StrCat(
        parsed->text, " lies in tiles, of which agents know no single labels: ",
        box.view >= 0 ? "`dogged fetch` writes it, as a result, to a file"
                      : "submit the program with --want to fetch it, or with "
                        "--coalesce off to look at it"));
  }
  return LabelsIn(*array, box);
}

absl::StatusOr<NamedLabels> OpenLabels(const ClusterOptions& options,
                                       const Environment& environment) {
  NamedLabels out;
  DOGGED_ASSIGN_OR_RETURN(out.client, OpenCluster(options, environment));
  DOGGED_ASSIGN_OR_RETURN(
      out.named, FindNamedJob(*out.client, options.job, options.cluster));
  DOGGED_ASSIGN_OR_RETURN(out.job, FetchJob(*out.client, out.named));
  const KernelSource kernels(environment);
  DOGGED_ASSIGN_OR_RETURN(out.labels,
                          LabelsOf(out.job, options.label, kernels));
  return out;
}

std::string LabelLine(const Program& program, const Label& label,
                      const Value& value) {
  const std::string text =
      value.element_count() == 1
          ? NumberText(value)
          : absl::StrCat("a block of ", value.shape().ToString(), " ",
                         ElementName(value.type()), "s");
  return absl::StrCat(program.LabelText(label), " = ", text);
}

}  // namespace dogged
