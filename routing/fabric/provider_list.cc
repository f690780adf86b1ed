#include "routing/fabric/provider_list.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace dogged {

absl::StatusOr<ProviderList> LoadProviderList(absl::string_view folder,
                                              const std::string& host) {
  const std::string path = absl::StrCat(folder, "/dogged_fabric.so");
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return absl::UnavailableError(absl::StrCat("no transport: ", dlerror()));
  }
  const auto list = reinterpret_cast<ListFabricProviders>(
      dlsym(module, kListFabricProvidersName));
  if (list == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(path, ": a transport of another build"));
  }
  ProviderList out;
  list(host, out);
  return out;
}

}  // namespace dogged
