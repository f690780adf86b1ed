// Environment variables and entropy, read once: nothing else may ask for them.
#ifndef DOGGED_APPS_DOGGED_ENVIRONMENT_H_
#define DOGGED_APPS_DOGGED_ENVIRONMENT_H_

#include "apps/dogged/options.h"

namespace dogged {

Environment ReadEnvironment();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_ENVIRONMENT_H_
