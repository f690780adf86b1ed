// `dogged client`: the door for programs in other languages.
#ifndef DOGGED_APPS_DOGGED_DOOR_CLIENT_COMMAND_H_
#define DOGGED_APPS_DOGGED_DOOR_CLIENT_COMMAND_H_

#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/exit_code.h"

namespace dogged {

// Serves a DoorSession at the descriptor, which is a Unix socket; at standard
// input and output if it is less than 0. Until the other side has gone.
ExitCode ClientCommand(int socket, const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_CLIENT_COMMAND_H_
