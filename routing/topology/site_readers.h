// Reads Slurm's topology.conf and dumps of ibnetdiscover into a SiteTree. The
// plain text of site_topology.h is read there.
#ifndef DOGGED_ROUTING_TOPOLOGY_SITE_READERS_H_
#define DOGGED_ROUTING_TOPOLOGY_SITE_READERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/topology/site_tree.h"

namespace dogged {

// Errors: as SiteTopology::Parse().
absl::StatusOr<SiteTree> ReadSlurmTopology(absl::string_view text);
absl::StatusOr<SiteTree> ReadIbnetdiscover(absl::string_view text);

// "tux[0-3,7],foo" as names; zeros in front are kept.
// Errors: kInvalidArgument for brackets that do not close, a range backwards
//         or of more than a million.
absl::StatusOr<std::vector<std::string>> ExpandHostList(absl::string_view text);

// An error about line `number` of a text.
absl::Status LineError(int number, absl::string_view what);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TOPOLOGY_SITE_READERS_H_
