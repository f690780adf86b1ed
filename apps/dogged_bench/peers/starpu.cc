#include "apps/dogged_bench/peers/starpu.h"

#include <starpu.h>

#include <vector>

#include "apps/dogged_bench/report.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

struct Tile {
  int rows;
  int columns;
  double* data;
};

Tile TileOf(void* buffer) {
  return {static_cast<int>(STARPU_MATRIX_GET_NX(buffer)),
          static_cast<int>(STARPU_MATRIX_GET_NY(buffer)),
          reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffer))};
}

void Potrf(void** buffers, void*) {
  const Tile a = TileOf(buffers[0]);
  PlainPotrf(a.rows, a.data);
}

void Trsm(void** buffers, void*) {
  const Tile a = TileOf(buffers[1]);
  PlainTrsm(a.rows, a.columns, TileOf(buffers[0]).data, a.data);
}

void Syrk(void** buffers, void*) {
  const Tile a = TileOf(buffers[0]);
  PlainSyrk(a.rows, a.columns, a.data, TileOf(buffers[1]).data);
}

void Gemm(void** buffers, void*) {
  const Tile a = TileOf(buffers[0]);
  const Tile b = TileOf(buffers[1]);
  PlainGemm(a.rows, b.rows, a.columns, a.data, b.data, TileOf(buffers[2]).data);
}

// Reads all but the last of its tiles.
starpu_codelet Codelet(starpu_cpu_func_t function, int tiles) {
  starpu_codelet out;
  starpu_codelet_init(&out);
  out.where = STARPU_CPU;
  out.cpu_funcs[0] = function;
  out.nbuffers = tiles;
  for (int i = 0; i < tiles; ++i) {
    out.modes[i] = i + 1 < tiles ? STARPU_R : STARPU_RW;
  }
  return out;
}

class Handles {
 public:
  explicit Handles(PlainTiles& tiles) {
    for (int i = 0; i < tiles.rows(); ++i) {
      for (int j = 0; j <= i; ++j) {
        starpu_data_handle_t handle;
        const auto rows = static_cast<uint32_t>(tiles.extent(i));
        starpu_matrix_data_register(
            &handle, STARPU_MAIN_RAM,
            reinterpret_cast<uintptr_t>(tiles.At(i, j)), rows, rows,
            static_cast<uint32_t>(tiles.extent(j)), sizeof(double));
        handles_.push_back(handle);
      }
    }
  }
  ~Handles() {
    for (starpu_data_handle_t handle : handles_) {
      starpu_data_unregister(handle);
    }
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  starpu_data_handle_t At(int i, int j) const {
    return handles_[i * (i + 1) / 2 + j];
  }

 private:
  std::vector<starpu_data_handle_t> handles_;
};

void Factor(const Handles& a, int rows) {
  // The codelets must outlive the tasks.
  starpu_codelet potrf = Codelet(Potrf, 1);
  starpu_codelet trsm = Codelet(Trsm, 2);
  starpu_codelet syrk = Codelet(Syrk, 2);
  starpu_codelet gemm = Codelet(Gemm, 3);
  const auto urgency = [&](int position) { return 3 * rows - position; };
  for (int k = 0; k < rows; ++k) {
    starpu_task_insert(&potrf, STARPU_PRIORITY, urgency(3 * k), STARPU_RW,
                       a.At(k, k), 0);
    for (int i = k + 1; i < rows; ++i) {
      starpu_task_insert(&trsm, STARPU_PRIORITY, urgency(2 * k + i), STARPU_R,
                         a.At(k, k), STARPU_RW, a.At(i, k), 0);
    }
    for (int i = k + 1; i < rows; ++i) {
      starpu_task_insert(&syrk, STARPU_PRIORITY, urgency(2 * i + k), STARPU_R,
                         a.At(i, k), STARPU_RW, a.At(i, i), 0);
      for (int j = k + 1; j < i; ++j) {
        starpu_task_insert(&gemm, STARPU_PRIORITY, urgency(i + j + k), STARPU_R,
                           a.At(i, k), STARPU_R, a.At(j, k), STARPU_RW,
                           a.At(i, j), 0);
      }
    }
  }
  starpu_task_wait_for_all();
}

}  // namespace

double StarpuCholesky(PlainTiles& tiles, int threads) {
  starpu_conf options;
  starpu_conf_init(&options);
  options.sched_policy_name = "prio";
  options.ncpus = threads;
  options.ncuda = 0;
  options.nopencl = 0;
  DOGGED_CHECK(starpu_init(&options) == 0) << "StarPU does not start";
  double seconds = 0;
  {
    const Handles handles(tiles);
    seconds = Seconds([&] { Factor(handles, tiles.rows()); });
  }
  starpu_shutdown();
  return seconds;
}

}  // namespace dogged
