// BuildFacts: what this program was built from, and how.
#ifndef DOGGED_APPS_DOGGED_HOST_BUILD_FACTS_H_
#define DOGGED_APPS_DOGGED_HOST_BUILD_FACTS_H_

#include <string>
#include <vector>

namespace dogged {

struct BuildFacts {
  std::string version;     // "0.1.0"
  std::string commit;      // "182f16462c5a", with "+" if files differ from it
  std::string build_type;  // "Release"
  std::string compiler;    // "GNU 12.2.0"
  // Such as "AddressSanitizer"; empty for what users run.
  std::vector<std::string> sanitizers;
};

const BuildFacts& BuildFactsHere();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_BUILD_FACTS_H_
