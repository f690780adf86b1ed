#include "kvstore/replication/expected_values.h"

#include <algorithm>

#include "kvstore/replication/credit.h"

namespace dogged {

bool ExpectedValues::Demand(absl::Time now, const Label& label, AgentId holder,
                            absl::Duration patience) {
  const auto [it, is_new] =
      labels_.try_emplace(label, Expected{.of = holder, .demanded = now});
  Expected& expected = it->second;
  if (is_new) return true;
  const bool is_same = expected.of == holder;
  if (now < expected.demanded + (is_same ? patience : kSendingTrust)) {
    auto& others = expected.others;
    if (!is_same &&
        std::find(others.begin(), others.end(), holder) == others.end()) {
      others.push_back(holder);
    }
    return false;
  }
  if (!is_same) {
    std::erase(expected.others, holder);
    expected.others.push_back(expected.of);
  }
  expected.of = holder;
  expected.demanded = now;
  return true;
}

std::vector<AgentId> ExpectedValues::Take(const Label& label) {
  const auto it = labels_.find(label);
  if (it == labels_.end()) return {};
  std::vector<AgentId> others = std::move(it->second.others);
  labels_.erase(it);
  return others;
}

void ExpectedValues::ForgetIf(absl::Time now,
                              absl::FunctionRef<bool(AgentId)> gone) {
  absl::erase_if(labels_, [&](auto& entry) {
    Expected& expected = entry.second;
    std::erase_if(expected.others, gone);
    return gone(expected.of) || expected.demanded + kSendingTrust <= now;
  });
}

}  // namespace dogged
