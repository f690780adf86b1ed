// PoolFolder: a folder that all agents and clients of a pool see, in which each
// agent has an entry, a file. Its name is the incarnation, and its lines say:
//
//   address 10.0.0.5:7070
//   host node5
//   keys 7f3a c201              (ids, the used one first; no such line without)
//
// An entry is whole or not there, for it is renamed into its place. Its agent
// freshens it as long as it lives, which the folder's own clock notes, and
// removes it as it leaves; a killed one leaves it behind. An entry that is gone
// or changed comes back as it is freshened: so others may clear it too soon,
// and nothing is lost. Files with other names are nobody's here.
//
// Strangers may write to the folder: no link in it is followed, nothing that is
// no plain file is opened for long, and ages are those beside one's own entry.
#ifndef DOGGED_APPS_DOGGED_RENDEZVOUS_POOL_FOLDER_H_
#define DOGGED_APPS_DOGGED_RENDEZVOUS_POOL_FOLDER_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"

namespace dogged {

struct PoolEntry {
  std::string name;  // of the file
  std::string address;
  std::string host;
  std::vector<std::string> keys;
  // Older than the entry of the agent that reads; zero for newer ones.
  absl::Duration age;
  bool is_whole = true;  // false: it is no entry
};

class PoolFolder {
 public:
  explicit PoolFolder(std::string path) : path_(std::move(path)) {}

  // Makes the folder, if the one around it is there, and looks whether one can
  // write there. Errors: kInvalidArgument, with what to do.
  absl::Status Prepare() const;
  // Writes the entry of an incarnation. Errors: kUnavailable.
  absl::Status Write(AgentId agent, const PoolEntry& entry) const;
  // The entry is as new, and as it should be: false if it has to be written.
  bool Freshen(AgentId agent, const PoolEntry& entry) const;
  void Remove(AgentId agent) const { Remove(NameOf(agent)); }
  void Remove(absl::string_view name) const;
  // Entries, the freshest first; of several that have an address the freshest
  // alone is whole. `reader` has just freshened its entry; none, or without an
  // entry: no ages. Errors: kUnavailable.
  absl::StatusOr<std::vector<PoolEntry>> Read(AgentId reader) const;

  static std::string NameOf(AgentId agent);
  const std::string& path() const { return path_; }

 private:
  std::filesystem::path Place(absl::string_view name) const;

  const std::string path_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RENDEZVOUS_POOL_FOLDER_H_
