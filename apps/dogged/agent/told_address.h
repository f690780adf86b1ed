// Told addresses: other agents and clients reach an agent by them. An agent
// listens at them, or, if that is all interfaces or behind a translation,
// --advertise gives them.
#ifndef DOGGED_APPS_DOGGED_AGENT_TOLD_ADDRESS_H_
#define DOGGED_APPS_DOGGED_AGENT_TOLD_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "apps/dogged/agent/agent_options.h"
#include "routing/membership/view.h"

namespace dogged {

// Checks the addresses. Errors name the flag: kInvalidArgument for addresses
// that nobody can be told, and for names that mean loopback here; as
// ResolveAddress().
absl::Status CheckTold(const AgentCommandOptions& options);

// Checks that agents of other hosts can reach what a name leads to, as those
// who meet them somewhere want. Errors: as CheckTold().
absl::Status CheckReach(const AgentCommandOptions& options);

// The control address that others are told, of a port bound at `bound`:
// numeric, so that nobody has to look it up.
std::string ToldControl(const AgentCommandOptions& options,
                        absl::string_view bound);
// At which address the connections between agents listen.
std::string FabricHost(const AgentCommandOptions& options,
                       absl::string_view bound);
// The fabric address that others are told, of a transport that listens at
// FabricHost() and has that Transport::address().
std::string ToldFabric(const AgentCommandOptions& options,
                       absl::string_view address);

// HOST:PORT of the connections between agents.
absl::string_view FabricAddressOf(const Member& member);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_TOLD_ADDRESS_H_
