// Aim: an agent that a user names has as long to say how it is as COMMAND.md
// says; those that it knows of have less, so that one slow agent costs little.
// Method: connections whose answers take a time that is made up.
#include "apps/dogged/cluster_client.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each answers after a time, by address, and knows all others.
struct Agents {
  std::map<std::string, absl::Duration> answer_after;
  absl::Duration waited;  // by the client, for all of them

  StatusReply ReplyOf(const std::string& address) const {
    StatusReply out;
    for (const auto& [other, after] : answer_after) {
      MemberStatus member;
      member.member.id = AgentId(out.members.size() + 1);
      member.member.topology_id = *TopologyId::FromDigits(16, "\1");
      member.member.control_address = other;
      member.state = "alive";
      if (other == address) out.self = member.member.id;
      out.members.push_back(member);
    }
    return out;
  }
};

class SlowCaller : public ControlCaller {
 public:
  SlowCaller(Agents& agents, absl::string_view address)
      : agents_(agents), address_(address) {}
  absl::Status Send(uint8_t, absl::string_view, absl::Duration) override {
    return absl::OkStatus();
  }
  absl::StatusOr<ControlFrame> Receive(absl::Duration timeout) override {
    const absl::Duration after = agents_.answer_after[address_];
    agents_.waited += std::min(after, timeout);
    if (after > timeout) return absl::DeadlineExceededError(address_);
    return ControlFrame{static_cast<uint8_t>(ControlType::kStatus),
                        agents_.ReplyOf(address_).Encode()};
  }
  absl::StatusOr<ControlFrame> Call(uint8_t, absl::string_view,
                                    absl::Duration timeout) override {
    return Receive(timeout);
  }

 private:
  Agents& agents_;
  const std::string address_;
};

// Those that say how they are, by address, if "a" is the named one.
std::vector<std::string> Answers(Agents& agents, absl::Duration patience) {
  auto client = ClusterClient::Connect(
      {"a"}, patience, [&agents](absl::string_view address, absl::Duration) {
        return std::make_unique<SlowCaller>(agents, address);
      });
  EXPECT_TRUE(client.ok()) << client.status();
  std::vector<std::string> out;
  for (const StatusReply& reply : (*client)->PollStatus()) {
    for (const MemberStatus& m : reply.members) {
      if (m.member.id == reply.self) out.push_back(m.member.control_address);
    }
  }
  return out;
}

TEST(ClusterClient, WhoIsNamedHasTenSeconds) {
  Agents agents{{{"a", absl::Milliseconds(9900)},
                 {"b", absl::Milliseconds(1100)},
                 {"c", absl::Milliseconds(900)}}};
  EXPECT_THAT(Answers(agents, ClusterClient::kNamedPatience),
              ElementsAre("a", "c"));
  EXPECT_EQ(agents.waited, absl::Milliseconds(9900 + 1000 + 900));
  agents.answer_after["a"] = absl::Milliseconds(10100);
  EXPECT_THAT(Answers(agents, ClusterClient::kNamedPatience), IsEmpty());
}

// A run asks all the time, so it waits for nobody.
TEST(ClusterClient, OthersHaveASecond) {
  Agents agents{{{"a", absl::Milliseconds(1100)}, {"c", absl::Seconds(0)}}};
  EXPECT_THAT(Answers(agents, ClusterClient::kStatusPatience), IsEmpty());
  EXPECT_EQ(agents.waited, absl::Seconds(1));
}

}  // namespace
}  // namespace dogged
