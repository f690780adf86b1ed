#include "apps/client/client_error.h"

#include <regex>
#include <utility>

namespace dogged {
namespace {

// The words of messages name these in one way (apps/python has the same).
constexpr const char* kTask = R"(\btask (\w+(?:\([^()]*\))+|\w+(?=:)))";
constexpr const char* kLabel = R"(\blabel (\w+(?:\([^()]*\))+))";
constexpr const char* kAgent =
    R"((?:^|[^\w.])((?:\d+\.){3}\d+:\d+|\[[0-9a-f:]+\]:\d+))";
// Beyond this, std::regex needs much stack.
constexpr size_t kSearchedMax = 4096;

std::string FirstOf(const char* pattern, const std::string& message) {
  std::smatch match;
  const std::string part = message.substr(0, kSearchedMax);
  return std::regex_search(part, match, std::regex(pattern)) ? match[1].str()
                                                             : std::string();
}

const char* OrNull(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

}  // namespace

std::string TextIn(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>()
                                               : std::string();
}

int64_t NumberIn(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

std::string JsonLine(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ClientError ErrorOf(int status, std::string message) {
  ClientError out{.status = status, .message = std::move(message)};
  out.task = FirstOf(kTask, out.message);
  out.label = FirstOf(kLabel, out.message);
  out.agent = FirstOf(kAgent, out.message);
  return out;
}

ClientError ErrorOf(const nlohmann::json& answer) {
  const auto it = answer.find("error");
  const nlohmann::json error =
      it != answer.end() && it->is_object() ? *it : nlohmann::json::object();
  std::string message = TextIn(error, "message");
  if (message.empty()) message = "it failed";
  int64_t status = NumberIn(answer, "status");
  // The command's statuses are ours; 130 and newer ones are failures.
  if (status < DOGGED_JOB_FAILED || status > DOGGED_NO_ROOM) {
    status = DOGGED_JOB_FAILED;
  }
  if (message == "the job was cancelled") status = DOGGED_CANCELLED;
  ClientError out = ErrorOf(static_cast<int>(status), std::move(message));
  out.code = TextIn(error, "code");
  out.file = TextIn(error, "file");
  out.line = static_cast<int>(NumberIn(error, "line"));
  out.column = static_cast<int>(NumberIn(error, "column"));
  out.end_column = static_cast<int>(NumberIn(error, "end_column"));
  out.note = TextIn(error, "note");
  out.help = TextIn(error, "help");
  const std::string task = TextIn(error, "task");
  if (!task.empty()) out.task = task;
  const auto diagnostics = answer.find("diagnostics");
  if (diagnostics != answer.end() && diagnostics->is_array()) {
    for (const auto& one : *diagnostics) {
      if (one.is_object() && TextIn(one, "severity") == "error") {
        out.text += TextIn(one, "text");
      }
    }
  }
  out.json = JsonLine(answer);
  return out;
}

LastError& LastError::OfThisThread() {
  static thread_local LastError error;
  return error;
}

LastError::LastError() { shown_.message = ""; }

int LastError::Keep(ClientError error) {
  const int status = error.status;
  if (status == DOGGED_OK) return status;
  error_ = std::move(error);
  shown_ = {.status = error_.status,
            .message = error_.message.c_str(),
            .text = OrNull(error_.text),
            .code = OrNull(error_.code),
            .file = OrNull(error_.file),
            .line = error_.line,
            .column = error_.column,
            .end_column = error_.end_column,
            .note = OrNull(error_.note),
            .help = OrNull(error_.help),
            .task = OrNull(error_.task),
            .label = OrNull(error_.label),
            .agent = OrNull(error_.agent),
            .json = OrNull(error_.json)};
  return status;
}

}  // namespace dogged
