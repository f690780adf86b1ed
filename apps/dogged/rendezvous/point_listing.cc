#include "apps/dogged/rendezvous/point_listing.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "routing/control/socket_address.h"

namespace dogged {
namespace {

constexpr int64_t kAddressesMax = 32;
// Entries are freshened every few seconds. One that was not for so long is
// nobody's, whichever cluster it was of, and need not be asked.
constexpr absl::Duration kAgeMax = absl::Hours(1);

// Neither has keys, or both have one.
bool HaveOneKey(const std::vector<std::string>& ours,
                const std::vector<std::string>& theirs) {
  if (ours.empty() || theirs.empty()) return ours.empty() == theirs.empty();
  return std::any_of(ours.begin(), ours.end(), [&](const std::string& key) {
    return std::find(theirs.begin(), theirs.end(), key) != theirs.end();
  });
}

std::string KeysText(const std::vector<std::string>& keys) {
  return keys.empty() ? "none" : absl::StrJoin(keys, " ");
}

PointListing ListFolder(const std::string& path, const PointReader& reader) {
  PointListing out;
  auto entries = PoolFolder(path).Read(reader.agent);
  if (!entries.ok()) {
    out.trouble = std::string(entries.status().message());
    return out;
  }
  int64_t strange = 0;
  int64_t elsewhere = 0;
  std::string keys;
  std::string host;
  for (PoolEntry& entry : *entries) {
    if (!entry.is_whole || entry.age > kAgeMax) {
      out.stale.push_back(std::move(entry));
      continue;
    }
    const auto address = ResolveAddress(entry.address);
    if (!reader.has_certificate && !HaveOneKey(reader.keys, entry.keys)) {
      keys = KeysText(entry.keys);
      ++strange;
    } else if (address.ok() && address->IsLoopback() &&
               entry.host != reader.host) {
      host = entry.host;
      ++elsewhere;
    } else if (std::ssize(out.addresses) < kAddressesMax) {
      out.addresses.push_back(std::move(entry.address));
      out.names.push_back(std::move(entry.name));
    }
  }
  std::vector<std::string> words;
  if (strange > 0) {
    words.push_back(absl::StrCat(
        strange, " of its agents are of another cluster (theirs ", keys,
        ", ours ", KeysText(reader.keys), ") and left alone"));
  }
  if (elsewhere > 0) {
    words.push_back(absl::StrCat(
        elsewhere, " of its agents listen on loopback of another host (", host,
        "), where nobody else reaches them: start them with --listen of an "
        "address of that host"));
  }
  if (!words.empty()) {
    out.trouble = absl::StrCat(path, ": ", absl::StrJoin(words, "; "));
  }
  return out;
}

}  // namespace

PointListing ListPoint(const MeetingPoint& point, const PointReader& reader) {
  if (point.kind == MeetingPoint::Kind::kFolder) {
    return ListFolder(point.text, reader);
  }
  PointListing out;
  const auto found = ResolveAll(point.text);
  if (!found.ok()) {
    out.trouble = std::string(found.status().message());
    return out;
  }
  for (const SocketAddress& address : *found) {
    out.addresses.push_back(address.ToString());
  }
  return out;
}

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return host;
}

}  // namespace dogged
