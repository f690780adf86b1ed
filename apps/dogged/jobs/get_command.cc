#include "apps/dogged/jobs/get_command.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/jobs/result_fetch.h"
#include "apps/dogged/jobs/watched_labels.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/report/outputs.h"
#include "dsl/dense_view.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

// A number, or words where JSON has none: "nan", "-inf".
nlohmann::ordered_json NumberJson(const Value& value) {
  if (value.type() == ElementType::kInt64) return value.span<int64_t>()[0];
  const double number = value.type() == ElementType::kFloat
                            ? static_cast<double>(value.span<float>()[0])
                            : value.span<double>()[0];
  if (std::isfinite(number)) return number;
  return NumberText(value);
}

// The job is done, and the label is one of its results.
bool IsResultOf(const NamedJob& named, const Job& job, const Label& label) {
  if (named.record().state != JobState::kDone) return false;
  const Relations relations(job.program);
  Rounds rounds(relations);
  rounds.Raise(named.record().round, named.record().is_last_round);
  return rounds.HasEnded() && rounds.ResultsAt(label) > 0;
}

// The value of the label from an agent that has it. Results of a job that is
// done are made again.
absl::StatusOr<Value> Take(const NamedLabels& asked, const Label& label) {
  ClusterClient& client = *asked.client;
  const NamedJob& named = asked.named;
  DOGGED_ASSIGN_OR_RETURN(const auto held,
                          client.TakeHeld(named.record().job(), {label}));
  if (!held.empty()) return held.front().second;
  const Program& program = asked.job.program;
  if (IsResultOf(named, asked.job, label)) {
    DOGGED_RETURN_IF_ERROR(ResultFetch(client, named, asked.job).Run({label}));
    return client.Find(label);
  }
  return absl::AbortedError(absl::StrCat(
      program.LabelText(label),
      named.record().state == JobState::kRunning
          ? " is at no agent now: it is not made yet, or was used up and "
            "dropped"
          : absl::StrCat(" is at no agent any more; results of this job are ",
                         ResultWords(program))));
}

// The number of a label of the user's that a tile holds, which is a result.
absl::StatusOr<Value> TakeFromTile(const NamedLabels& asked) {
  const dsl::SelectedLabels& box = asked.wanted.box;
  const Program& program = asked.ended.program;
  const ResultView& view = program.views[box.view];
  const auto take = [&asked](const Label& label) { return Take(asked, label); };
  DOGGED_ASSIGN_OR_RETURN(const dsl::DenseView dense,
                          dsl::DenseView::Of(program, view, take));
  dsl::DenseView::Box element;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    if (view.tile_index[d] < 0) continue;
    element.first.push_back((box.lower[d] - view.lower[d]) / view.step[d]);
    element.extents.push_back(1);
  }
  DOGGED_ASSIGN_OR_RETURN(const Value block, dense.Assemble(element, take));
  Value out = Value::Allocate(block.type(), {});
  std::memcpy(out.mutable_data(), block.data(), out.bytes());
  out.Seal();
  return out;
}

// The value of the one label that is asked for, and its name.
absl::StatusOr<std::pair<std::string, Value>> TakeOne(
    const NamedLabels& asked) {
  const WantedLabels& wanted = asked.wanted;
  const bool is_in_tile = !wanted.array && wanted.box.view >= 0 &&
                          asked.named.record().state == JobState::kDone;
  if (is_in_tile) {
    DOGGED_ASSIGN_OR_RETURN(Value value, TakeFromTile(asked));
    const std::string& array = asked.ended.program.views[wanted.box.view].array;
    const Label label = {.index = IndexVector(wanted.box.lower)};
    return std::pair(label.ToString(array), std::move(value));
  }
  DOGGED_ASSIGN_OR_RETURN(const std::vector<Label> labels, LabelsOf(wanted));
  DOGGED_ASSIGN_OR_RETURN(Value value, Take(asked, labels.front()));
  return std::pair(asked.job.program.LabelText(labels.front()),
                   std::move(value));
}

absl::Status Get(const ClusterOptions& options,
                 const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const NamedLabels asked,
                          OpenLabels(options, environment));
  DOGGED_RETURN_IF_ERROR(EndOf(asked.named.record()));
  if (asked.wanted.Count() != 1) {
    return absl::NotFoundError(absl::StrCat(
        options.label, " are ", asked.wanted.Count(),
        " labels: name one by its indices, or `dogged fetch` them"));
  }
  DOGGED_ASSIGN_OR_RETURN(const auto taken, TakeOne(asked));
  const auto& [label, value] = taken;
  if (options.json) {
    nlohmann::ordered_json out = {
        {"job", asked.named.hash},
        {"program", asked.named.record().name},
        {"label", label},
        {"type", ElementName(value.type())},
        {"shape",
         std::vector<int64_t>(value.shape().begin(), value.shape().end())}};
    // A block gives its shape alone.
    if (value.element_count() == 1) out["value"] = NumberJson(value);
    SetAnswer(std::move(out));
    return absl::OkStatus();
  }
  std::printf("%s\n", LabelLine(label, value).c_str());
  return absl::OkStatus();
}

}  // namespace

ExitCode GetCommand(const ClusterOptions& options,
                    const Environment& environment) {
  const absl::Status status = Get(options, environment);
  return status.ok() ? ExitCode::kDone : PrintError(status);
}

}  // namespace dogged
