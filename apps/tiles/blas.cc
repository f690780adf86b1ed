#include "apps/tiles/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "apps/tiles/product.h"
#include "runtime/base/check.h"

namespace dogged::blas {
namespace {

int Int(int64_t x) { return static_cast<int>(x); }

// True if the processor has all features that OpenBLAS's kernels for SkylakeX
// use.
bool HasWideVectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

// Bits of the vectors that OpenBLAS's kernels for `core` use, of a core that it
// may choose for want of a better one; 128 for cores without AVX2.
int VectorBits(absl::string_view core) {
  if (core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids") {
    return 512;
  }
  return core == "Haswell" || core == "Zen" || core == "Excavator" ? 256 : 128;
}

// The core whose kernels use the widest vectors of this processor; null without
// AVX2, where OpenBLAS chooses well by itself.
const char* WidestCore() {
  if (HasWideVectors()) return "SkylakeX";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 &&
      __builtin_cpu_supports("fma") != 0) {
    return "Haswell";
  }
#endif
  return nullptr;
}

// Routines of OpenBLAS that are used. The library is loaded when it is first
// needed, with one thread: linked, it would start one for each processor before
// main(), and end the process where one can't start, or try for ever.
struct Routines {
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&cblas_dsyrk) dsyrk = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  decltype(&openblas_get_corename) get_corename = nullptr;
  decltype(&openblas_get_config) get_config = nullptr;
  // OpenBLAS chooses its kernels with these as it is loaded; they are in every
  // build for several processors, and in no header. Null in other builds.
  void (*choose_core)() = nullptr;
  void (*forget_core)() = nullptr;
  // Working memory of OpenBLAS: a block for each call that runs at a time.
  void* (*take_block)(int) = nullptr;
  void (*give_block)(void*) = nullptr;
};

constexpr char kLibrary[] = "libopenblas.so.0";
// A block is no larger, in builds for several processors.
constexpr size_t kBlockBytesMax = size_t{128} << 20;

bool AreAddressesLimited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool IsLimited() {
  rlimit limit{};
  return AreAddressesLimited() || (getrlimit(RLIMIT_DATA, &limit) == 0 &&
                                   limit.rlim_cur != RLIM_INFINITY);
}

// Whether the library can be loaded within the limits of this process. Debian
// 13's, 0.3.29, takes a block as it is loaded, and tries for ever where there
// is none; Debian 12's, 0.3.21, does not. So a child tries first, for a second
// of processor time at most.
bool LoadsInTime() {
  const pid_t child = fork();
  if (child < 0) return true;
  if (child == 0) {
    const rlimit second{.rlim_cur = 1, .rlim_max = 1};
    if (setrlimit(RLIMIT_CPU, &second) == 0) dlopen(kLibrary, RTLD_NOW);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status);
}

template <typename Routine>
void Find(void* library, const char* name, Routine*& routine) {
  routine = reinterpret_cast<Routine*>(dlsym(library, name));
}

absl::StatusOr<Routines> Load() {
  setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/1);
  if (IsLimited() && !LoadsInTime()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no room for OpenBLAS, which takes ", kBlockBytesMax >> 20,
        " MB of addresses as it is loaded: raise `ulimit -v` or `ulimit -d`"));
  }
  // For all: kernels of users may count on finding it.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const std::string words = absl::StrCat("no OpenBLAS: ", dlerror());
    if (!AreAddressesLimited()) return absl::FailedPreconditionError(words);
    return absl::ResourceExhaustedError(absl::StrCat(
        words, "; if `ulimit -v` is what it lacks, 64 MB more would do"));
  }
  Routines out;
  Find(library, "cblas_dgemm", out.dgemm);
  Find(library, "cblas_dsyrk", out.dsyrk);
  Find(library, "openblas_set_num_threads", out.set_num_threads);
  Find(library, "openblas_get_corename", out.get_corename);
  Find(library, "openblas_get_config", out.get_config);
  Find(library, "gotoblas_dynamic_init", out.choose_core);
  Find(library, "gotoblas_dynamic_quit", out.forget_core);
  Find(library, "blas_memory_alloc", out.take_block);
  Find(library, "blas_memory_free", out.give_block);
  if (out.dgemm == nullptr || out.dsyrk == nullptr ||
      out.set_num_threads == nullptr || out.get_corename == nullptr ||
      out.get_config == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(kLibrary, " is not OpenBLAS"));
  }
  return out;
}

const absl::StatusOr<Routines>& Loaded() {
  static const absl::StatusOr<Routines> loaded = Load();
  return loaded;
}

const Routines& OpenBlas() {
  DOGGED_CHECK(Loaded().ok()) << Loaded().status().ToString();
  return *Loaded();
}

