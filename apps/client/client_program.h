// ClientProgram: a program with its parameters, compiled and proved by the
// client process.
//
// Thread-safe. Texts that users got stay where they are as long as this does.
#ifndef DOGGED_APPS_CLIENT_CLIENT_PROGRAM_H_
#define DOGGED_APPS_CLIENT_CLIENT_PROGRAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/client/client_error.h"
#include "apps/client/client_job.h"
#include "apps/client/client_session.h"

namespace dogged {

class ClientProgram {
 public:
  // Its source, as users give it.
  struct Source {
    std::string text;
    std::string file;  // "": a name made of the text
    nlohmann::json parameters = nlohmann::json::object();
  };

  ClientProgram(std::shared_ptr<ClientSession> session, Source source);

  // Errors: DOGGED_PROGRAM_WRONG, with the place.
  ClientError Check();
  ClientError Want(const std::string& labels);

  ClientError Input(size_t index, dogged_array& out);
  ClientError Result(size_t index, const char*& name);
  const char* facts();

  // Errors: also for inputs that are missing, of another type, or null.
  ClientError Submit(const dogged_submission& submission,
                     std::shared_ptr<ClientJob>& out);

 private:
  struct Facts {
    std::string json;
    std::string program;
    std::deque<std::string> names;  // of the arrays
    std::vector<dogged_array> inputs;
    std::vector<std::string> results;
  };

  ClientError CheckWith(const std::vector<std::string>& want);
  nlohmann::json Fields(const char* request,
                        const std::vector<std::string>& want) const;
  ClientError CheckInputs(const dogged_submission& submission) const;

  const std::shared_ptr<ClientSession> session_;
  const Source source_;

  std::mutex mutex_;
  std::vector<std::string> want_;
  std::deque<Facts> facts_;  // the last are those that hold
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_PROGRAM_H_
