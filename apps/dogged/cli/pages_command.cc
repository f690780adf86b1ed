#include "apps/dogged/cli/pages_command.h"

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "apps/dogged/cli/command_description.h"
#include "apps/dogged/cli/completion.h"
#include "apps/dogged/cli/man_page.h"
#include "apps/dogged/host/build_facts.h"
#include "apps/dogged/process/errors.h"
#include "apps/output/file.h"

namespace dogged {
namespace {

// Path below the folder: text.
std::map<std::string, std::string> PagesOf(const CommandDescription& all) {
  const std::string version = BuildFactsHere().version;
  std::map<std::string, std::string> out = {
      {"man/man1/dogged.1", MainManPage(all, version)},
      {"bash-completion/completions/dogged", BashCompletion(all)},
      {"zsh/site-functions/_dogged", ZshCompletion(all)},
      {"fish/vendor_completions.d/dogged.fish", FishCompletion(all)}};
  for (const CommandDescription& command : all.commands) {
    out[absl::StrCat("man/man1/", ManPageName(command), ".1")] =
        ManPage(command, version);
  }
  return out;
}

absl::Status WritePages(const std::string& folder,
                        const CommandDescription& all) {
  namespace fs = std::filesystem;
  for (const auto& [name, text] : PagesOf(all)) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return FileError(path.parent_path().string(), "can't be made",
                       error.value());
    }
    const absl::Status status = WriteWholeFile(path.string(), {text});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

class PagesFlags : public CommandFlags {
 public:
  explicit PagesFlags(CLI::App& app)
      : app_(app),
        command_(AddCommand(app, "pages", "dogged pages ~/.local/share",
                            "Writes man pages, and completions for bash, zsh "
                            "and fish, where these look for them below a "
                            "folder `share`.")) {
    command_.add_option("FOLDER", folder_, "such as /usr/local/share")
        ->required();
  }
  bool IsParsed() const override { return command_.parsed(); }
  absl::StatusOr<ExitCode> Run() override {
    const absl::Status status = WritePages(folder_, DescribeCommands(app_));
    return status.ok() ? ExitCode::kDone : PrintError(status);
  }

 private:
  const CLI::App& app_;
  CLI::App& command_;
  std::string folder_;
};

}  // namespace

std::unique_ptr<CommandFlags> AddPagesFlags(CLI::App& app) {
  return std::make_unique<PagesFlags>(app);
}

}  // namespace dogged
