#include "apps/dogged/agent/kernel_source.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/tiles/blas_kernels.h"
#include "apps/tiles/numeric_class.h"
#include "dsl/kernels/load_kernels.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {

KernelSource::KernelSource(const Environment& environment,
                           const LibraryPlace& libraries,
                           AllowedLibraries allowed)
    : compiler_({.compiler = environment.compiler,
                 .cache_directory = environment.cache_directory}),
      libraries_(libraries),
      processes_(libraries.Jail()),
      allowed_(std::move(allowed)) {
  numeric_parts_ = NumericPartsHere();
  AddBlasKernels(registry_);
}

dsl::CompileSource KernelSource::compile() const {
  return [this](absl::string_view source) { return compiler_.Load(source); };
}

LoadLibrary KernelSource::load_library() const {
  return [this](const KernelLibrarySpec& spec)
             -> absl::StatusOr<std::shared_ptr<KernelLibrary>> {
    DOGGED_RETURN_IF_ERROR(allowed_.Check(spec));
    return libraries_.kind == LibraryPlace::Kind::kHere
               ? compiler_.LoadHere(spec)
               : processes_.Load(spec);
  };
}

absl::StatusOr<KernelTable> KernelSource::Load(const Job& job, int workers,
                                               absl::Status* trouble) const {
  if (!MeetsNumericClass(numeric_parts_.host, job.numeric_class)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the job needs the numeric class \"", job.numeric_class,
        "\", this host's is \"", numeric_parts_.host,
        "\": bits could differ; submit the job from a host of this class"));
  }
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "native") continue;
    DOGGED_RETURN_IF_ERROR(ReserveBlas(workers));
    break;
  }
  absl::Status said;
  absl::StatusOr<KernelTable> out =
      dsl::LoadKernels(job, registry_, compile(), load_library(),
                       trouble == nullptr ? &said : trouble);
  if (!said.ok()) Log(LogLevel::kWarning, said.message());
  return out;
}

}  // namespace dogged
