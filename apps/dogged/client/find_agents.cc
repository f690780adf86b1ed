#include "apps/dogged/client/find_agents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/rendezvous/meeting_point.h"
#include "apps/dogged/rendezvous/point_listing.h"
#include "routing/control/first_answer.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// For each address while one is looked for: a living agent takes a connection
// at once.
constexpr absl::Duration kProbeTimeout = absl::Seconds(1);
// And for all of them.
constexpr absl::Duration kProbesTimeout = absl::Seconds(10);

bool IsThere(const ConnectControl& connect, const std::string& address,
             std::string& words) {
  const auto client = connect(address, kProbeTimeout);
  if (!client.ok()) words = std::string(client.status().message());
  return client.ok();
}

absl::Status NobodyAt(absl::string_view cluster,
                      const std::vector<std::string>& troubles) {
  return absl::UnavailableError(absl::StrCat(
      "no agent answers at ", cluster, ": ", absl::StrJoin(troubles, "; ")));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindAgents(
    absl::string_view cluster,
    const std::shared_ptr<Credentials>& credentials) {
  const auto points = ParseMeetingPoints({std::string(cluster)}, "--cluster");
  if (!points.ok()) return absl::NotFoundError(points.status().message());
  PointReader reader{.host = HostName(), .keys = {}};
  if (credentials != nullptr) {
    reader.keys = credentials->KeyIds();
    reader.has_certificate = credentials->certificates() != nullptr;
  }
  std::vector<std::string> addresses;
  std::vector<std::string> troubles;
  bool has_listing = false;
  for (const MeetingPoint& point : *points) {
    if (point.kind == MeetingPoint::Kind::kAddress) {
      addresses.push_back(point.text);
      continue;
    }
    has_listing = true;
    PointListing listing = ListPoint(point, reader);
    if (!listing.trouble.empty())
      troubles.push_back(std::move(listing.trouble));
    for (std::string& address : listing.addresses) {
      addresses.push_back(std::move(address));
    }
  }
  if (addresses.size() > 1) {
    auto order = FirstAnswer(addresses);
    if (!order.ok()) {
      troubles.emplace_back(order.status().message());
      return NobodyAt(cluster, troubles);
    }
    addresses = *std::move(order);
  }
  if (!has_listing) return addresses;
  const ConnectControl connect = ConnectWith(credentials);
  std::string words = "no address of an agent is there";
  SystemClock clock;
  const absl::Time deadline = clock.Now() + kProbesTimeout;
  const auto first = std::find_if(
      addresses.begin(), addresses.end(), [&](const auto& address) {
        return clock.Now() < deadline && IsThere(connect, address, words);
      });
  if (first != addresses.end()) {
    // Addresses before it are of killed agents, mostly.
    std::rotate(addresses.begin(), first, addresses.end());
    return addresses;
  }
  troubles.push_back(words);
  if (addresses.size() > 1) {
    troubles.push_back(absl::StrCat(addresses.size(), " addresses are there"));
  }
  return NobodyAt(cluster, troubles);
}

}  // namespace dogged
