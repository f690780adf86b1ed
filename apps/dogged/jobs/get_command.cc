#include "apps/dogged/jobs/get_command.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/jobs/watched_labels.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/report/outputs.h"
#include "runtime/base/status.h"

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

absl::Status Get(const ClusterOptions& options,
                 const Environment& environment) {
  DOGGED_ASSIGN_OR_RETURN(const NamedLabels asked,
                          OpenLabels(options, environment));
  const auto& [client, named, job, labels] = asked;
  if (labels.size() != 1) {
    return absl::NotFoundError(absl::StrCat(
        options.label, " are ", labels.size(),
        " labels: name one by its indices, or `dogged fetch` them"));
  }
  DOGGED_ASSIGN_OR_RETURN(const auto held,
                          client->TakeHeld(named.record().job(), labels));
  if (held.empty()) {
    const std::string name = job.program.LabelText(labels.front());
    return absl::AbortedError(
        named.record().state == JobState::kRunning
            ? absl::StrCat(name,
                           " is at no agent now: it is not made yet, or "
                           "was used up and dropped")
            : absl::StrCat(name,
                           " is at no agent any more; results of this "
                           "job are ",
                           ResultWords(job.program)));
  }
  const auto& [label, value] = held.front();
  if (options.json) {
    nlohmann::ordered_json out = {
        {"job", named.hash},
        {"program", named.record().name},
        {"label", job.program.LabelText(label)},
        {"type", ElementName(value.type())},
        {"shape",
         std::vector<int64_t>(value.shape().begin(), value.shape().end())}};
    // A block gives its shape alone.
    if (value.element_count() == 1) out["value"] = NumberJson(value);
    SetAnswer(std::move(out));
    return absl::OkStatus();
  }
  std::printf("%s\n", LabelLine(job.program, label, value).c_str());
  return absl::OkStatus();
}

}  // namespace

ExitCode GetCommand(const ClusterOptions& options,
                    const Environment& environment) {
  const absl::Status status = Get(options, environment);
  return status.ok() ? ExitCode::kDone : PrintError(status);
}

}  // namespace dogged
