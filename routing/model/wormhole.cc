#include "routing/model/wormhole.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

namespace dogged {
namespace {

class Player {
 public:
  Player(const SwitchNetwork& network,
         const std::vector<MulticastSchedule>& multicasts,
         const WormholeCosts& costs)
      : network_(network),
        multicasts_(multicasts),
        costs_(costs),
        links_(network.link_count()),
        waiting_(network.processor_count()),
        sending_(network.processor_count(), false),
        got_(multicasts.size(),
             std::vector<int64_t>(network.processor_count(), -1)) {}

  WormholeResult Play() {
    for (size_t m = 0; m < multicasts_.size(); ++m) {
      Arrive(0, static_cast<int>(m), multicasts_[m].source);
    }
    while (!events_.empty()) {
      const auto [time, order, message] = events_.top();
      events_.pop();
      Advance(time, message);
    }
    WormholeResult result;
    result.blocked = blocked_;
    for (size_t m = 0; m < multicasts_.size(); ++m) {
      int64_t end = 0;
      for (int destination : multicasts_[m].destinations) {
        const int64_t at = got_[m][destination];
        result.undelivered += at < 0;
        end = std::max(end, at);
      }
      result.last = std::max(result.last, end);
      result.mean +=
          static_cast<double>(end) / static_cast<double>(multicasts_.size());
    }
    return result;
  }

 private:
  struct Link {
    bool taken = false;
    std::deque<int> queue;  // of messages
  };
  struct Message {
    int multicast = 0;
    int to = 0;
    std::vector<int> route;
    size_t held = 0;  // links that it has
    bool through = false;
    int64_t waits_since = 0;
  };

  void At(int64_t time, int message) {
    events_.emplace(time, order_++, message);
  }

  // `processor` has the message of `multicast` now.
  void Arrive(int64_t time, int multicast, int processor) {
    int64_t& got = got_[multicast][processor];
    if (got >= 0) return;
    got = time;
    const auto& sends = multicasts_[multicast].sends;
    if (processor < std::ssize(sends)) {
      for (int to : sends[processor]) {
        waiting_[processor].emplace_back(multicast, to);
      }
    }
    SendNext(time, processor);
  }

  void SendNext(int64_t time, int processor) {
    auto& waiting = waiting_[processor];
    if (sending_[processor] || waiting.empty()) return;
    sending_[processor] = true;
    const auto [multicast, to] = waiting.front();
    waiting.pop_front();
    messages_.push_back({.multicast = multicast,
                         .to = to,
                         .route = network_.Route(processor, to)});
    At(time + costs_.startup, static_cast<int>(messages_.size()) - 1);
  }

  // The head wants its next link, or the tail has arrived.
  void Advance(int64_t time, int number) {
    Message& message = messages_[number];
    if (message.through) {
      Finish(time, number);
      return;
    }
    if (message.held == message.route.size()) {
      message.through = true;
      At(time + costs_.body, number);
      return;
    }
    Link& link = links_[message.route[message.held]];
    if (link.taken) {
      message.waits_since = time;
      link.queue.push_back(number);
      return;
    }
    link.taken = true;
    ++message.held;
    At(time + costs_.hop, number);
  }

  void Finish(int64_t time, int number) {
    const Message message = messages_[number];
    for (int id : message.route) {
      Link& link = links_[id];
      link.taken = false;
      if (link.queue.empty()) continue;
      const int next = link.queue.front();
      link.queue.pop_front();
      link.taken = true;
      Message& waiter = messages_[next];
      // The way into and out of a processor is its own affair.
      if (id >= 2 * network_.processor_count()) {
        blocked_ += time - waiter.waits_since;
      }
      ++waiter.held;
      At(time + costs_.hop, next);
    }
    const int sender = message.route.front() / 2;
    sending_[sender] = false;
    Arrive(time, message.multicast, message.to);
    SendNext(time, sender);
  }

  const SwitchNetwork& network_;
  const std::vector<MulticastSchedule>& multicasts_;
  const WormholeCosts costs_;
  std::vector<Link> links_;
  std::vector<std::deque<std::pair<int, int>>> waiting_;  // by processor
  std::vector<bool> sending_;
  std::vector<std::vector<int64_t>> got_;  // by multicast and processor
  std::deque<Message> messages_;
  using Event = std::tuple<int64_t, int64_t, int>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  int64_t order_ = 0;
  int64_t blocked_ = 0;
};

}  // namespace

WormholeResult PlayWormhole(const SwitchNetwork& network,
                            const std::vector<MulticastSchedule>& multicasts,
                            const WormholeCosts& costs) {
  return Player(network, multicasts, costs).Play();
}

}  // namespace dogged
