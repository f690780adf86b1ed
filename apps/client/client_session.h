// ClientSession: a client process, the agents that it works with, and the jobs
// that events go to.
//
// Thread-safe; Open() and Close() are called once.
#ifndef DOGGED_APPS_CLIENT_CLIENT_SESSION_H_
#define DOGGED_APPS_CLIENT_CLIENT_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/client/client_error.h"
#include "apps/client/client_process.h"
#include "apps/client/client_wire.h"

namespace dogged {

class ClientJob;

class ClientSession {
 public:
  ClientSession() = default;
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;
  ~ClientSession() { Close(); }

  // Errors: also of agents that don't start or answer; DOGGED_WRONG_ABI for a
  // command of another schema.
  ClientError Open(const dogged_options& options);
  // Jobs that run are lost to this process.
  void Close();

  ClientError Ask(nlohmann::json fields, const std::vector<int>& descriptors,
                  ClientWire::Reply& out) {
    return wire_.Ask(std::move(fields), descriptors, out);
  }
  void Tell(nlohmann::json fields) { wire_.Tell(std::move(fields)); }

  // Events of this run go to the job, also those that came already.
  void AddJob(int64_t number, const std::shared_ptr<ClientJob>& job);
  void RemoveJob(int64_t number);

 private:
  void OnEvent(const nlohmann::json& event);
  void OnEnd();

  ClientProcess process_;
  ClientWire wire_;

  std::mutex mutex_;
  std::map<int64_t, std::weak_ptr<ClientJob>> jobs_;
  // Events of runs whose number the submitting thread has not got yet.
  std::map<int64_t, std::vector<nlohmann::json>> early_;
  int64_t last_run_ = 0;
  bool has_ended_ = false;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_SESSION_H_
