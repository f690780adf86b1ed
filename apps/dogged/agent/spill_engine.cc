#include "apps/dogged/agent/spill_engine.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

namespace fs = std::filesystem;

constexpr char kSpillPrefix[] = "dogged-spill-";

// Folders whose names begin with `prefix`.
std::vector<std::string> Folders(const std::string& in,
                                 absl::string_view prefix) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(in, ignored)) {
    if (absl::StartsWith(entry.path().filename().string(), prefix)) {
      out.push_back(entry.path().string());
    }
  }
  return out;
}

}  // namespace

void RemoveSpillFolders(const std::string& temporary_folder, int64_t process) {
  std::error_code ignored;
  for (const std::string& path :
       Folders(temporary_folder, absl::StrCat(kSpillPrefix, process, "-"))) {
    fs::remove_all(path, ignored);
  }
}

SpillEngine::SpillEngine(std::string temporary_folder, Open open)
    : temporary_folder_(std::move(temporary_folder)), open_(std::move(open)) {}

SpillEngine::~SpillEngine() {
  engine_.reset();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

absl::Status SpillEngine::Start() {
  // A folder whose process is gone, and that opens, has no owner any more.
  std::error_code ignored;
  for (const std::string& path : Folders(temporary_folder_, kSpillPrefix)) {
    const std::string name = path.substr(path.rfind(kSpillPrefix));
    const long process = std::atol(name.c_str() + std::strlen(kSpillPrefix));
    if (process <= 0 || kill(static_cast<pid_t>(process), 0) == 0) continue;
    if (open_(path).ok()) fs::remove_all(path, ignored);
  }
  std::string folder =
      absl::StrCat(temporary_folder_, "/", kSpillPrefix, getpid(), "-XXXXXX");
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("memory is short, and ", folder,
                     " can't be made: ", std::strerror(errno)));
  }
  folder_ = folder;
  auto engine = open_(folder_);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  return absl::OkStatus();
}

void SpillEngine::Submit(EngineRequest request) {
  // Without a put there is nothing to erase or to read.
  const bool is_put = request.kind == EngineRequest::Kind::kPut;
  if (engine_ == nullptr && is_put && status_.ok()) status_ = Start();
  if (engine_ != nullptr) {
    engine_->Submit(std::move(request));
    return;
  }
  absl::Status status;
  if (is_put) {
    status = absl::ResourceExhaustedError(status_.message());
  } else if (request.kind == EngineRequest::Kind::kGet) {
    status = absl::NotFoundError("no such key");
  }
  replies_.push_back({.kind = request.kind,
                      .ticket = request.ticket,
                      .status = std::move(status)});
}

void SpillEngine::Poll(std::vector<EngineReply>& replies) {
  for (EngineReply& reply : replies_) replies.push_back(std::move(reply));
  replies_.clear();
  if (engine_ != nullptr) engine_->Poll(replies);
}

absl::Duration SpillEngine::BusyTime() const {
  return engine_ == nullptr ? absl::ZeroDuration() : engine_->BusyTime();
}

}  // namespace dogged
