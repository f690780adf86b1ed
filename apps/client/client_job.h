// ClientJob: a job that was submitted: its events, its end, its results.
//
// Thread-safe; Note() and Lose() are for the thread that reads.
#ifndef DOGGED_APPS_CLIENT_CLIENT_JOB_H_
#define DOGGED_APPS_CLIENT_CLIENT_JOB_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/client/client_descriptor.h"
#include "apps/client/client_error.h"

namespace dogged {

class ClientSession;

class ClientJob : public std::enable_shared_from_this<ClientJob> {
 public:
  ClientJob(std::shared_ptr<ClientSession> session, int64_t number,
            std::string program, std::string hash);
  ClientJob(const ClientJob&) = delete;
  ClientJob& operator=(const ClientJob&) = delete;
  ~ClientJob();

  // Events come from now on. Errors: DOGGED_NO_ROOM for want of a descriptor.
  ClientError Begin();
  void Note(const nlohmann::json& event);
  // The client process has ended. Nothing, if the job has.
  void Lose(const ClientError& why);

  const std::string& hash() const { return hash_; }
  // The descriptor of dogged_job_fd().
  int readable() const { return readable_.number(); }

  ClientError Wait(double seconds);
  ClientError Cancel();
  // The client process needs to keep nothing for it.
  void Forget();
  ClientError Result(const std::string& name, dogged_view& out);
  // Texts live until the next call.
  void NextEvent(dogged_event& out);
  const char* Report();

 private:
  struct LastEvent {
    std::string who;
    std::string words;
    std::string json;
  };

  void Append(const nlohmann::json& event);  // mutex_ is held
  ClientError NameOf(const std::string& name, std::string& out) const;
  ClientError WaitLocked(std::unique_lock<std::mutex>& lock, double seconds);

  const std::shared_ptr<ClientSession> session_;
  const int64_t number_;
  const std::string program_;
  const std::string hash_;
  ClientDescriptor readable_;  // while events_ is not empty

  std::mutex taking_;  // a result is handed over once

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<nlohmann::json> events_;
  nlohmann::json end_;  // "done" or "failed"; null while it runs
  ClientError error_;   // of the end
  std::string report_;
  LastEvent last_event_;
  std::map<std::string, dogged_view> views_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_JOB_H_
