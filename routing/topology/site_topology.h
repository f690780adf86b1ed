// SiteTopology: where the hosts of a site stand, read from its files: Slurm's
// topology.conf, a dump of ibnetdiscover, or a plain text file. Gives each host
// a topology ID of which a longer shared prefix means a shorter way. Immutable.
//
// The plain text, one statement a line, "#" starts a comment:
//
//     base 8                    digits of the IDs, 2 to 256
//     switch rack1 in row0      row0 need not be declared
//     host alpha in rack1
//     host beta id 0.3.1        its digits themselves; then for all hosts
//
// Differs: [MC section 4] lets users assign the IDs.
#ifndef DOGGED_ROUTING_TOPOLOGY_SITE_TOPOLOGY_H_
#define DOGGED_ROUTING_TOPOLOGY_SITE_TOPOLOGY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/ids.h"

namespace dogged {

class SiteTopology {
 public:
  static constexpr int64_t kHostsMax = 1 << 20;

  // `base` is that of the IDs unless the text names one. Which of the three
  // texts it is, its first words say.
  //
  // Errors: kInvalidArgument, with the line where there is one, for what is
  //         none of the three, a switch within itself, a host or switch in
  //         two places, two hosts with one ID, a digit that the base does not
  //         have, more digits than an ID holds, no host at all.
  static absl::StatusOr<SiteTopology> Parse(absl::string_view text, int base);

  // Errors: kNotFound for a host that the text does not name, neither in full
  //         nor up to the first dot.
  absl::StatusOr<TopologyId> IdOf(absl::string_view host) const;

  // By name. No ID is the beginning of another.
  const std::map<std::string, TopologyId>& hosts() const { return hosts_; }

 private:
  std::map<std::string, TopologyId> hosts_;
};

// A place within a host: counted from 1, or 0 for a process that may run on
// more than one of them.
struct HostPlace {
  int package = 0;
  int numa_node = 0;
};

// The ID of an agent on the host with ID `host`: two digits for `place`, then
// as many as it takes for 16 random bits, drawn from the agent's own random
// ID. Nobody is asked; should two agents of one place clash all the same, a
// message between them takes one step more.
[[nodiscard]] TopologyId ExtendTopologyId(const TopologyId& host,
                                          const HostPlace& place,
                                          AgentId agent);

}  // namespace dogged

#endif  // DOGGED_ROUTING_TOPOLOGY_SITE_TOPOLOGY_H_
