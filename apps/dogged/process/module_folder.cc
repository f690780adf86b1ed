#include "apps/dogged/process/module_folder.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

namespace fs = std::filesystem;

// As cmake/install.cmake says.
constexpr absl::string_view kInstalledModules = "lib/dogged";

}  // namespace

std::string ProgramPath() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

absl::StatusOr<std::string> ModuleFolder(absl::string_view module) {
  const fs::path program = ProgramPath();
  const fs::path beside = program.parent_path();
  const fs::path installed =
      beside.parent_path() / std::string(kInstalledModules);
  for (const fs::path& folder : {beside, installed}) {
    std::error_code ignored;
    if (fs::exists(folder / std::string(module), ignored)) {
      return folder.string();
    }
  }
  return absl::UnavailableError(
      absl::StrCat(module, " is neither beside ", program.string(), " nor in ",
                   installed.string(),
                   ": this installation is not whole, install it again"));
}

}  // namespace dogged
