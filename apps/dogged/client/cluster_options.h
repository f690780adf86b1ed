// Options of `dogged status` and `dogged cancel`. Plain data.
#ifndef DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_
#define DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_

#include <string>

#include "apps/dogged/keys/key_choice.h"

namespace dogged {

struct ClusterOptions {
  std::string cluster;
  KeyChoice keys;
  bool json = false;
  bool all = false;  // also of many jobs
  std::string job;   // of cancel
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_CLUSTER_OPTIONS_H_
