#include "apps/dogged/client/agent_addresses.h"

#include <algorithm>

namespace dogged {
namespace {

// An agent that did not answer is left alone for so long: a client that
// collects results meanwhile spends about a tenth of its time, not more, with
// one that is silent.
constexpr absl::Duration kSilence = absl::Seconds(9);

}  // namespace

void AgentAddresses::Replace(std::vector<std::string> named) {
  addresses_ = std::move(named);
  named_count_ = addresses_.size();
  silent_until_.clear();
}

void AgentAddresses::Add(std::string address) {
  if (std::find(addresses_.begin(), addresses_.end(), address) ==
      addresses_.end()) {
    addresses_.push_back(std::move(address));
  }
}

std::vector<std::string> AgentAddresses::SilentLast() const {
  std::vector<std::string> out = addresses_;
  std::stable_partition(
      out.begin(), out.end(),
      [this](const std::string& address) { return !IsSilent(address); });
  return out;
}

bool AgentAddresses::IsSilent(const std::string& address) const {
  const auto until = silent_until_.find(address);
  return until != silent_until_.end() && clock_.Now() < until->second;
}

void AgentAddresses::NoteSilence(const std::string& address) {
  silent_until_[address] = clock_.Now() + kSilence;
}

}  // namespace dogged
