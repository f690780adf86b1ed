#include "apps/dogged/host/build_facts.h"

#include <dogged_commit.h>

#include "absl/strings/str_split.h"

namespace dogged {

const BuildFacts& BuildFactsHere() {
  static const BuildFacts facts{
      .version = DOGGED_VERSION,
      .commit = DOGGED_COMMIT,
      .build_type = DOGGED_BUILD_TYPE,
      .compiler = DOGGED_COMPILER,
      .sanitizers = absl::StrSplit(DOGGED_SANITIZERS, ',', absl::SkipEmpty())};
  return facts;
}

}  // namespace dogged
