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

namespace dogged {
namespace {

struct State {
  bool is_wanted = false;
  bool wants_events = false;
  std::string command;
  std::optional<nlohmann::ordered_json> object;
  std::string error;
  nlohmann::ordered_json diagnostics = nlohmann::ordered_json::array();
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  // Up to the status, for handlers of signals; null: no answer is wanted, or it
  // is printed.
  std::string at_once;
  std::atomic<const char*> at_once_text{nullptr};
};

State& StateOfAnswer() {
  static State state;
  return state;
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

void WantAnswer(const std::string& command, bool wants_events) {
  State& state = StateOfAnswer();
  state.is_wanted = true;
  state.wants_events = wants_events;
  state.command = command;
  nlohmann::ordered_json head = {{"schema", kAnswerSchema}};
  if (wants_events) head["event"] = "failed";
  head["command"] = command;
  head["status"] = 0;
  state.at_once = JsonText(head);
  state.at_once.resize(state.at_once.size() - 2);  // without "0}"
  state.at_once_text = state.at_once.c_str();
}

bool WantsAnswer() { return StateOfAnswer().is_wanted; }

bool WantsEvents() { return StateOfAnswer().wants_events; }

void SetAnswer(nlohmann::ordered_json object) {
  StateOfAnswer().object = std::move(object);
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
  State& state = StateOfAnswer();
  if (state.error.empty()) state.error = std::string(message);
}

void NoteDiagnostics(const dsl::Diagnostics& diagnostics) {
  StateOfAnswer().diagnostics = DiagnosticsJson(diagnostics);
}

void NoteWritten(nlohmann::ordered_json output) {
  PrintEvent("written", output);
  StateOfAnswer().outputs.push_back(std::move(output));
}

void PrintAnswer(ExitCode code) {
  State& state = StateOfAnswer();
  if (!state.is_wanted || state.at_once_text.exchange(nullptr) == nullptr) {
    return;
  }
  nlohmann::ordered_json out = {{"schema", kAnswerSchema}};
  if (state.wants_events) {
    out["event"] = code == ExitCode::kDone ? "done" : "failed";
  }
  out["command"] = state.command;
  out["status"] = static_cast<int>(code);
  if (code != ExitCode::kDone) {
    out["error"] = ErrorJson(code, state.error, state.diagnostics);
  }
  if (!state.diagnostics.empty()) out["diagnostics"] = state.diagnostics;
  if (state.object.has_value()) {
    out.update(*state.object);
  } else if (!state.outputs.empty()) {
    out["outputs"] = state.outputs;
  }
  PrintLine(out);
}

void PrintAnswerAtOnce(ExitCode code) {
  const char* const head = StateOfAnswer().at_once_text.exchange(nullptr);
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
