#include "dsl/kernels/library_kernel.h"

#include <utility>

namespace dogged::dsl {

NativeKernel LibraryKernel(const NativeBody& body,
                           std::shared_ptr<KernelLibrary> library) {
  NativeKernel out;
  out.name = body.kernel;
  out.in_count = static_cast<int>(body.in.size());
  out.out_count = static_cast<int>(body.out.size());
  out.scalar_count = static_cast<int>(body.scalar_count());
  out.run = [library = library.get(), name = body.kernel,
             elements = body.out_elements](NativeCall& call) {
    for (size_t o = 0; o < call.out.size(); ++o) {
      call.out[o] = Value::Allocate(elements[o], call.out_shapes[o]);
    }
    return library->Call(name, call);
  };
  out.library = std::move(library);
  return out;
}

}  // namespace dogged::dsl
