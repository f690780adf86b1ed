// The benchmarks of dogged-bench. Each interleaves its contenders and gives
// medians; see docs/BENCHMARKS.md for the claims.
#ifndef DOGGED_APPS_DOGGED_BENCH_BENCH_H_
#define DOGGED_APPS_DOGGED_BENCH_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "apps/dogged_bench/contest_filter.h"
#include "apps/dogged_bench/report.h"

namespace dogged {

struct BenchOptions {
  int workers = 2;
  int agents = 4;  // simulated, of locality
  int samples = 5;
  int64_t n = 0;                    // 0: the benchmark's own size
  std::vector<int64_t> tile_sizes;  // empty: the benchmark's own
  bool alone = false;               // without the peers
  int hosts = 0;                    // of multicast; 0: this one alone
  ContestFilter only;
};

// Empty tasks: independent, wavefront, wide release; against OpenMP tasks.
std::vector<BenchRow> BenchTasks(const BenchOptions& options);
// Factorisations of apps/, each contender at its best tile size, in GF/s and
// against dgemm on all workers: Cholesky against OpenMP tasks over the same
// kernels and OpenBLAS's dpotrf, LU against its dgetrf, QR against its dgeqrf.
std::vector<BenchRow> BenchCholesky(const BenchOptions& options);
std::vector<BenchRow> BenchLu(const BenchOptions& options);
std::vector<BenchRow> BenchQr(const BenchOptions& options);
// The kernels of a tile on one core, warm, against OpenBLAS's own and dgemm.
std::vector<BenchRow> BenchKernels(const BenchOptions& options);
// Stencils of apps/, compiled, against a loop that OpenMP shares out and
// one that is tiled by hand; bits compared. tile_sizes are widths and a depth.
std::vector<BenchRow> BenchStencil(const BenchOptions& options);
// Bytes that tasks read of values made by other agents, as a share of all that
// they read: labels placed by affinity, and by a hash of the whole label. In
// simulation, seeds 1 to `samples`; counts, no times.
std::vector<BenchRow> BenchLocality(const BenchOptions& options);

// Multicasts from some agents to many, by every planner and by MPI_Bcast, over
// `hosts` network namespaces that scripts/hosts has made.
std::vector<BenchRow> BenchMulticast(const BenchOptions& options);
// The models of routing/model: contention, a million agents, pipelines.
std::vector<BenchRow> BenchMulticastModel(const BenchOptions& options);

// Task to task between two agents of this host, in microseconds: 8 bytes hot
// and from sleep, longer values hot.
std::vector<BenchRow> BenchHop(const BenchOptions& options);
// From a task to tasks of 8 agents of this host, lent against sent flat.
std::vector<BenchRow> BenchToAll(const BenchOptions& options);
// Gets of values that another agent of this host holds, one and 64 at a time,
// and binds, in microseconds; memcached and redis where they are installed.
std::vector<BenchRow> BenchDictionary(const BenchOptions& options);

// Jobs on agents of `hosts` network namespaces that scripts/hosts has made: one
// copy of each value against two, in seconds and bytes, and a host that
// vanishes.
std::vector<BenchRow> BenchHosts(const BenchOptions& options);

// A call of a user's kernel in a process of its own against the same call in
// this one, by the bytes of its input and of its output, in microseconds.
std::vector<BenchRow> BenchApart(const BenchOptions& options);
// The backward walk at 1 to 16 agents, pure, with claims, and owner-first; in
// simulation, seeds 1 to `samples`, so the times are virtual.
std::vector<BenchRow> BenchSearch(const BenchOptions& options);
// Cholesky by agents of this host, in real processes: two against one with two
// workers, copies, one that joins half way; and agents without work.
std::vector<BenchRow> BenchAgents(const BenchOptions& options);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_BENCH_H_
