#include "kvstore/dictionary/digest_log.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace dogged {
namespace {

bool IsPowerOfTwo(int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

}  // namespace

DigestLog::DigestLog(int64_t versions_max, int64_t digests_max)
    : versions_max_(versions_max), digests_max_(digests_max) {
  DOGGED_CHECK(IsPowerOfTwo(versions_max) && IsPowerOfTwo(digests_max))
      << "versions " << versions_max << ", digests " << digests_max;
}

void DigestLog::Resize(Ring& ring, int64_t size) {
  absl::InlinedVector<Digest, 1> before(size);
  before.swap(ring.digests);
  const int64_t kept = std::min<int64_t>(size, std::ssize(before));
  for (int64_t version = std::max<int64_t>(0, ring.newest - kept + 1);
       version <= ring.newest; ++version) {
    ring.digests[ring.IndexOf(version)] =
        before[static_cast<size_t>(version) & (before.size() - 1)];
  }
  digest_count_ += size - std::ssize(before);
}

// Grows, as far as it may, until all versions from one to the other fit.
void DigestLog::Cover(Ring& ring, int64_t from, int64_t to) {
  int64_t size = std::max<int64_t>(1, std::ssize(ring.digests));
  while (size < versions_max_ && size <= to - from) size *= 2;
  if (size > std::ssize(ring.digests)) Resize(ring, size);
}

// Room for `version`, which is newer than all others.
void DigestLog::Advance(Ring& ring, int64_t version) {
  const bool is_empty = ring.digests.empty();
  Cover(ring, is_empty ? version : ring.oldest(), version);
  if (version - ring.newest >= std::ssize(ring.digests)) {
    std::fill(ring.digests.begin(), ring.digests.end(), Digest());
  } else {
    for (int64_t entering = ring.newest + 1; entering <= version; ++entering) {
      ring.digests[ring.IndexOf(entering)] = Digest();
    }
  }
  ring.newest = version;
}

bool DigestLog::Note(const Label& row, int64_t version, const Digest& digest) {
  if (version < 0) return true;
  Ring& ring = rows_[row];
  if (version > ring.newest) {
    Advance(ring, version);
  } else {
    Cover(ring, version, ring.newest);
    if (!ring.Covers(version)) return true;
  }
  Digest& logged = ring.digests[ring.IndexOf(version)];
  if (!logged.IsZero()) return logged == digest;
  logged = digest;
  while (digest_count_ > digests_max_ && versions_max_ > 1) {
    versions_max_ /= 2;
    for (auto& [other, its_ring] : rows_) {
      if (std::ssize(its_ring.digests) > versions_max_) {
        Resize(its_ring, versions_max_);
      }
    }
  }
  return true;
}

std::optional<Digest> DigestLog::Find(const Label& row, int64_t version) const {
  const auto it = rows_.find(row);
  if (it == rows_.end() || version < 0 || !it->second.Covers(version)) {
    return std::nullopt;
  }
  const Digest& logged = it->second.digests[it->second.IndexOf(version)];
  if (logged.IsZero()) return std::nullopt;
  return logged;
}

RowDigests DigestLog::DigestsOf(const Label& row, const Ring& ring) const {
  RowDigests out{.row = row, .versions = {}};
  for (int64_t version = ring.oldest(); version <= ring.newest; ++version) {
    const Digest& logged = ring.digests[ring.IndexOf(version)];
    if (!logged.IsZero()) out.versions.emplace_back(version, logged);
  }
  return out;
}

std::vector<RowDigests> DigestLog::TakeUntold(absl::Time now) {
  std::vector<RowDigests> out;
  for (auto it = untold_.begin(); it != untold_.end();) {
    auto& [row, untold] = *it;
    if (now < untold.next) {
      ++it;
      continue;
    }
    const auto known = rows_.find(row);
    if (known != rows_.end()) out.push_back(DigestsOf(row, known->second));
    untold.next = now + untold.interval;
    untold.interval *= 2;
    it =
        untold.interval > 2 * kToldAgainMax ? untold_.erase(it) : std::next(it);
  }
  return out;
}

std::vector<RowDigests> DigestLog::Select(
    absl::FunctionRef<bool(const Label& row)> wanted) const {
  std::vector<RowDigests> out;
  for (const auto& [row, ring] : rows_) {
    if (!wanted(row)) continue;
    RowDigests found = DigestsOf(row, ring);
    if (!found.versions.empty()) out.push_back(std::move(found));
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.row < b.row; });
  return out;
}

}  // namespace dogged
