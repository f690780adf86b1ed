#include "apps/dogged/agent/directory_cluster.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

constexpr char kName[] = "/cluster";
constexpr char kNoKeys[] = "no keys";
// Lines that are read of a file of whatever bytes, and shown of each.
constexpr size_t kLinesMax = KeyRing::kKeysMax;
constexpr size_t kShownMax = 40;

std::vector<std::string> IdsOf(const KeyFile* keys) {
  std::vector<std::string> out;
  if (keys != nullptr) {
    for (const Key& key : keys->ring()->keys()) out.push_back(key.id());
  }
  if (out.empty()) out.emplace_back(kNoKeys);
  return out;
}

}  // namespace

absl::Status DirectoryCluster::Check() const {
  std::ifstream file(directory_ + kName);
  std::vector<std::string> theirs;
  std::string line;
  while (theirs.size() < kLinesMax && std::getline(file, line)) {
    theirs.push_back(absl::CHexEscape(line.substr(0, kShownMax)));
  }
  if (theirs.empty()) return absl::OkStatus();
  const std::vector<std::string> ours = IdsOf(keys_);
  for (const std::string& id : theirs) {
    if (std::find(ours.begin(), ours.end(), id) != ours.end()) {
      return absl::OkStatus();
    }
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "directory ", directory_, " has jobs of another cluster (its keys: ",
      absl::StrJoin(theirs, ", "), "; ours: ", absl::StrJoin(ours, ", "),
      "): this agent serves without a directory; give it another one, or empty "
      "this one"));
}

void DirectoryCluster::Refresh() {
  const auto ring = keys_ == nullptr ? nullptr : keys_->ring();
  if (is_written_ && ring == written_) return;
  is_written_ = true;
  written_ = ring;
  const std::string path = directory_ + kName;
  const std::string partial = path + ".partial";
  {
    std::ofstream file(partial);
    for (const std::string& id : IdsOf(keys_)) file << id << "\n";
    file.flush();
    if (file && std::rename(partial.c_str(), path.c_str()) == 0) return;
  }
  Log(LogLevel::kWarning,
      absl::StrCat(path,
                   ": can't be written; after a change of keys this "
                   "directory may count as another cluster's"));
}

}  // namespace dogged
