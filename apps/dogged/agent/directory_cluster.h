// DirectoryCluster: the cluster whose jobs an agent's directory has. A file
// there names the ids of that cluster's keys, and is written again as the keys
// change: a job that came from members of another cluster is not to begin here.
#ifndef DOGGED_APPS_DOGGED_AGENT_DIRECTORY_CLUSTER_H_
#define DOGGED_APPS_DOGGED_AGENT_DIRECTORY_CLUSTER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "routing/trust/key_file.h"
#include "routing/trust/key_ring.h"

namespace dogged {

class DirectoryCluster {
 public:
  // `keys` may be null, and outlives this.
  DirectoryCluster(std::string directory, const KeyFile* keys)
      : directory_(std::move(directory)), keys_(keys) {}
  DirectoryCluster(const DirectoryCluster&) = delete;
  DirectoryCluster& operator=(const DirectoryCluster&) = delete;

  // Errors: kPermissionDenied if its jobs are of agents without any of these
  // keys. A directory that says nothing is of no cluster yet.
  absl::Status Check() const;
  // From now on the directory has jobs of this cluster, whose keys may have
  // changed since the last call. Costs next to nothing if they have not.
  void Refresh();

 private:
  const std::string directory_;
  const KeyFile* const keys_;
  bool is_written_ = false;
  std::shared_ptr<const KeyRing> written_;  // as of the last write
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_DIRECTORY_CLUSTER_H_
