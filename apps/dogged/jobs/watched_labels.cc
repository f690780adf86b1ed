#include "apps/dogged/jobs/watched_labels.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/report/outputs.h"
#include "apps/output/selection.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"

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

// Tasks of the program make more labels than one.
bool HasTiles(const Program& program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(),
                     [](const KernelSpec& spec) {
                       return spec.kind == "tile" || spec.kind == "nest" ||
                              spec.kind == "chunk";
                     });
}

// The array of this name of which the labels of `box` are single ones. Tiles
// and chunks keep an array in blocks, beside an array of its name without
// labels, or with those of a part of it.
std::optional<int32_t> ArrayWith(const Program& program,
                                 const std::string& name,
                                 const dsl::SelectedLabels& box) {
  const Relations relations(program);
  std::optional<int32_t> out;
  for (size_t a = 0; a < program.arrays.size(); ++a) {
    if (program.arrays[a].name != name ||
        program.arrays[a].rank != std::ssize(box.lower)) {
      continue;
    }
    const auto array = static_cast<int32_t>(a);
    const auto is_made = [&](const std::vector<int64_t>& index) {
      return relations.ProducerOf({.array = array, .index = IndexVector(index)})
          .has_value();
    };
    if (is_made(box.lower) && is_made(box.upper)) return array;
    if (!out.has_value()) out = array;
  }
  return HasTiles(program) ? std::nullopt : out;
}

}  // namespace

double WantedLabels::Count() const {
  double count = 1;
  for (size_t d = 0; d < box.lower.size(); ++d) {
    count *=
        static_cast<double>((box.upper[d] - box.lower[d]) / box.step[d] + 1);
  }
  return count;
}

absl::StatusOr<WantedLabels> Wanted(const Job& job,
                                    const std::string& selection,
                                    const KernelSource& kernels) {
  // Only the form of what stands before a file is wanted.
  const auto parsed = ParseLabels(selection);
  if (!parsed.ok()) {
    return absl::NotFoundError(std::string(parsed.status().message()));
  }
  DOGGED_ASSIGN_OR_RETURN(std::vector<dsl::SelectedLabels> selected,
                          SelectLabels(job, {parsed->text}, "LABEL", kernels));
  WantedLabels out{.text = parsed->text, .box = std::move(selected.front())};
  out.array = ArrayWith(job.program, parsed->array, out.box);
  return out;
}

absl::StatusOr<std::vector<Label>> LabelsOf(const WantedLabels& wanted) {
  if (wanted.Count() > kLabelsMax) {
    return absl::NotFoundError(
        absl::StrCat(wanted.text, " are ", wanted.Count(), " labels, ",
                     kLabelsMax, " are the most: give ranges of its indices"));
  }
  if (!wanted.array) {
    return absl::NotFoundError(absl::StrCat(
        wanted.text, " lies in tiles, of which agents know no single labels: ",
        wanted.box.view >= 0
            ? "`dogged fetch` writes it, as a result, to a file"
            : "submit the program with --want to fetch it, or with "
              "--coalesce off to look at it"));
  }
  return LabelsIn(*wanted.array, wanted.box);
}

absl::StatusOr<NamedLabels> OpenLabels(const ClusterOptions& options,
                                       const Environment& environment) {
  NamedLabels out;
  DOGGED_ASSIGN_OR_RETURN(out.client, OpenCluster(options, environment));
  DOGGED_ASSIGN_OR_RETURN(
      out.named, FindNamedJob(*out.client, options.job, options.cluster));
  DOGGED_ASSIGN_OR_RETURN(out.job, FetchJob(*out.client, out.named));
  const KernelSource kernels(environment);
  out.ended = EndedJob(out.job, out.named.record());
  DOGGED_ASSIGN_OR_RETURN(out.wanted,
                          Wanted(out.ended, options.label, kernels));
  return out;
}

std::string LabelLine(const std::string& label, const Value& value) {
  const std::string text =
      value.element_count() == 1
          ? NumberText(value)
          : absl::StrCat("a block of ", value.shape().ToString(), " ",
                         ElementName(value.type()), "s");
  return absl::StrCat(label, " = ", text);
}

}  // namespace dogged
