#include "apps/dogged_bench/peers/stencil.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace dogged {
namespace {

// Memory whose pages nobody has touched yet: the threads that compute do.
using Buffer = std::unique_ptr<double[]>;
Buffer NewBuffer(int64_t count) { return Buffer(new double[count]); }

// Points of space, both ends included.
struct Range3 {
  std::array<int64_t, 3> lower;
  std::array<int64_t, 3> upper;

  int64_t Extent(size_t d) const { return upper[d] - lower[d] + 1; }
  int64_t Count() const { return Extent(0) * Extent(1) * Extent(2); }
};

Range3 Inside(const StencilPeer& peer) {
  Range3 out{};
  for (size_t d = 0; d < 3; ++d) {
    out.lower[d] = peer.extent[d] > 1 ? 1 : 0;
    out.upper[d] = peer.extent[d] > 1 ? peer.extent[d] - 2 : 0;
  }
  return out;
}

void Start(const StencilPeer& peer, double* out, int threads) {
  const auto [nx, ny, nz] = peer.extent;
  const Range3 inside = Inside(peer);
#pragma omp parallel for num_threads(threads) collapse(2) schedule(static)
  for (int64_t x = 0; x < nx; ++x) {
    for (int64_t y = 0; y < ny; ++y) {
      double* const row = out + (x * ny + y) * nz;
      if (x < inside.lower[0] || x > inside.upper[0] || y < inside.lower[1] ||
          y > inside.upper[1]) {
        std::fill(row, row + nz, 0.0);
        continue;
      }
      row[0] = row[nz - 1] = 0;
      for (int64_t z = 1; z < nz - 1; ++z) row[z] = peer.start(x, y, z, nz);
    }
  }
}

void CopyRows(const double* from, const Range3& from_box, double* to,
              const Range3& to_box, const Range3& box) {
  const auto at = [](const Range3& of, int64_t x, int64_t y, int64_t z) {
    return ((x - of.lower[0]) * of.Extent(1) + y - of.lower[1]) * of.Extent(2) +
           z - of.lower[2];
  };
  for (int64_t x = box.lower[0]; x <= box.upper[0]; ++x) {
    for (int64_t y = box.lower[1]; y <= box.upper[1]; ++y) {
      std::memcpy(to + at(to_box, x, y, box.lower[2]),
                  from + at(from_box, x, y, box.lower[2]),
                  static_cast<size_t>(box.Extent(2)) * sizeof(double));
    }
  }
}

// `time_steps` over `window`, of which `box` comes out right: in buffers of
// this thread, whose halo shrinks by one a step.
void RunTile(const StencilPeer& peer, const Range3& box, const Range3& window,
             int64_t time_steps, std::array<double*, 3>& ring) {
  const Range3 inside = Inside(peer);
  const int64_t y_stride = window.Extent(2);
  const int64_t x_stride = window.Extent(1) * y_stride;
  for (int64_t to_go = time_steps - 1; to_go >= 0; --to_go) {
    Range3 now = box;
    for (size_t d = 0; d < 3; ++d) {
      now.lower[d] = std::max(box.lower[d] - to_go, inside.lower[d]);
      now.upper[d] = std::min(box.upper[d] + to_go, inside.upper[d]);
    }
    for (int64_t x = now.lower[0]; x <= now.upper[0]; ++x) {
      for (int64_t y = now.lower[1]; y <= now.upper[1]; ++y) {
        const int64_t at = (x - window.lower[0]) * x_stride +
                           (y - window.lower[1]) * y_stride + now.lower[2] -
                           window.lower[2];
        peer.row(ring[2] + at, ring[1] + at, ring[0] + at, now.Extent(2),
                 x_stride, y_stride);
      }
    }
    // The oldest is written next.
    if (peer.is_second_order) {
      std::rotate(ring.begin(), ring.begin() + 1, ring.end());
    } else {
      std::swap(ring[1], ring[2]);
    }
  }
}

// State that all threads of a tiled run share.
struct TiledRun {
  TiledRun(const StencilPeer& of, int64_t count)
      : peer(of),
        now{NewBuffer(count), NewBuffer(count)},
        next{NewBuffer(count), NewBuffer(count)} {
    for (size_t d = 0; d < 3; ++d) {
      counts[d] = (peer.extent[d] + peer.tile[d] - 1) / peer.tile[d];
      tile_count *= counts[d];
      window_max *= std::min(peer.extent[d], peer.tile[d] + 2 * peer.depth);
    }
  }
  void Tile(int64_t number, int64_t time_steps);

