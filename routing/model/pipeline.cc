#include "routing/model/pipeline.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <utility>

#include "routing/topology/topology_id.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

class Pipeline {
 public:
  Pipeline(absl::Span<const ScaleModel::Tree> trees, int64_t bytes,
           int64_t segment_bytes, const PipelineCosts& costs)
      : trees_(trees), costs_(costs) {
    DOGGED_CHECK(!trees.empty()) << "no tree";
    part_bytes_ = bytes / std::ssize(trees);
    segment_bytes_ = std::min(segment_bytes, part_bytes_);
    count_ = (part_bytes_ + segment_bytes_ - 1) / segment_bytes_;
    int64_t places = 0;
    for (const ScaleModel::Tree& tree : trees) {
      children_.emplace_back(tree.parents.size());
      for (int64_t i = 1; i < std::ssize(tree.parents); ++i) {
        children_.back()[tree.parents[i]].push_back(i);
      }
      for (int64_t place : tree.places) places = std::max(places, place + 1);
    }
    ports_.resize(places);
  }

  double Run() {
    for (int64_t segment = 0; segment < count_; ++segment) {
      for (int tree = 0; tree < std::ssize(trees_); ++tree) {
        Got(0, {tree, 0, segment});
      }
    }
    double last = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.what == Event::kSent) {
        ports_[event.place].sending = false;
        SendNext(event.time, event.place);
      } else if (event.what == Event::kLink) {
        Cross(event);
      } else if (event.what == Event::kReached) {
        Reach(event);
      } else {
        last = std::max(last, event.time);
        Got(event.time, event.piece);
      }
    }
    return last;
  }

 private:
  // A segment at, or on its way to, a position of a tree.
  struct Piece {
    int tree = 0;
    int64_t position = 0;
    int64_t segment = 0;
  };
  struct Event {
    enum What { kSent, kLink, kReached, kGot };
    double time = 0;
    int64_t number = 0;  // makes the order total
    What what = kSent;
    int64_t place = 0;
    Piece piece;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  struct Port {
    bool sending = false;
    double taking_until = 0;
    std::deque<Piece> queue;
  };

  int64_t PlaceOf(const Piece& piece) const {
    return trees_[piece.tree].places[piece.position];
  }
  double LineTime(const Piece& piece) const {
    const int64_t size =
        std::min(segment_bytes_, part_bytes_ - piece.segment * segment_bytes_);
    return static_cast<double>(size) * costs_.seconds_per_byte;
  }
  void Post(double time, Event::What what, int64_t place, Piece piece) {
    events_.push({time, ++number_, what, place, piece});
  }

  void Got(double now, const Piece& piece) {
    const int64_t place = PlaceOf(piece);
    Port& port = ports_[place];
    for (int64_t child : children_[piece.tree][piece.position]) {
      port.queue.push_back({piece.tree, child, piece.segment});
    }
    if (!port.sending) SendNext(now, place);
  }
  void SendNext(double now, int64_t place) {
    Port& port = ports_[place];
    if (port.queue.empty()) return;
    const Piece piece = port.queue.front();
    port.queue.pop_front();
    port.sending = true;
    const double sent = now + costs_.overhead_seconds + LineTime(piece);
    Post(sent, Event::kSent, place, {});
    const int64_t to = PlaceOf(piece);
    const double there = sent + costs_.latency_seconds;
    if (GroupOf(place) == GroupOf(to)) {
      Post(there, Event::kReached, to, piece);
    } else {
      Post(there, Event::kLink, place, piece);
    }
  }
  int64_t GroupOf(int64_t place) const {
    return costs_.group_hosts == 0 ? 0 : place / costs_.group_hosts;
  }
  // Over the link between two groups, after the segments that it carries.
  void Cross(const Event& event) {
    const int64_t to = PlaceOf(event.piece);
    double& until = links_[{GroupOf(event.place), GroupOf(to)}];
    until = std::max(event.time, until + LineTime(event.piece));
    Post(until + costs_.latency_seconds, Event::kReached, to, event.piece);
  }
  // The piece's last byte is there, unless the port had another piece to take.
  void Reach(const Event& event) {
    Port& port = ports_[event.place];
    port.taking_until =
        std::max(event.time, port.taking_until + LineTime(event.piece));
    Post(port.taking_until, Event::kGot, event.place, event.piece);
  }

  absl::Span<const ScaleModel::Tree> trees_;
  PipelineCosts costs_;
  int64_t part_bytes_ = 0;
  int64_t segment_bytes_ = 0;
  int64_t count_ = 0;
  std::vector<std::vector<std::vector<int64_t>>> children_;  // by tree
  std::vector<Port> ports_;                                  // by place
  std::map<std::pair<int64_t, int64_t>, double> links_;      // busy until
  std::priority_queue<Event> events_;
  int64_t number_ = 0;
};

}  // namespace

double PlayPipelined(absl::Span<const ScaleModel::Tree> trees, int64_t bytes,
                     int64_t segment_bytes, const PipelineCosts& costs) {
  return Pipeline(trees, bytes, segment_bytes, costs).Run();
}

double PipelineBound(int64_t hosts, int64_t bytes, const PipelineCosts& costs) {
  const double body = static_cast<double>(bytes) * costs.seconds_per_byte;
  const double start = (DigitsFor(hosts, 2) - 1) * costs.overhead_seconds;
  return std::pow(std::sqrt(body) + std::sqrt(start), 2);
}

}  // namespace dogged
