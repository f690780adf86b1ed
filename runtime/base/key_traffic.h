// KeyTraffic: the work of each affinity key of a job, and the labels that keys
// send one another. Made from a program (runtime/graph/keys/traffic.h), read by
// the choice of a layout (kvstore/placement/layouts.h). Plain data.
#ifndef DOGGED_RUNTIME_BASE_KEY_TRAFFIC_H_
#define DOGGED_RUNTIME_BASE_KEY_TRAFFIC_H_

#include <cstdint>
#include <vector>

namespace dogged {

struct KeyTraffic {
  // A key, by its place among the blocks of its arrays; keys of the same place
  // in several groups of arrays are several keys.
  struct Key {
    uint64_t key = 0;
    std::vector<int64_t> block;  // block number by index that counts
  };
  // Tasks of a key in one stage.
  struct Load {
    int32_t key = 0;  // position in `keys`
    int64_t tasks = 0;
  };
  // Labels of `from` that tasks of each of `to` require, and only these.
  // Positions in `keys`, ascending; `from` is not in `to`.
  struct Flow {
    int32_t from = 0;
    std::vector<int32_t> to;
    int64_t labels = 0;
  };

  std::vector<Key> keys;
  std::vector<Flow> flows;
  // Tasks in order of their depth (the longest chain of tasks before them),
  // in parts of about equal size: these can run at about the same time.
  std::vector<std::vector<Load>> stages;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_KEY_TRAFFIC_H_
