#include "apps/client/client_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/client/client_job.h"

namespace dogged {
namespace {

// The schema of docs/JSON.md.
constexpr int64_t kSchema = 1;

}  // namespace

ClientError ClientSession::Open(const dogged_options& options) {
  ClientDescriptor socket;
  ClientError error = process_.Start(socket);
  if (!error.ok()) return error;
  nlohmann::json hello;
  error = wire_.Start(
      std::move(socket),
      {.on_event = [this](const nlohmann::json& event) { OnEvent(event); },
       .on_end = [this] { OnEnd(); }},
      hello);
  if (!error.ok()) {
    return ErrorOf(DOGGED_WRONG_ABI, process_.command() + " " + error.message +
                                         ": is it the dogged command of this "
                                         "library's release?");
  }
  if (TextIn(hello, "hello") != "dogged client" ||
      NumberIn(hello, "schema") != kSchema) {
    return ErrorOf(DOGGED_WRONG_ABI,
                   process_.command() + " speaks schema " +
                       std::to_string(NumberIn(hello, "schema")) +
                       ", and this library speaks " + std::to_string(kSchema) +
                       ": take both of one release");
  }
  const bool has_cluster = options.cluster != nullptr;
  if (options.agents == 0 && !has_cluster) return {};
  nlohmann::json fields = {{"do", "open"}};
  if (options.agents != 0) fields["agents"] = options.agents;
  if (options.workers != 0) fields["workers"] = options.workers;
  if (has_cluster) fields["cluster"] = options.cluster;
  if (options.key_file != nullptr) fields["key_file"] = options.key_file;
  if (options.insecure != 0) fields["insecure"] = true;
  ClientWire::Reply reply;
  return wire_.Ask(std::move(fields), {}, reply);
}

void ClientSession::Close() {
  wire_.Close();
  process_.End();
}

void ClientSession::AddJob(int64_t number,
                           const std::shared_ptr<ClientJob>& job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_run_ = std::max(last_run_, number);
  const auto early = early_.find(number);
  if (early != early_.end()) {
    for (const nlohmann::json& event : early->second) job->Note(event);
    early_.erase(early);
  }
  jobs_[number] = job;
  if (has_ended_) job->Lose(wire_.Gone());
}

void ClientSession::RemoveJob(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  jobs_.erase(number);
}

void ClientSession::OnEvent(const nlohmann::json& event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t number = NumberIn(event, "run");
  const auto it = jobs_.find(number);
  if (it == jobs_.end()) {
    // Jobs that are freed have had numbers before.
    if (number > last_run_) early_[number].push_back(event);
    return;
  }
  if (const auto job = it->second.lock()) job->Note(event);
}

void ClientSession::OnEnd() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  for (const auto& [number, weak] : jobs_) {
    if (const auto job = weak.lock()) job->Lose(wire_.Gone());
  }
}

}  // namespace dogged
