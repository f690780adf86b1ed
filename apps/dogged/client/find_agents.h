// The agents that --cluster means.
#ifndef DOGGED_APPS_DOGGED_CLIENT_FIND_AGENTS_H_
#define DOGGED_APPS_DOGGED_CLIENT_FIND_AGENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/trust/credentials.h"

namespace dogged {

// Addresses of agents at the meeting points that `cluster` names. If there are
// several the first one takes connections, and silent ones come last; if a
// folder or a name is among the points it has our key, too. `credentials` may
// be null. Errors: kNotFound for words that mean nothing; kUnavailable if no
// agent is there, with what was seen there.
absl::StatusOr<std::vector<std::string>> FindAgents(
    absl::string_view cluster, const std::shared_ptr<Credentials>& credentials);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_FIND_AGENTS_H_
