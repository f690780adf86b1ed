// What an agent takes of this host before it has any value.
#ifndef DOGGED_APPS_DOGGED_AGENT_AGENT_NEEDS_H_
#define DOGGED_APPS_DOGGED_AGENT_AGENT_NEEDS_H_

#include <cstdint>

namespace dogged {

// Addresses that it maps, beside the stacks of its threads; and those that
// RocksDB adds.
inline constexpr int64_t kAgentAddresses = int64_t{224} << 20;
inline constexpr int64_t kStorageAddresses = int64_t{128} << 20;
// Alone it has 30 descriptors; a compiler or a kernel's process takes some
// more.
inline constexpr int64_t kAgentDescriptors = 48;

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_AGENT_NEEDS_H_
