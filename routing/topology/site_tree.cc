#include "routing/topology/site_tree.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<int> SiteTree::FindOrAdd(absl::string_view name, bool is_host) {
  if (name.empty()) return absl::InvalidArgumentError("an empty name");
  const auto [it, is_new] =
      index_.try_emplace(std::string(name), static_cast<int>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({.name = std::string(name), .is_host = is_host});
    host_count_ += is_host;
  }
  if (nodes_[it->second].is_host != is_host) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is a host and a switch"));
  }
  return it->second;
}

absl::Status SiteTree::Link(int child, int parent) {
  Node& node = nodes_[child];
  if (node.parent == parent) return absl::OkStatus();
  if (node.parent >= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(node.name, " is in ", nodes_[node.parent].name, " and in ",
                     nodes_[parent].name));
  }
  node.parent = parent;
  nodes_[parent].children.push_back(child);
  return absl::OkStatus();
}

absl::Status SiteTree::PutSwitch(absl::string_view name) {
  return FindOrAdd(name, false).status();
}

absl::Status SiteTree::PutSwitchIn(absl::string_view child,
                                   absl::string_view parent) {
  DOGGED_ASSIGN_OR_RETURN(const int above, FindOrAdd(parent, false));
  DOGGED_ASSIGN_OR_RETURN(const int below, FindOrAdd(child, false));
  return Link(below, above);
}

absl::Status SiteTree::PutHostIn(absl::string_view host,
                                 absl::string_view parent) {
  DOGGED_ASSIGN_OR_RETURN(const int above, FindOrAdd(parent, false));
  DOGGED_ASSIGN_OR_RETURN(const int below, FindOrAdd(host, true));
  return Link(below, above);
}

absl::Status SiteTree::CheckCycles() const {
  std::vector<int> reached;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].parent < 0) reached.push_back(static_cast<int>(i));
  }
  std::vector<bool> is_reached(nodes_.size(), false);
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto node = static_cast<size_t>(reached[i]);
    is_reached[node] = true;
    reached.insert(reached.end(), nodes_[node].children.begin(),
                   nodes_[node].children.end());
  }
  const auto lost = std::find(is_reached.begin(), is_reached.end(), false);
  if (lost == is_reached.end()) return absl::OkStatus();
  // As many steps up as there are nodes, from a node that no root reaches, end
  // on the cycle.
  auto at = static_cast<int>(lost - is_reached.begin());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    at = nodes_[at].parent;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("switch ", nodes_[at].name, " is within itself"));
}

std::vector<bool> SiteTree::LeadsToHosts() const {
  std::vector<bool> leads(nodes_.size(), false);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    int at = nodes_[i].is_host ? static_cast<int>(i) : -1;
    for (; at >= 0 && !leads[at]; at = nodes_[at].parent) {
      leads[at] = true;
    }
  }
  return leads;
}

std::vector<SiteTree::Numbered> SiteTree::NumberFamilies(
    const std::vector<Family>& families, int base) {
  int64_t widest = 0;
  for (const Family& family : families) {
    widest = std::max<int64_t>(widest, std::ssize(family.children));
  }
  // An only child needs none.
  const int count = widest > 1 ? DigitsFor(widest, base) : 0;
  std::vector<Numbered> out;
  for (const Family& family : families) {
    for (size_t k = 0; k < family.children.size(); ++k) {
      std::string own(count, '\0');
      auto rest = static_cast<int64_t>(k);
      for (auto digit = own.rbegin(); digit != own.rend(); ++digit) {
        *digit = static_cast<char>(rest % base);
        rest /= base;
      }
      out.push_back({family.children[k], family.digits + own});
    }
  }
  return out;
}

absl::StatusOr<std::map<std::string, TopologyId>> SiteTree::Number(
    int base) const {
  DOGGED_RETURN_IF_ERROR(CheckCycles());
  const std::vector<bool> leads = LeadsToHosts();
  Family roots;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (leads[i] && nodes_[i].parent < 0) {
      roots.children.push_back(static_cast<int>(i));
    }
  }
  std::vector<Numbered> done;
  size_t longest = 1;  // also where there is one host
  std::vector<Numbered> level = NumberFamilies({roots}, base);
  while (!level.empty()) {
    std::vector<Family> families;
    for (Numbered& numbered : level) {
      const Node& node = nodes_[numbered.node];
      if (node.is_host) {
        longest = std::max(longest, numbered.digits.size());
        done.push_back(std::move(numbered));
        continue;
      }
      Family family{.digits = std::move(numbered.digits)};
      for (int child : node.children) {
        if (leads[child]) {
          family.children.push_back(child);
        }
      }
      families.push_back(std::move(family));
    }
    level = NumberFamilies(families, base);
  }
  std::map<std::string, TopologyId> hosts;
  for (Numbered& numbered : done) {
    numbered.digits.resize(longest, '\0');
    DOGGED_ASSIGN_OR_RETURN(hosts[nodes_[numbered.node].name],
                            TopologyId::FromDigits(base, numbered.digits));
  }
  return hosts;
}

}  // namespace dogged
