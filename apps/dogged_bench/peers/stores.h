// memcached and redis, where they are installed: one server each on a free port
// of this host, one client, a get at a time.
#ifndef DOGGED_APPS_DOGGED_BENCH_PEERS_STORES_H_
#define DOGGED_APPS_DOGGED_BENCH_PEERS_STORES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace dogged {

struct StoreTimes {
  std::string name;            // "memcached", "redis"
  std::vector<double> get_us;  // one for each get
  std::vector<double> set_us;
};
// Times of values of `bytes` bytes; a store that is not installed is left out.
std::vector<StoreTimes> TimeStores(int64_t bytes, int count);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PEERS_STORES_H_
