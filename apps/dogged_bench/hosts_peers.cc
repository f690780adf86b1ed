#include "apps/dogged_bench/hosts_peers.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged_bench/agents_run.h"

namespace dogged {

std::string MpirunOnHosts(int hosts) {
  std::vector<std::string> addresses;
  for (int i = 1; i <= hosts; ++i) {
    addresses.push_back(absl::StrCat("10.77.0.", i, ":1"));
  }
  return absl::StrCat(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -np ",
      hosts, " -H ", absl::StrJoin(addresses, ","),
      " --mca plm rsh --mca plm_rsh_agent '" DOGGED_HOSTS_SCRIPT
      " rsh' --mca routed direct --mca btl self,tcp --mca pml ob1"
      " --mca btl_tcp_if_include 10.77.0.0/24"
      " --mca oob_tcp_if_include 10.77.0.0/24 --mca mpi_yield_when_idle 1");
}

double HaloSeconds(int hosts, int64_t n, int64_t steps) {
#ifdef DOGGED_HALO_PEER
  return SecondsOf(absl::StrCat(MpirunOnHosts(hosts), " " DOGGED_HALO_PEER " ",
                                n, " ", steps, " 2>/dev/null"));
#else
  (void)hosts, (void)n, (void)steps;
  return 0;
#endif
}

double ScalapackOnHostsSeconds(int hosts, bool is_lu, int64_t n, int64_t nb,
                               int rows) {
#ifdef DOGGED_SCALAPACK_PEER
  return SecondsOf(absl::StrCat(
      MpirunOnHosts(hosts),
      " -x OPENBLAS_NUM_THREADS=1 " DOGGED_SCALAPACK_PEER " ",
      is_lu ? "getrf " : "potrf ", n, " ", nb, " ", rows, " 2>/dev/null"));
#else
  (void)hosts, (void)is_lu, (void)n, (void)nb, (void)rows;
  return 0;
#endif
}

}  // namespace dogged
