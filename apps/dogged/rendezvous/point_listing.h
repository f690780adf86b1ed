// PointListing: what is at a meeting point now. Looking there may block, for as
// long as a resolver or a file server likes.
#ifndef DOGGED_APPS_DOGGED_RENDEZVOUS_POINT_LISTING_H_
#define DOGGED_APPS_DOGGED_RENDEZVOUS_POINT_LISTING_H_

#include <string>
#include <vector>

#include "apps/dogged/rendezvous/meeting_point.h"
#include "apps/dogged/rendezvous/pool_folder.h"
#include "runtime/base/ids.h"

namespace dogged {

// The reader: entries of a folder that are no use to it are left out.
struct PointReader {
  std::string host;
  std::vector<std::string> keys;  // ids
  // Agents with other keys may take it all the same.
  bool has_certificate = false;
  // Its own entry is fresh, and tells the folder's time. Without one no entry
  // counts as old.
  AgentId agent = AgentId();
};

struct PointListing {
  std::vector<std::string> addresses;  // numeric, the freshest first
  std::vector<std::string> names;      // of a folder: the entries of these
  std::vector<PoolEntry> stale;        // of a folder: nobody has them
  // Why there are none, or fewer than there could be; empty if all is well.
  std::string trouble;
};

// The folder's own agents may be many: the freshest alone are listed.
PointListing ListPoint(const MeetingPoint& point, const PointReader& reader);

// Of this computer.
std::string HostName();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RENDEZVOUS_POINT_LISTING_H_
