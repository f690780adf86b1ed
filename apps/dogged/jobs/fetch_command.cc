#include "apps/dogged/jobs/fetch_command.h"

#include <cstdio>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/client/result_room.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/jobs/result_fetch.h"
#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/report/outputs.h"
#include "apps/dogged/report/outputs_json.h"
#include "apps/dogged/run/finish_run.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/writers/agent_outputs.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

absl::Status SetOutputLabels(const Job& job, const KernelSource& kernels,
                             std::vector<Output>& outputs) {
  std::vector<std::string> selections;
  for (const Output& output : outputs) {
    selections.push_back(output.selection.text);
  }
  DOGGED_ASSIGN_OR_RETURN(
      std::vector<dsl::SelectedLabels> labels,
      SelectResults(job, selections, "fetch", "--want", kernels));
  return SetLabels(std::move(labels), outputs);
}

// The same again for a loop that ran when `named` was known: its end tells
// which labels there are.
absl::Status SetEndedLabels(const Job& job, const NamedJob& named, int64_t time,
                            const KernelSource& kernels,
                            std::vector<Output>& outputs) {
  const bool was_known =
      named.record().state == JobState::kDone && named.record().is_last_round;
  if (!job.program.repeat.has_value() || was_known || outputs.empty()) {
    return absl::OkStatus();
  }
  return SetOutputLabels(EndedJob(job, time), kernels, outputs);
}

// Waits until the job has ended; `named` is how it ended.
absl::Status AwaitDone(ClusterClient& client, NamedJob& named) {
  while (named.record().state != JobState::kDone) {
    if (IsInterrupted()) {
      return absl::CancelledError(absl::StrCat(
          "interrupted: nothing of ", named.ToWords(), " was written"));
    }
    DOGGED_RETURN_IF_ERROR(client.Serve(kPollInterval));
    auto now = PollNamedJob(client, named.record().hash);
    if (now.empty()) continue;
    named = std::move(now.front());
    DOGGED_RETURN_IF_ERROR(EndOf(named.record()));
  }
  return absl::OkStatus();
}

nlohmann::ordered_json ReportJson(const NamedJob& named,
                                  const RunReport& report) {
  nlohmann::ordered_json out = {
      {"job", named.hash},
      {"program", named.record().name},
      {"result_digest", report.result_digest.ToString()},
      {"results_not_finite", report.results_not_finite},
      {"outputs", OutputsJson(report.outputs)}};
  if (report.loop.has_value()) out["loop"] = report.loop->ToJson();
  if (!report.outputs_failed.empty()) {
    out["outputs_failed"] = report.outputs_failed;
  }
  return out;
}

ExitCode FetchOrThrow(const ClusterOptions& options,
                      const Environment& environment) {
  auto outputs = ParseOutputs(options.outputs, options.output_form);
  if (!outputs.ok()) return PrintError(outputs.status());
  const ResultRoom room = RoomForResults(*outputs, environment);
  const auto opened = OpenCluster(options, environment, &room);
  if (!opened.ok()) return PrintError(opened.status());
  ClusterClient* const client = opened->get();
  const auto named = FindNamedJob(*client, options.job, options.cluster);
  if (!named.ok()) return PrintError(named.status());
  const absl::Status end = EndOf(named->record());
  if (!end.ok()) return PrintError(end);
  LoadedProgram loaded;
  auto job = FetchJob(*client, *named);
  if (!job.ok()) return PrintError(job.status());
  loaded.job = *std::move(job);
  const KernelSource kernels(environment);
  if (!outputs->empty()) {
    const absl::Status set = SetOutputLabels(
        EndedJob(loaded.job, named->record()), kernels, *outputs);
    if (!set.ok()) return PrintError(set);
  }
  const absl::Status axes = CheckAxes(options.output_form, *outputs);
  if (!axes.ok()) return PrintError(axes);
  RunReport report;
  ExitCode code = ExitCode::kDone;
  auto deferred = std::make_unique<InterruptsDeferred>();
  if (options.output_to == "agents") {
    if (outputs->empty()) {
      return PrintError(
          absl::NotFoundError("--output-to agents: there is no SELECTION=FILE "
                              "for them to write"));
    }
    NamedJob done = *named;
    auto keys = OpenCredentials(options.keys, environment);
    if (!keys.ok()) return PrintError(keys.status());
    const absl::Status ended = AwaitDone(*client, done);
    if (!ended.ok()) return PrintError(ended);
    const Relations all(loaded.job.program);
    Rounds rounds(all);
    rounds.Raise(done.record().round, done.record().is_last_round);
    const absl::Status set =
        SetEndedLabels(loaded.job, *named, rounds.time(), kernels, *outputs);
    if (!set.ok()) return PrintError(set);
    const auto written =
        WriteByAgents({.connect = ConnectWith(*std::move(keys)),
                       .addresses = client->Addresses(),
                       .job = done.record().job(),
                       .is_interrupted = IsInterrupted},
                      EndedProgram(loaded, rounds.time()).job.program,
                      environment.entropy, *outputs, report);
    if (!written.ok()) return PrintError(written.status());
    code = *written;
    if (outputs->empty()) {
      report.loop = LoopEndOf(loaded.job.program, rounds.time());
      report.result_digest = done.record().result_digest;
      if (options.json) SetAnswer(ReportJson(done, report));
      return code;
    }
  }
  const absl::Status fetched = ResultFetch(*client, *named, loaded.job).Run();
  if (!fetched.ok()) return PrintError(fetched);
  const auto find = [&client](const Label& label) -> absl::StatusOr<Value> {
    DOGGED_ASSIGN_OR_RETURN(Value value, client->Find(label));
    if (value.IsNone()) return absl::InternalError("a result is missing");
    return value;
  };
  const LoadedProgram ended = EndedProgram(loaded, client->rounds().time());
  report.loop = LoopEndOf(loaded.job.program, client->rounds().time());
  const absl::Status set = SetEndedLabels(
      loaded.job, *named, client->rounds().time(), kernels, *outputs);
  if (!set.ok()) return PrintError(set);
  dsl::ResultViews views(ended.job.program, find, room.bytes_max);
  NotFinite not_finite(ended.job.program);
  const auto digest = DigestOfAll(views, not_finite);
  if (!digest.ok()) return PrintError(digest.status());
  report.result_digest = *digest;
  const absl::Status right = CheckDigest(*digest, named->record());
  if (!right.ok()) return PrintError(right);
  report.results_not_finite = not_finite.Warn();
  deferred.reset();
  const ExitCode here = WriteOutputs(*outputs, views, report);
  if (here != ExitCode::kDone) code = here;
  if (options.json) {
    SetAnswer(ReportJson(*named, report));
    return code;
  }
  const auto numbers = NumbersAmongResults(ended.job.program, find);
  if (!numbers.ok()) return PrintError(numbers.status());
  std::printf("%s", numbers->c_str());
  if (outputs->empty() && numbers->empty()) {
    std::fprintf(stderr, "nothing is written: %s has %s; 'ARRAY=FILE' writes\n",
                 named->ToWords().c_str(),
                 ResultWords(ended.job.program).c_str());
  }
  return code;
}

}  // namespace

ExitCode FetchCommand(const ClusterOptions& options,
                      const Environment& environment) {
  CatchInterrupts("interrupted: nothing was written\n");
  try {
    return FetchOrThrow(options, environment);
  } catch (const std::bad_alloc&) {
    return PrintError(OrNoAddresses(absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that this process had"))));
  }
}

}  // namespace dogged