// True if so many bytes of addresses can be mapped in one piece.
bool CanMap(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, bytes);
  return true;
}

// c = the product, plus c if `keep` is 1. False, and nothing done: that is
// OpenBLAS's.
bool OwnProduct(const Extents& extents, ProductTerms terms, double keep,
                Matrix c) {
  if (!OwnProductsAreFaster() || (keep != 0 && keep != 1)) return false;
  terms.adds = keep == 1;
  Multiply(extents, terms, c, OwnKernels());
  return true;
}

}  // namespace

void Product(const Extents& extents, double factor, ConstMatrix a,
             ConstMatrix b, double keep, Matrix c) {
  const ProductTerms terms{
      .factor = factor, .a = {a.data, a.stride, 1}, .b = {b.data, b.stride, 1}};
  if (OwnProduct(extents, terms, keep, c)) return;
  OpenBlas().dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, Int(extents.m),
                   Int(extents.n), Int(extents.k), factor, a.data,
                   Int(a.stride), b.data, Int(b.stride), keep, c.data,
                   Int(c.stride));
}

void ProductTransposed(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c) {
  const ProductTerms terms{
      .factor = factor, .a = {a.data, a.stride, 1}, .b = {b.data, 1, b.stride}};
  if (OwnProduct(extents, terms, keep, c)) return;
  OpenBlas().dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, Int(extents.m),
                   Int(extents.n), Int(extents.k), factor, a.data,
                   Int(a.stride), b.data, Int(b.stride), keep, c.data,
                   Int(c.stride));
}

void TransposedProduct(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c) {
  const ProductTerms terms{
      .factor = factor, .a = {a.data, 1, a.stride}, .b = {b.data, b.stride, 1}};
  if (OwnProduct(extents, terms, keep, c)) return;
  OpenBlas().dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, Int(extents.m),
                   Int(extents.n), Int(extents.k), factor, a.data,
                   Int(a.stride), b.data, Int(b.stride), keep, c.data,
                   Int(c.stride));
}

void SubtractSquare(int64_t n, int64_t k, ConstMatrix a, Matrix c) {
  if (!HasOwnSquares()) {
    OpenBlas().dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, Int(n), Int(k),
                     -1.0, a.data, Int(a.stride), 1.0, c.data, Int(c.stride));
    return;
  }
  const ProductTerms terms{.factor = -1,
                           .a = {a.data, a.stride, 1},
                           .b = {a.data, 1, a.stride},
                           .is_lower = true};
  Multiply({n, n, k}, terms, c, OwnKernels());
}

// Ours need not pack as much; but only with the widest vectors are they ahead
// of OpenBLAS's.
bool OwnProductsAreFaster() {
#if defined(__x86_64__)
  return &OwnKernels() == &kMicroKernels8;
#else
  return false;
#endif
}

bool HasOwnSquares() { return &OwnKernels() != &kMicroKernels2; }

absl::Status SetUp() {
  if (!Loaded().ok()) return Loaded().status();
  const Routines& blas = OpenBlas();
  blas.set_num_threads(1);
  const char* const widest = WidestCore();
  const bool can_choose =
      blas.choose_core != nullptr && blas.forget_core != nullptr;
  if (widest == nullptr || !can_choose ||
      VectorBits(blas.get_corename()) >= VectorBits(widest)) {
    return absl::OkStatus();
  }
  // Does nothing if the user has set it: then the same kernels are chosen.
  setenv("OPENBLAS_CORETYPE", widest, /*overwrite=*/0);
  blas.forget_core();
  blas.choose_core();
  return absl::OkStatus();
}

absl::Status Reserve(int callers) {
  const Routines& blas = OpenBlas();
  if (!AreAddressesLimited() || blas.take_block == nullptr ||
      blas.give_block == nullptr) {
    return absl::OkStatus();
  }
  absl::Status out;
  std::vector<void*> blocks;
  for (int i = 0; i < callers && out.ok(); ++i) {
    if (CanMap(kBlockBytesMax)) {
      blocks.push_back(blas.take_block(0));
    } else {
      out = absl::ResourceExhaustedError(absl::StrCat(
          "no addresses for OpenBLAS, which takes ", kBlockBytesMax >> 20,
          " MB for each worker: raise `ulimit -v` by ",
          static_cast<size_t>(callers - i) * (kBlockBytesMax >> 20),
          " MB, or use fewer --workers"));
    }
  }
  for (void* block : blocks) blas.give_block(block);
  return out;
}

std::string Name() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::vector<std::string> words =
      absl::StrSplit(OpenBlas().get_config(), ' ');
  return absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "", " ",
                      OpenBlas().get_corename());
}

const MicroKernels& OwnKernels() {
  static const MicroKernels& here = MicroKernelsHere();
  return here;
}

}  // namespace dogged::blas