  const StencilPeer& peer;
  // A step and, for the second order, the one before; and the next ones.
  std::array<Buffer, 2> now;
  std::array<Buffer, 2> next;
  std::array<int64_t, 3> counts{};
  int64_t tile_count = 1;
  int64_t window_max = 1;
};

void TiledRun::Tile(int64_t number, int64_t time_steps) {
  thread_local std::array<Buffer, 3> buffers;
  thread_local int64_t buffer_count = 0;
  if (buffer_count < window_max) {
    // Some elements between them, for the sake of the cache's sets.
    for (size_t b = 0; b < 3; ++b) {
      buffers[b] = NewBuffer(window_max + 64 * static_cast<int64_t>(b));
    }
    buffer_count = window_max;
  }
  std::array<double*, 3> ring{buffers[0].get(), buffers[1].get(),
                              buffers[2].get()};
  const Range3 all{
      {0, 0, 0}, {peer.extent[0] - 1, peer.extent[1] - 1, peer.extent[2] - 1}};
  Range3 box{};
  Range3 window{};
  for (size_t d = 3; d-- > 0;) {
    box.lower[d] = number % counts[d] * peer.tile[d];
    box.upper[d] = std::min(box.lower[d] + peer.tile[d], peer.extent[d]) - 1;
    window.lower[d] = std::max<int64_t>(box.lower[d] - time_steps, 0);
    window.upper[d] = std::min(box.upper[d] + time_steps, peer.extent[d] - 1);
    number /= counts[d];
  }
  // The walls of every buffer stay as they are.
  for (size_t b = 0; b < 3; ++b) {
    CopyRows(now[b == 0 ? 1 : 0].get(), all, ring[b], window, window);
  }
  RunTile(peer, box, window, time_steps, ring);
  CopyRows(ring[1], window, next[0].get(), all, box);
  if (peer.is_second_order) {
    CopyRows(ring[0], window, next[1].get(), all, box);
  }
}

// The loops, one function for each: compilers vectorise them.
void Heat1dRow(double* __restrict out, const double* in, const double*,
               int64_t count, int64_t, int64_t) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = in[i] + 0.0125 * (in[i - 1] + in[i + 1] - 2 * in[i]);
  }
}

void Heat2dRow(double* __restrict out, const double* in, const double*,
               int64_t count, int64_t, int64_t y) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = in[i] +
             0.2 * (in[i - y] + in[i + y] + in[i - 1] + in[i + 1] - 4 * in[i]);
  }
}

void Heat3dRow(double* __restrict out, const double* in, const double*,
               int64_t count, int64_t x, int64_t y) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = in[i] + 0.125 * (in[i - x] + in[i + x] + in[i - y] + in[i + y] +
                              in[i - 1] + in[i + 1] - 6 * in[i]);
  }
}

void Wave2dRow(double* __restrict out, const double* in, const double* before,
               int64_t count, int64_t, int64_t y) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = 2 * in[i] - before[i] +
             0.25 * (in[i - y] + in[i + y] + in[i - 1] + in[i + 1] - 4 * in[i]);
  }
}

double Real(int64_t value) { return static_cast<double>(value); }

}  // namespace

StencilPeer Heat1dPeer(int64_t n, int64_t steps) {
  return {.extent = {1, 1, n},
          .steps = steps,
          .row = Heat1dRow,
          .start = [](int64_t, int64_t, int64_t x,
                      int64_t size) { return Real(x * (size - 1 - x)); },
          .tile = {1, 1, 16384},
          .depth = 64};
}

