#include "apps/dogged/run/patience.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/client/find_agents.h"
#include "apps/dogged/run/interrupt.h"
#include "routing/control/poller.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(500);

}  // namespace

absl::Status Outlive(absl::Duration patience,
                     absl::FunctionRef<absl::Status()> attempt,
                     absl::FunctionRef<void(absl::string_view words)> say) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + patience;
  absl::Status status = attempt();
  if (!absl::IsUnavailable(status) || patience <= absl::ZeroDuration()) {
    return status;
  }
  DOGGED_ASSIGN_OR_RETURN(const std::unique_ptr<Poller> poller,
                          Poller::Create());
  say(absl::StrCat(status.message(), "; waits up to ",
                   absl::FormatDuration(patience), " for agents to come"));
  while (absl::IsUnavailable(status) && clock.Now() < deadline) {
    (void)poller->Wait(kPause);
    if (IsInterrupted()) return absl::CancelledError("interrupted");
    status = attempt();
  }
  return status;
}

absl::StatusOr<std::unique_ptr<ClusterClient>> ConnectPatiently(
    const RunOptions& options, const ClusterClient::Options& client_options) {
  std::unique_ptr<ClusterClient> out;
  const auto connect = [&]() -> absl::Status {
    DOGGED_ASSIGN_OR_RETURN(std::vector<std::string> addresses,
                            FindAgents(options.cluster, options.credentials));
    DOGGED_ASSIGN_OR_RETURN(
        out, ClusterClient::Connect(std::move(addresses), client_options));
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(
      Outlive(options.patience, connect, [](absl::string_view words) {
        std::fprintf(stderr, "%s\n", std::string(words).c_str());
      }));
  return out;
}

}  // namespace dogged
