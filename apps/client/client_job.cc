#include "apps/client/client_job.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "apps/client/client_session.h"
#include "apps/client/client_values.h"
#include "apps/client/lent_memory.h"

namespace dogged {
namespace {

constexpr double kSecondsMax = 1e8;

struct KindOfEvent {
  const char* name;
  int kind;
};
constexpr KindOfEvent kKinds[] = {
    {"submitted", DOGGED_SUBMITTED}, {"progress", DOGGED_PROGRESS},
    {"joined", DOGGED_JOINED},       {"left", DOGGED_LEFT},
    {"lost", DOGGED_LOST},           {"note", DOGGED_NOTE},
    {"done", DOGGED_DONE},           {"failed", DOGGED_FAILED}};

bool IsNamed(const nlohmann::json& event, const char* name) {
  return TextIn(event, "event") == name;
}

std::string WithoutBlanks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

}  // namespace

ClientJob::ClientJob(std::shared_ptr<ClientSession> session, int64_t number,
                     std::string program, std::string hash)
    : session_(std::move(session)),
      number_(number),
      program_(std::move(program)),
      hash_(std::move(hash)),
      readable_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ClientJob::~ClientJob() {
  for (const auto& [name, view] : views_) UnmapResult(view.data, view.bytes);
}

ClientError ClientJob::Begin() {
  if (readable_.number() < 0) {
    Forget();
    return ErrorOf(DOGGED_NO_ROOM,
                   std::string("no descriptor for events of the job: ") +
                       std::strerror(errno));
  }
  session_->AddJob(number_, shared_from_this());
  return {};
}

void ClientJob::Append(const nlohmann::json& event) {
  // Progress that nobody has seen is of no use beside a newer one.
  if (!events_.empty() && IsNamed(event, "progress") &&
      IsNamed(events_.back(), "progress")) {
    events_.pop_back();
  }
  if (events_.empty()) eventfd_write(readable_.number(), 1);
  events_.push_back(event);
  events_.back().erase("run");
}

void ClientJob::Note(const nlohmann::json& event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!end_.is_null()) return;
  Append(event);
  const bool has_failed = IsNamed(event, "failed");
  if (!has_failed && !IsNamed(event, "done")) return;
  const auto report = event.find("report");
  report_ = report == event.end() ? "{}" : JsonLine(*report);
  if (has_failed) error_ = ErrorOf(event);
  end_ = event;
  changed_.notify_all();
}

void ClientJob::Lose(const ClientError& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!end_.is_null()) return;
  report_ = "{}";
  error_ = why;
  end_ = {{"event", "failed"},
          {"status", why.status},
          {"error", {{"kind", "failed"}, {"message", why.message}}}};
  Append(end_);
  changed_.notify_all();
}

ClientError ClientJob::WaitLocked(std::unique_lock<std::mutex>& lock,
                                  double seconds) {
  const auto has_ended = [this] { return !end_.is_null(); };
  if (!(seconds >= 0)) {
    changed_.wait(lock, has_ended);
  } else if (!changed_.wait_for(
                 lock,
                 std::chrono::duration<double>(std::min(seconds, kSecondsMax)),
                 has_ended)) {
    return ErrorOf(DOGGED_TIMED_OUT, "job " + hash_.substr(0, 12) + " of " +
                                         program_ + " has not ended yet");
  }
  return error_;
}

ClientError ClientJob::Wait(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  return WaitLocked(lock, seconds);
}

ClientError ClientJob::Cancel() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!end_.is_null()) return {};
  }
  ClientWire::Reply reply;
  return session_->Ask({{"do", "cancel"}, {"run", number_}}, {}, reply);
}

void ClientJob::Forget() {
  session_->RemoveJob(number_);
  session_->Tell({{"do", "forget"}, {"run", number_}});
}

// `end_` is there.
ClientError ClientJob::NameOf(const std::string& name, std::string& out) const {
  const std::string squeezed = WithoutBlanks(name);
  std::vector<std::string> alike;
  std::string all;
  const auto results = end_.value("results", nlohmann::json::array());
  for (const auto& one : results) {
    const std::string full = TextIn(one, "name");
    if (full == name) {
      out = full;
      return {};
    }
    if (WithoutBlanks(full) == squeezed || TextIn(one, "array") == squeezed) {
      alike.push_back(full);
    }
    all += (all.empty() ? "" : ", ") + full;
  }
  if (alike.size() != 1) {
    return ErrorOf(DOGGED_MISTYPED,
                   name + " is no result of " + program_ + ", which has " +
                       all + "; more are given by dogged_program_want()");
  }
  out = alike.front();
  return {};
}

ClientError ClientJob::Result(const std::string& name, dogged_view& out) {
  std::string full;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    ClientError error = WaitLocked(lock, -1);
    if (!error.ok()) return error;
    error = NameOf(name, full);
    if (!error.ok()) return error;
  }
  const std::lock_guard<std::mutex> taking(taking_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = views_.find(full);
    if (it != views_.end()) {
      out = it->second;
      return {};
    }
  }
  ClientWire::Reply reply;
  ClientError error = session_->Ask(
      {{"do", "result"}, {"run", number_}, {"name", full}}, {}, reply);
  if (!error.ok()) return error;
  dogged_view view;
  error = ValueFrom(reply.fields, view);
  if (error.ok() && reply.descriptors.size() != 1) {
    // The system takes none that this process has no room for.
    error = ErrorOf(DOGGED_NO_ROOM, "no descriptor for result " + full +
                                        ": this process has as many as it may");
  }
  if (error.ok()) {
    error = MapResult(reply.descriptors.front(), view.bytes, view.data);
  }
  if (!error.ok()) return error;
  const std::lock_guard<std::mutex> lock(mutex_);
  views_[full] = view;
  out = view;
  return {};
}

void ClientJob::NextEvent(dogged_event& out) {
  out = {};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (events_.empty()) return;
  const nlohmann::json event = std::move(events_.front());
  events_.pop_front();
  if (events_.empty()) {
    eventfd_t count = 0;
    eventfd_read(readable_.number(), &count);
  }
  last_event_ = {.who = TextIn(event, "who"),
                 .words = TextIn(event, "words"),
                 .json = JsonLine(event)};
  if (last_event_.words.empty()) last_event_.words = TextIn(event, "cause");
  const auto error = event.find("error");
  if (error != event.end()) last_event_.words = TextIn(*error, "message");
  const auto found = std::find_if(
      std::begin(kKinds), std::end(kKinds),
      [&event](const KindOfEvent& one) { return IsNamed(event, one.name); });
  out.kind = found == std::end(kKinds) ? DOGGED_OTHER_EVENT : found->kind;
  out.done = NumberIn(event, "done");
  out.needed = NumberIn(event, "needed");
  out.who = last_event_.who.empty() ? nullptr : last_event_.who.c_str();
  out.words = last_event_.words.empty() ? nullptr : last_event_.words.c_str();
  out.json = last_event_.json.c_str();
}

const char* ClientJob::Report() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The report does not change once there is one.
  return end_.is_null() ? "{}" : report_.c_str();
}

}  // namespace dogged
