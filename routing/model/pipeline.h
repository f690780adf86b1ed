// Pipelines: how long one large body takes down one tree or several at once,
// in segments, between hosts that have one port each way: on a network that has
// room for all of them (a fat tree of full bisection, with contention at the
// hosts only), or on a dragonfly.
#ifndef DOGGED_ROUTING_MODEL_PIPELINE_H_
#define DOGGED_ROUTING_MODEL_PIPELINE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "routing/model/scale.h"

namespace dogged {

struct PipelineCosts {
  double seconds_per_byte = 0.8e-9;  // G: 10 Gbit/s
  double overhead_seconds = 2e-6;    // a: of a message at the sender's port
  double latency_seconds = 1e-6;     // of the network, or of a half of it
  // Dragonfly: so many neighbours in the order of IDs are a group, any two
  // groups have one link, as fast as a port; ways are minimal. 0: a fat tree.
  int64_t group_hosts = 0;
};

// Seconds until all have all. Each tree takes an equal part of the body. A host
// sends in the order in which it got; a segment waits at a port that is busy.
//
// Shape:   all `trees` over the same places, from the same source.
// Cost:    O(s log s) for s segments times places.
double PlayPipelined(absl::Span<const ScaleModel::Tree> trees, int64_t bytes,
                     int64_t segment_bytes, const PipelineCosts& costs);

// Lower bound for any multicast over `hosts` hosts with one port each:
// (sqrt(mG) + sqrt((ceil(log2 n) - 1) a))^2.
double PipelineBound(int64_t hosts, int64_t bytes, const PipelineCosts& costs);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_PIPELINE_H_
