// SiteTree: switches and hosts as a tree, while a description of a site is
// read (site_readers.h); gives hosts their digits.
#ifndef DOGGED_ROUTING_TOPOLOGY_SITE_TREE_H_
#define DOGGED_ROUTING_TOPOLOGY_SITE_TREE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/topology/topology_id.h"

namespace dogged {

class SiteTree {
 public:
  // Errors: kInvalidArgument if the child has another parent already, or is a
  //         host here and a switch there.
  absl::Status PutSwitch(absl::string_view name);
  absl::Status PutSwitchIn(absl::string_view child, absl::string_view parent);
  absl::Status PutHostIn(absl::string_view host, absl::string_view parent);

  int64_t host_count() const { return host_count_; }

  // Numbers the children of each switch in the order in which they came. A
  // level of the tree has as many digits as its widest switch needs.
  //
  // Errors: kInvalidArgument for a cycle, or more digits than an ID holds.
  absl::StatusOr<std::map<std::string, TopologyId>> Number(int base) const;

 private:
  struct Node {
    std::string name;
    bool is_host = false;
    int parent = -1;
    std::vector<int> children;
  };
  struct Family {  // siblings, and the digits of their parent
    std::vector<int> children;
    std::string digits;
  };
  struct Numbered {
    int node = 0;
    std::string digits;
  };
  absl::StatusOr<int> FindOrAdd(absl::string_view name, bool is_host);
  absl::Status Link(int child, int parent);
  absl::Status CheckCycles() const;
  std::vector<bool> LeadsToHosts() const;
  static std::vector<Numbered> NumberFamilies(
      const std::vector<Family>& families, int base);

  std::vector<Node> nodes_;
  std::map<std::string, int> index_;
  int64_t host_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TOPOLOGY_SITE_TREE_H_
