// SimGrid as outside judge of routing/model: the same trees, segments and costs
// played by its flow-level network, on a fat tree of full bisection.
//
//     dogged-bench-simgrid HOSTS   (a power of 4, of at least 64)
//
// Prints rows as `dogged-bench --json` does; `ratio` is SimGrid's time over
// that of PlayPipelined().
#include <cstdio>
#include <deque>
#include <limits>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/report.h"
#include "routing/model/pipeline.h"
#include "routing/model/scale.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

namespace s4u = simgrid::s4u;

constexpr int64_t kBytes = 1 << 20;

// Switches of 2 x 8 or 2 x 16 ports, as many up as down: host to host is two,
// four or six links.
s4u::NetZone* FatTree(int64_t hosts, const PipelineCosts& costs) {
  std::vector<unsigned> down, up, cables;
  for (int64_t left = hosts; left > 1;) {
    const unsigned ports = left % 32 == 0 ? 32 : static_cast<unsigned>(left);
    up.push_back(down.empty() ? 1 : down.back());
    down.push_back(ports);
    cables.push_back(1);
    left /= ports;
  }
  const auto levels = static_cast<unsigned>(down.size());
  const s4u::ClusterCallbacks host([](s4u::NetZone* zone,
                                      const std::vector<unsigned long>&,
                                      unsigned long id) {
    s4u::Host* made = zone->create_host(std::to_string(id), 1e9);
    return std::make_pair(
        made->get_netpoint(),
        static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
  });
  s4u::NetZone* zone = s4u::create_fatTree_zone(
      "fat", nullptr, {levels, down, up, cables}, host,
      1 / costs.seconds_per_byte, costs.latency_seconds / (2 * levels),
      s4u::Link::SharingPolicy::SPLITDUPLEX);
  zone->seal();
  return zone;
}

// Play: a run over the hosts "0" to "n-1". Each has a receiver, and a sender
// that has at most `at_once` segments under way, in the order in which it got
// them. If that is one, a port waits while the receiver's takes from another;
// if it is two, the cost of a message is hidden behind the one before. Our
// model does neither.
class Play {
 public:
  Play(const std::vector<ScaleModel::Tree>& trees, int64_t segment_bytes,
       const PipelineCosts& costs, int64_t at_once)
      : trees_(trees), costs_(costs), at_once_(at_once) {
    const int64_t part = kBytes / std::ssize(trees);
    segment_bytes_ = std::min(segment_bytes, part);
    count_ = (part + segment_bytes_ - 1) / segment_bytes_;
    for (const ScaleModel::Tree& tree : trees) {
      ports_.resize(std::max(ports_.size(), tree.places.size()));
      children_.emplace_back(tree.parents.size());
      for (size_t i = 1; i < tree.parents.size(); ++i) {
        children_.back()[tree.parents[i]].push_back(i);
      }
    }
  }

  double Run(s4u::Engine& engine) {
    for (size_t tree = 0; tree < trees_.size(); ++tree) {
      for (size_t i = 0; i < trees_[tree].places.size(); ++i) {
        Port& port = PortOf({tree, i});
        if (i > 0) port.to_get += count_;
        port.to_send += count_ * std::ssize(children_[tree][i]);
      }
    }
    const double start = s4u::Engine::get_clock();
    for (size_t place = 0; place < ports_.size(); ++place) {
      Port& port = ports_[place];
      s4u::Host* host = engine.host_by_name(std::to_string(place));
      port.mailbox = s4u::Mailbox::by_name(std::to_string(place));
      port.waiting = s4u::Semaphore::create(0);
      if (port.to_get > 0) {
        s4u::Actor::create("receiver", host, [this, &port] { Receive(port); });
      }
      if (port.to_send > 0) {
        s4u::Actor::create("sender", host, [this, &port] { Send(port); });
      }
    }
    for (int64_t segment = 0; segment < count_; ++segment) {
      for (size_t tree = 0; tree < trees_.size(); ++tree) Pass({tree, 0});
    }
    engine.run();
    return s4u::Engine::get_clock() - start;
  }

 private:
  // A segment at a position of a tree, or on its way there.
  struct Piece {
    size_t tree = 0;
    size_t position = 0;
  };
  struct Port {
    s4u::Mailbox* mailbox = nullptr;
    s4u::SemaphorePtr waiting;
    std::deque<Piece> queue;
    int64_t to_get = 0;
    int64_t to_send = 0;
  };

  Port& PortOf(const Piece& piece) {
    return ports_[trees_[piece.tree].places[piece.position]];
  }
  void Pass(const Piece& piece) {
    Port& port = PortOf(piece);
    for (size_t child : children_[piece.tree][piece.position]) {
      port.queue.push_back({piece.tree, child});
      port.waiting->release();
    }
  }
  void Receive(Port& port) {
    // Transfers begin without being asked for, and share the port.
    port.mailbox->set_receiver(s4u::Actor::self());
    for (int64_t i = 0; i < port.to_get; ++i) {
      Pass(*port.mailbox->get_unique<Piece>());
    }
    port.mailbox->set_receiver(nullptr);
  }
  void Send(Port& port) {
    std::vector<s4u::CommPtr> under_way;
    for (int64_t i = 0; i < port.to_send; ++i) {
      port.waiting->acquire();
      const Piece piece = port.queue.front();
      port.queue.pop_front();
      if (std::ssize(under_way) == at_once_) {
        under_way.erase(under_way.begin() + s4u::Comm::wait_any(under_way));
      }
      s4u::this_actor::sleep_for(costs_.overhead_seconds);
      under_way.push_back(PortOf(piece).mailbox->put_async(
          new Piece(piece), static_cast<uint64_t>(segment_bytes_)));
    }
    s4u::Comm::wait_all(under_way);
  }

  const std::vector<ScaleModel::Tree>& trees_;
  PipelineCosts costs_;
  const int64_t at_once_;
  int64_t segment_bytes_ = 0;
  int64_t count_ = 0;
  std::vector<std::vector<std::vector<size_t>>> children_;
  std::vector<Port> ports_;  // by place
};

std::vector<BenchRow> Judge(s4u::Engine& engine, int64_t hosts) {
  const PipelineCosts costs;
  FatTree(hosts, costs);
  const ScaleModel model(hosts, 4, 1);
  std::vector<int64_t> others(static_cast<size_t>(hosts - 1));
  std::iota(others.begin(), others.end(), 1);
  std::vector<BenchRow> rows;
  for (MulticastPlan plan :
       {MulticastPlan::kFlat, MulticastPlan::kPrefix, MulticastPlan::kBinomial,
        MulticastPlan::kTwoTrees, MulticastPlan::kChain}) {
    // The list of a chain is carried from hop to hop: too much to plan.
    if (plan == MulticastPlan::kChain && hosts > 1024) continue;
    std::vector<ScaleModel::Tree> trees;
    for (int tree = 0; tree < PlannerOf(plan).tree_count(); ++tree) {
      trees.push_back(model.Multicast(plan, 0, others, tree));
    }
    const int64_t pieces = hosts > 1024 ? 64 << 10 : 8 << 10;
    const int64_t segment = plan == MulticastPlan::kFlat ? kBytes : pieces;
    const double ours = PlayPipelined(trees, kBytes, segment, costs);
    for (int64_t at_once : {1, 2}) {
      const double theirs = Play(trees, segment, costs, at_once).Run(engine);
      rows.push_back(
          {.name = absl::StrCat(
               hosts, " hosts, 1 MB in ", segment >> 10, " KB, ", at_once,
               " at once: ", std::string(MulticastPlanName(plan))),
           .value = theirs * 1e3,
           .unit = "ms",
           .samples = 1,
           .ratio_to = "our model",
           .ratio = theirs / ours});
    }
  }
  return rows;
}

}  // namespace
}  // namespace dogged

int main(int argc, char** argv) {
  simgrid::s4u::Engine engine(&argc, argv);
  // Plain sharing of links: no factors for TCP.
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
        "contexts/stack-size:64", "contexts/guard-size:0"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  int64_t hosts = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &hosts) || hosts < 64) {
    std::fprintf(stderr, "usage: dogged-bench-simgrid HOSTS\n");
    return 2;
  }
  std::fputs(dogged::ToJson(dogged::Judge(engine, hosts)).c_str(), stdout);
  return 0;
}
