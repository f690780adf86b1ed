// Plain TCP over loopback between two threads that block.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_TCP_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_TCP_H_

#include <cstddef>
#include <vector>

namespace dogged {

// Half of each round trip of so many bytes, in microseconds.
std::vector<double> TcpHops(size_t bytes, int rounds);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_TCP_H_
