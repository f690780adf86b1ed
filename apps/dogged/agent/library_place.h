// LibraryPlace: where kernels of users' libraries run, as --libraries says.
#ifndef DOGGED_APPS_DOGGED_AGENT_LIBRARY_PLACE_H_
#define DOGGED_APPS_DOGGED_AGENT_LIBRARY_PLACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/exec/kernels/kernel_jail.h"

namespace dogged {

struct LibraryPlace {
  enum class Kind : uint8_t {
    kJailed,  // in processes that may compute, and no more
    kApart,   // in processes that may do what the user may
    kHere,    // in this process
  };
  Kind kind = Kind::kJailed;
  int workers = 1;  // that share what memory there is for kernels

  // "jailed", "apart", "here": as users say it.
  static std::vector<std::string> Names();
  // `name` is one of them.
  static LibraryPlace Of(const std::string& name, int workers);

  KernelJail Jail() const;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_LIBRARY_PLACE_H_
