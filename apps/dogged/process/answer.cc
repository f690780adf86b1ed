#include "apps/dogged/process/answer.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "apps/dogged/process/diagnostics_json.h"
#include "apps/dogged/process/json_text.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// The way to main()'s answer, for functions that are not given it: handlers of
// signals among them.
struct WayToAnswer {
  Answer* answer = nullptr;
  // Up to the status; null: no answer is wanted, or it is printed.
  std::atomic<const char*> at_once{nullptr};
};

WayToAnswer& Way() {
  static WayToAnswer way;
  return way;
}

// "task factor(2): pivot 116 .." is the error of that task.
void AddTask(absl::string_view message, nlohmann::ordered_json& error) {
  if (!absl::ConsumePrefix(&message, "task ")) return;
  const size_t end = message.find(':');
  if (end == absl::string_view::npos) return;
  error["task"] = std::string(message.substr(0, end));
}

void PrintLine(const nlohmann::ordered_json& object) {
  std::printf("%s\n", JsonText(object).c_str());
}

}  // namespace

absl::string_view KindOf(ExitCode code) {
  switch (code) {
    case ExitCode::kDone:
      return "done";
    case ExitCode::kFailed:
      return "failed";
    case ExitCode::kMistyped:
      return "mistyped";
    case ExitCode::kWrong:
      return "wrong";
    case ExitCode::kNoAgents:
      return "no_agents";
    case ExitCode::kNoRoom:
      return "no_room";
    case ExitCode::kInterrupted:
      return "interrupted";
  }
  return "failed";
}

Answer::Answer() {
  DOGGED_CHECK(Way().answer == nullptr);
  Way().answer = this;
}

Answer::~Answer() {
  Way().at_once = nullptr;
  Way().answer = nullptr;
}

void Answer::Want(const std::string& command, bool wants_events) {
  is_wanted_ = true;
  wants_events_ = wants_events;
  command_ = command;
  nlohmann::ordered_json head = {{"schema", kAnswerSchema}};
  if (wants_events) head["event"] = "failed";
  head["command"] = command;
  head["status"] = 0;
  at_once_ = JsonText(head);
  at_once_.resize(at_once_.size() - 2);  // without "0}"
  Way().at_once = at_once_.c_str();
}

void Answer::NoteErrorWords(absl::string_view message) {
  if (error_.empty()) error_ = std::string(message);
}

void Answer::NoteDiagnostics(const dsl::Diagnostics& diagnostics) {
  diagnostics_ = DiagnosticsJson(diagnostics);
}

void Answer::NoteWritten(nlohmann::ordered_json output) {
  PrintEvent("written", output);
  outputs_.push_back(std::move(output));
}

void Answer::Print(ExitCode code) {
  if (!is_wanted_ || Way().at_once.exchange(nullptr) == nullptr) return;
  nlohmann::ordered_json out = {{"schema", kAnswerSchema}};
  if (wants_events_) {
    out["event"] = code == ExitCode::kDone ? "done" : "failed";
  }
  out["command"] = command_;
  out["status"] = static_cast<int>(code);
  if (code != ExitCode::kDone) {
    out["error"] = ErrorJson(code, error_, diagnostics_);
  }
  if (!diagnostics_.empty()) out["diagnostics"] = diagnostics_;
  if (object_.has_value()) {
    out.update(*object_);
  } else if (!outputs_.empty()) {
    out["outputs"] = outputs_;
  }
  PrintLine(out);
}

void WantAnswer(const std::string& command, bool wants_events) {
  if (Answer* const answer = Way().answer) answer->Want(command, wants_events);
}

bool WantsEvents() {
  const Answer* const answer = Way().answer;
  return answer != nullptr && answer->wants_events();
}

void SetAnswer(nlohmann::ordered_json object) {
  if (Answer* const answer = Way().answer) answer->Set(std::move(object));
}

void PrintEvent(absl::string_view event, nlohmann::ordered_json fields) {
  if (!WantsEvents()) return;
  nlohmann::ordered_json out = {{"schema", kAnswerSchema},
                                {"event", std::string(event)}};
  out.update(fields);
  PrintLine(out);
  std::fflush(stdout);
}

nlohmann::ordered_json ErrorJson(ExitCode code, absl::string_view message,
                                 const nlohmann::ordered_json& diagnostics) {
  nlohmann::ordered_json out = {{"kind", std::string(KindOf(code))}};
  for (const auto& one : diagnostics) {
    if (one["severity"] != "error") continue;
    out.update(one);
    out.erase("severity");
    return out;
  }
  out["message"] = std::string(message);
  AddTask(message, out);
  return out;
}

void NoteErrorWords(absl::string_view message) {
  if (Answer* const answer = Way().answer) answer->NoteErrorWords(message);
}

void NoteDiagnostics(const dsl::Diagnostics& diagnostics) {
  if (Answer* const answer = Way().answer) answer->NoteDiagnostics(diagnostics);
}

void NoteWritten(nlohmann::ordered_json output) {
  if (Answer* const answer = Way().answer)
    answer->NoteWritten(std::move(output));
}

void PrintAnswerAtOnce(ExitCode code) {
  const char* const head = Way().at_once.exchange(nullptr);
  if (head == nullptr) return;
  constexpr char kTail[] =
      ",\"error\":{\"message\":\"it ended at once; its words are on standard "
      "error\"}}\n";
  const int number = static_cast<int>(code);
  const char digits[] = {static_cast<char>('0' + number / 100),
                         static_cast<char>('0' + number / 10 % 10),
                         static_cast<char>('0' + number % 10), '\0'};
  const char* const shown = digits + (number < 10 ? 2 : number < 100 ? 1 : 0);
  for (const char* part : {head, shown, static_cast<const char*>(kTail)}) {
    if (write(STDOUT_FILENO, part, std::strlen(part)) < 0) return;
  }
}

}  // namespace dogged
