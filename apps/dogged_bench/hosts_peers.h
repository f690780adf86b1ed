// MPI programs on the hosts of scripts/hosts, a process each: peers of the
// benchmarks between hosts.
#ifndef DOGGED_APPS_DOGGED_BENCH_HOSTS_PEERS_H_
#define DOGGED_APPS_DOGGED_BENCH_HOSTS_PEERS_H_

#include <cstdint>
#include <string>

namespace dogged {

// "mpirun ..." for a process on each of the hosts 0 to `hosts` - 1, by TCP over
// their links; a program and its arguments follow.
std::string MpirunOnHosts(int hosts);

// Seconds of these programs, as they print them; 0 where Debian's package was
// not there when this was built.
//
// The heat equation on `n` x `n` points for `steps` steps.
double HaloSeconds(int hosts, int64_t n, int64_t steps);
// pdpotrf or, `is_lu`, pdgetrf of order `n`, in blocks of `nb` columns, on a
// grid of `rows` rows.
double ScalapackOnHostsSeconds(int hosts, bool is_lu, int64_t n, int64_t nb,
                               int rows);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_HOSTS_PEERS_H_
