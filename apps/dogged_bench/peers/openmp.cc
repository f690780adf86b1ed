#include "apps/dogged_bench/peers/openmp.h"

#include <omp.h>

#include <utility>

#include "runtime/base/check.h"

namespace dogged {
namespace {

// Runs `kernel`, which updates `target` from `others` and leaves it in place.
void Update(const NativeKernel& kernel, Value& target, int target_position,
            std::vector<Value> others) {
  std::vector<Value>& in = others;
  in.insert(in.begin() + target_position, std::move(target));
  Value out;
  NativeCall call{.in = absl::MakeSpan(in), .out = absl::MakeSpan(&out, 1)};
  const absl::Status status = kernel.run(call);
  DOGGED_CHECK(status.ok()) << status.ToString();
  target = std::move(out);
}

}  // namespace

void OpenMpIndependent(int64_t count, int threads) {
  std::vector<double> out(static_cast<size_t>(count));
  double* const at = out.data();
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int64_t i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
    at[i] = 1;
  }
}

void OpenMpWavefront(int64_t n, int threads) {
  // A row and a column more, for the edges.
  const int64_t stride = n + 1;
  std::vector<double> w(static_cast<size_t>(stride * stride));
  double* const at = w.data();
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int64_t i = 1; i <= n; ++i) {
    for (int64_t j = 1; j <= n; ++j) {
      double* const here = at + i * stride + j;
      double* const left = here - 1;
      double* const up = here - stride;
#pragma omp task firstprivate(here, left, up) depend(in            \
                                                     : *left, *up) \
    depend(out                                                     \
           : *here)
      *here = 1 + *left + *up;
    }
  }
}

void OpenMpWideRelease(int64_t count, int threads) {
  std::vector<double> out(static_cast<size_t>(count) + 1);
  double* const at = out.data();
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task depend(out : *at)
    at[0] = 1;
    for (int64_t i = 1; i <= count; ++i) {
#pragma omp task firstprivate(i) depend(in : *at)
      at[i] = at[0] + 1;
    }
  }
}

void OpenMpCholesky(std::vector<Value>& tiles, int tile_rows,
                    const KernelRegistry& kernels, int threads) {
  const NativeKernel& potrf = *kernels.Find("potrf");
  const NativeKernel& trsm = *kernels.Find("trsm");
  const NativeKernel& syrk = *kernels.Find("syrk");
  const NativeKernel& gemm = *kernels.Find("gemm");
  const auto tile = [&](int i, int j) { return &tiles[i * (i + 1) / 2 + j]; };
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int k = 0; k < tile_rows; ++k) {
    Value* const kk = tile(k, k);
#pragma omp task firstprivate(kk) depend(inout : *kk) priority(3)
    Update(potrf, *kk, 0, {});
    for (int i = k + 1; i < tile_rows; ++i) {
      Value* const ik = tile(i, k);
#pragma omp task firstprivate(kk, ik) depend(in                  \
                                             : *kk) depend(inout \
                                                           : *ik) priority(2)
      Update(trsm, *ik, 1, {*kk});
    }
    for (int i = k + 1; i < tile_rows; ++i) {
      Value* const ik = tile(i, k);
      Value* const ii = tile(i, i);
#pragma omp task firstprivate(ik, ii) depend(in                  \
                                             : *ik) depend(inout \
                                                           : *ii) priority(1)
      Update(syrk, *ii, 0, {*ik});
      for (int j = k + 1; j < i; ++j) {
        Value* const jk = tile(j, k);
        Value* const ij = tile(i, j);
#pragma omp task firstprivate(ik, jk, ij) depend(in                       \
                                                 : *ik, *jk) depend(inout \
                                                                    : *ij)
        Update(gemm, *ij, 0, {*ik, *jk});
      }
    }
  }
}

void OpenMpPlainCholesky(PlainTiles& tiles, int threads) {
  const int rows = tiles.rows();
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int k = 0; k < rows; ++k) {
    double* const kk = tiles.At(k, k);
    const int nk = tiles.extent(k);
#pragma omp task firstprivate(kk, nk) depend(inout : *kk) priority(3)
    PlainPotrf(nk, kk);
    for (int i = k + 1; i < rows; ++i) {
      double* const ik = tiles.At(i, k);
      const int ni = tiles.extent(i);
#pragma omp task firstprivate(kk, ik, ni, nk) depend(in                   \
                                                     : *kk) depend(inout  \
                                                                   : *ik) \
    priority(2)
      PlainTrsm(ni, nk, kk, ik);
    }
    for (int i = k + 1; i < rows; ++i) {
      double* const ik = tiles.At(i, k);
      double* const ii = tiles.At(i, i);
      const int ni = tiles.extent(i);
#pragma omp task firstprivate(ik, ii, ni, nk) depend(in                   \
                                                     : *ik) depend(inout  \
                                                                   : *ii) \
    priority(1)
      PlainSyrk(ni, nk, ik, ii);
      for (int j = k + 1; j < i; ++j) {
        double* const jk = tiles.At(j, k);
        double* const ij = tiles.At(i, j);
        const int nj = tiles.extent(j);
#pragma omp task firstprivate(ik, jk, ij, ni, nj, nk) depend(in          \
                                                             : *ik, *jk) \
    depend(inout                                                         \
           : *ij)
        PlainGemm(ni, nj, nk, ik, jk, ij);
      }
    }
  }
}

}  // namespace dogged
