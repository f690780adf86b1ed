// Multicast machines on an instant, lossless network in memory; counts steps.
#ifndef DOGGED_TESTS_ROUTING_MULTICAST_CLUSTER_H_
#define DOGGED_TESTS_ROUTING_MULTICAST_CLUSTER_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "routing/multicast/multicast.h"

namespace dogged {

class MulticastCluster {
 public:
  struct Hop {
    AgentId from, to;
    int step;  // messages on the way from the origin, this one included
  };

  // Agents with these members, all with the view of all of them.
  MulticastCluster(const std::vector<Member>& members, MulticastPlan plan,
                   const Limits& limits) {
    auto view = std::make_shared<const View>(members);
    for (const Member& member : members) {
      agents_.try_emplace(member.id, member.id, plan, limits);
      SetView(member.id, view);
    }
  }
  void SetView(AgentId id, std::shared_ptr<const View> view) {
    agents_.at(id).SetView(std::move(view));
  }
  Multicast& of(AgentId id) { return agents_.at(id); }

  // Starts, and runs until nothing is under way; false after `hops_max`.
  bool Run(AgentId source, const std::vector<AgentId>& targets,
           const Bytes& body, int64_t hops_max = 100'000) {
    hops.clear();
    delivered.clear();
    Outbox out;
    of(source).Start(targets, 77, JobId(3), body, out);
    Post(source, 1, out);
    while (!letters_.empty()) {
      if (std::ssize(hops) > hops_max) return false;
      const Letter letter = letters_.front();
      letters_.pop_front();
      hops.push_back({letter.from, letter.to, letter.step});
      if (!agents_.contains(letter.to)) continue;  // dead
      Outbox next;
      std::vector<Delivery> deliveries;
      const Envelope head{
          .kind = letter.kind, .source = letter.from, .job = JobId(3)};
      of(letter.to).Receive({absl::UnixEpoch(), next}, {head, letter.body},
                            deliveries);
      for (const Delivery& delivery : deliveries) {
        delivered[letter.to].push_back(delivery);
        last_step[letter.to] = letter.step;
      }
      Post(letter.to, letter.step + 1, next);
    }
    return true;
  }

  std::vector<Hop> hops;
  std::map<AgentId, std::vector<Delivery>> delivered;
  std::map<AgentId, int> last_step;

 private:
  struct Letter {
    AgentId from, to;
    int step;
    uint8_t kind;
    Bytes body;
  };
  void Post(AgentId from, int step, Outbox& out) {
    for (Outbox::OutgoingMessage& wish : out.messages) {
      letters_.push_back({from, wish.to, step, wish.kind, wish.body.Join()});
    }
  }

  std::map<AgentId, Multicast> agents_;
  std::deque<Letter> letters_;
};

}  // namespace dogged

#endif  // DOGGED_TESTS_ROUTING_MULTICAST_CLUSTER_H_