StencilPeer Heat2dPeer(int64_t n, int64_t steps) {
  return {.extent = {1, n, n},
          .steps = steps,
          .row = Heat2dRow,
          .start =
              [](int64_t, int64_t x, int64_t y, int64_t size) {
                return std::sin(3.0 * Real(x) / Real(size)) *
                       std::cos(5.0 * Real(y) / Real(size));
              },
          .tile = {1, 128, 512},
          .depth = 16};
}

StencilPeer Heat3dPeer(int64_t n, int64_t steps) {
  return {.extent = {n, n, n},
          .steps = steps,
          .row = Heat3dRow,
          .start =
              [](int64_t x, int64_t y, int64_t z, int64_t size) {
                return 1.0 * Real(x) * Real(size - 1 - x) * Real(y) *
                       Real(size - 1 - y) * Real(z) * Real(size - 1 - z) /
                       (1.0 * Real(size) * Real(size) * Real(size));
              },
          .tile = {32, 32, 256},
          .depth = 4};
}

StencilPeer Wave2dPeer(int64_t n, int64_t steps) {
  return {
      .extent = {1, n, n},
      .steps = steps - 1,
      .is_second_order = true,
      .row = Wave2dRow,
      .start =
          [](int64_t, int64_t x, int64_t y, int64_t size) {
            return 1.0 * Real(x) * Real(size - 1 - x) * Real(y) *
                   Real(size - 1 - y) /
                   (1.0 * Real(size) * Real(size) * Real(size) * Real(size));
          },
      .tile = {1, 128, 512},
      .depth = 12};
}

std::vector<double> RunNaive(const StencilPeer& peer, int threads) {
  const auto [nx, ny, nz] = peer.extent;
  const int64_t count = nx * ny * nz;
  std::array<Buffer, 3> buffers;
  std::array<double*, 3> ring{};
  for (size_t b = peer.is_second_order ? 0 : 1; b < 3; ++b) {
    buffers[b] = NewBuffer(count);
    ring[b] = buffers[b].get();
    Start(peer, ring[b], threads);
  }
  const Range3 inside = Inside(peer);
  // A line is shared out in parts where there is but one.
  const bool is_line = nx * ny == 1;
  for (int64_t step = 0; step < peer.steps; ++step) {
    if (is_line) {
#pragma omp parallel num_threads(threads)
      {
        const int64_t part = omp_get_thread_num();
        const int64_t first = 1 + (nz - 2) * part / threads;
        const int64_t last = 1 + (nz - 2) * (part + 1) / threads;
        peer.row(ring[2] + first, ring[1] + first, nullptr, last - first, 0, 0);
      }
    } else {
#pragma omp parallel for num_threads(threads) collapse(2) schedule(static)
      for (int64_t x = inside.lower[0]; x <= inside.upper[0]; ++x) {
        for (int64_t y = inside.lower[1]; y <= inside.upper[1]; ++y) {
          const int64_t at = (x * ny + y) * nz + 1;
          peer.row(ring[2] + at, ring[1] + at, ring[0] + at, nz - 2, ny * nz,
                   nz);
        }
      }
    }
    if (peer.is_second_order) {
      std::rotate(ring.begin(), ring.begin() + 1, ring.end());
    } else {
      std::swap(ring[1], ring[2]);
    }
  }
  return {ring[1], ring[1] + count};
}

std::vector<double> RunTiled(const StencilPeer& peer, int threads) {
  const int64_t count = peer.extent[0] * peer.extent[1] * peer.extent[2];
  TiledRun run(peer, count);
  for (const Buffer& buffer : run.now) Start(peer, buffer.get(), threads);
  for (int64_t done = 0; done < peer.steps; done += peer.depth) {
    const int64_t time_steps = std::min(peer.depth, peer.steps - done);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t tile = 0; tile < run.tile_count; ++tile) {
      run.Tile(tile, time_steps);
    }
    std::swap(run.now, run.next);
  }
  return {run.now[0].get(), run.now[0].get() + count};
}

}  // namespace dogged
