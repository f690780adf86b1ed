// ClientError: how a call of the C interface ended, and the words of it.
//
// The library is for processes of others, so there is no Abseil in it: a
// function that may fail returns one of these, whose status is DOGGED_OK if it
// did not.
#ifndef DOGGED_APPS_CLIENT_CLIENT_ERROR_H_
#define DOGGED_APPS_CLIENT_CLIENT_ERROR_H_

#include <nlohmann/json.hpp>
#include <string>

#include "apps/client/dogged.h"

namespace dogged {

struct [[nodiscard]] ClientError {
  int status = DOGGED_OK;
  std::string message;
  std::string text;  // as a terminal shows it, of all errors of the program
  std::string code;
  std::string file;
  int line = 0;
  int column = 0;
  int end_column = 0;
  std::string note;
  std::string help;
  std::string task;
  std::string label;
  std::string agent;
  std::string json;

  bool ok() const { return status == DOGGED_OK; }
};

// Names of a task, label and agent are taken out of the message.
ClientError ErrorOf(int status, std::string message);
// For an answer or event with "status" and "error".
ClientError ErrorOf(const nlohmann::json& answer);

// Texts of unlike types, and such that are not there, are empty.
std::string TextIn(const nlohmann::json& object, const char* key);
int64_t NumberIn(const nlohmann::json& object, const char* key);
// Also of what is not UTF-8.
std::string JsonLine(const nlohmann::json& object);

// The last failure of this thread, as C sees it.
class LastError {
 public:
  static LastError& OfThisThread();

  // Its status. A success leaves the last failure.
  int Keep(ClientError error);
  const dogged_error& shown() const { return shown_; }

 private:
  LastError();

  ClientError error_;
  dogged_error shown_ = {};
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_ERROR_H_
