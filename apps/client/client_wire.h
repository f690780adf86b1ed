// ClientWire: the socket to a client process, with its lines and descriptors
// (docs/JSON.md), and the thread that reads.
//
// The thread reads always, so neither end ever waits for the other one to read.
// This thread blocks all signals: handlers of the user's run in the user's
// threads.
//
// Thread-safe, but for Start() and Close(), which are called once.
#ifndef DOGGED_APPS_CLIENT_CLIENT_WIRE_H_
#define DOGGED_APPS_CLIENT_CLIENT_WIRE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "apps/client/client_descriptor.h"
#include "apps/client/client_error.h"

namespace dogged {

class ClientWire {
 public:
  struct Reply {
    nlohmann::json fields;
    std::vector<ClientDescriptor> descriptors;
  };
  // In the thread that reads: an event, and the end of the other side.
  struct Listener {
    std::function<void(const nlohmann::json& event)> on_event;
    std::function<void()> on_end;
  };

  ClientWire() = default;
  ClientWire(const ClientWire&) = delete;
  ClientWire& operator=(const ClientWire&) = delete;
  ~ClientWire() { Close(); }

  // The first line that comes. Errors: DOGGED_CLIENT_GONE if none does.
  ClientError Start(ClientDescriptor socket, Listener listener,
                    nlohmann::json& hello);
  // Errors: of the answer; DOGGED_CLIENT_GONE.
  ClientError Ask(nlohmann::json fields, const std::vector<int>& descriptors,
                  Reply& out);
  // Nobody waits for the answer.
  void Tell(nlohmann::json fields);
  // Asking fails from now on, with words that say so.
  void Close();
  // Why nobody answers any more.
  ClientError Gone() const;

 private:
  struct Call {
    bool is_awaited = true;
    bool has_come = false;
    Reply reply;
  };

  ClientError Send(nlohmann::json fields, const std::vector<int>& descriptors,
                   bool is_awaited, int64_t& number);
  void Write(const std::string& line, const std::vector<int>& descriptors);
  void Read();
  bool Receive(std::string& rest);
  bool Deliver(const std::string& line);

  ClientDescriptor socket_;
  Listener listener_;
  std::thread reader_;

  std::mutex writing_;                 // whole lines
  std::deque<ClientDescriptor> came_;  // of the reader

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Call> calls_;
  int64_t last_call_ = 0;
  nlohmann::json hello_;
  bool has_ended_ = false;
  std::atomic<bool> is_closed_{false};  // by this process
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_WIRE_H_
