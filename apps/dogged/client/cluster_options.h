// Options of commands about a cluster that have no program. Plain data.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_
#define DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_

#include <string>
#include <vector>

#include "apps/dogged/keys/key_choice.h"
#include "apps/dogged/report/outputs.h"

namespace dogged {

struct ClusterOptions {
  std::string cluster;
  KeyChoice keys;
  bool json = false;
  bool all = false;                  // also of many jobs
  std::string job;                   // first digits of its hash
  std::vector<std::string> outputs;  // of fetch
  OutputForm output_form;            // likewise
  std::string output_to = "here";    // or "agents": they write .npy files
  std::string label;                 // of get and watch
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_
