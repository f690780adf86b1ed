// ClientProcess: `dogged client`, started beside this process.
//
// Neither the terminal's signals nor descriptors of this process reach it. It
// ends when the other end of its socket does.
#ifndef DOGGED_APPS_CLIENT_CLIENT_PROCESS_H_
#define DOGGED_APPS_CLIENT_CLIENT_PROCESS_H_

#include <sys/types.h>

#include <string>

#include "apps/client/client_descriptor.h"
#include "apps/client/client_error.h"

namespace dogged {

class ClientProcess {
 public:
  ClientProcess() = default;
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;
  ~ClientProcess() { End(); }

  // `socket` is our end. Errors: DOGGED_MISTYPED, with the path.
  ClientError Start(ClientDescriptor& socket);
  // Our end was closed. Waits, and insists after five seconds.
  void End();

  const std::string& command() const { return command_; }

 private:
  // $DOGGED_COMMAND, or $DOGGED as in Python, or the one of this library's
  // prefix, or the first on PATH.
  static ClientError Find(std::string& out);

  std::string command_;
  pid_t pid_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_PROCESS_H_
