#include "kvstore/dictionary/watermarks.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/division.h"

namespace dogged {

Watermarks::Watermarks(const LabelRelations& relations,
                       int64_t generation_interval)
    : relations_(relations), generation_interval_(generation_interval) {
  DOGGED_CHECK(generation_interval >= 1)
      << "generation interval " << generation_interval;
}

void Watermarks::NoteBound(const Label& label) {
  bound_.Raise(relations_.RowOf(label), relations_.VersionOf(label));
}

bool Watermarks::WasBound(const Label& label) const {
  return !IsRecomputing(label) &&
         bound_.Has(relations_.RowOf(label), relations_.VersionOf(label));
}

bool Watermarks::WasOvertaken(const Label& label) const {
  if (!relations_.HasVersions(label) || IsRecomputing(label)) return false;
  const std::optional<int64_t> newest = NewestBound(label);
  if (!newest.has_value() || *newest <= relations_.VersionOf(label))
    return false;
  // Nothing orders the versions of a row of leaves.
  return relations_.IsMadeOfLabels(relations_.WithVersion(label, *newest));
}

std::optional<int64_t> Watermarks::NewestBound(const Label& label) const {
  return bound_.Newest(relations_.RowOf(label));
}

int64_t Watermarks::VersionsFoundBy(const Label& label) const {
  if (!relations_.HasVersions(label)) return 1;
  const int64_t version = relations_.VersionOf(label);
  const std::optional<int64_t> newest = NewestBound(label);
  if (newest.has_value()) return std::max<int64_t>(1, version - *newest);
  // The first version that is made, by halves: all that follow are.
  int64_t first = version;
  int64_t below = -1;
  while (below + 1 < first) {
    const int64_t middle = below + (first - below) / 2;
    if (relations_.IsMade(relations_.WithVersion(label, middle))) {
      first = middle;
    } else {
      below = middle;
    }
  }
  return version - first + 1;
}

void Watermarks::NoteRetired(const Label& label) {
  const Label row = relations_.RowOf(label);
  retired_.Raise(row, relations_.VersionOf(label));
  recomputing_.erase(label);
  if (unverified_.empty()) return;
  const auto doubt = unverified_.find(row);
  if (doubt != unverified_.end() &&
      doubt->second <= relations_.VersionOf(label)) {
    unverified_.erase(doubt);
  }
}

std::vector<Label> Watermarks::ReleasedEarly() const {
  std::vector<Label> out;
  out.reserve(released_early_.size());
  for (const auto& [label, consumers] : released_early_) out.push_back(label);
  std::sort(out.begin(), out.end());
  return out;
}

void Watermarks::MarkUnverified(const Label& row, int64_t version) {
  const auto doubt = unverified_.try_emplace(row, version).first;
  doubt->second = std::max(doubt->second, version);
}

bool Watermarks::IsUnverified(const Label& label) const {
  if (unverified_.empty()) return false;
  const auto doubt = unverified_.find(relations_.RowOf(label));
  return doubt != unverified_.end() &&
         relations_.VersionOf(label) <= doubt->second;
}

bool Watermarks::IsRetired(const Label& label) const {
  return !IsRecomputing(label) &&
         retired_.Has(relations_.RowOf(label), relations_.VersionOf(label)) &&
         !(IsRetainedGeneration(label) && MustRetain(label));
}

void Watermarks::MarkRecomputing(const Label& label) {
  if (!recomputing_.emplace(label, false).second) return;
  recomputing_[label] = !MustRetain(label);
}

bool Watermarks::IsRetainedGeneration(const Label& label) const {
  const int64_t version = relations_.VersionOf(label);
  if (version <= 0 || version % generation_interval_ != 0) return false;
  return relations_.IsMadeOfLabels(label);
}

bool Watermarks::MustRetain(const Label& label) const {
  const auto recomputing = recomputing_.find(label);
  if (recomputing == recomputing_.end() && !IsRetainedGeneration(label))
    return false;
  if (recomputing != recomputing_.end() && recomputing->second) return true;
  // How far the row's consumers are done.
  const Label row = relations_.RowOf(label);
  std::optional<int64_t> done = retired_.Newest(row);
  const auto kept = retained_.find(row);
  if (kept != retained_.end()) {
    done = std::max(done.value_or(0), *kept->second.rbegin());
  }
  if (!done.has_value()) return true;
  const int64_t pin =
      FloorDiv(relations_.VersionOf(label), generation_interval_) *
      generation_interval_;
  if (*done >= pin + 2 * generation_interval_) return false;
  // A row whose last version is done with needs none of the former.
  return relations_.IsMade(relations_.WithVersion(label, *done + 1));
}

void Watermarks::Retain(const Label& label) {
  retained_[relations_.RowOf(label)].insert(relations_.VersionOf(label));
}

bool Watermarks::IsRetained(const Label& label) const {
  const auto row = retained_.find(relations_.RowOf(label));
  return row != retained_.end() &&
         row->second.contains(relations_.VersionOf(label));
}

std::vector<Label> Watermarks::TakeExpired(const Label& label) {
  std::vector<Label> out;
  const auto row = retained_.find(relations_.RowOf(label));
  if (row == retained_.end()) return out;
  std::set<int64_t>& versions = row->second;
  for (auto it = versions.begin(); it != versions.end();) {
    const Label kept = relations_.WithVersion(row->first, *it);
    if (MustRetain(kept)) {
      ++it;
      continue;
    }
    out.push_back(kept);
    it = versions.erase(it);
  }
  if (versions.empty()) retained_.erase(row);
  return out;
}

std::vector<Label> Watermarks::TakeAllRetained() {
  std::vector<Label> out;
  for (const auto& [row, versions] : retained_) {
    for (int64_t version : versions)
      out.push_back(relations_.WithVersion(row, version));
  }
  retained_.clear();
  std::sort(out.begin(), out.end());
  return out;
}

void Watermarks::Forget(absl::FunctionRef<bool(const Label& row)> moved) {
  absl::erase_if(recomputing_, [&](const auto& known) {
    return moved(relations_.RowOf(known.first));
  });
  absl::erase_if(released_early_, [&](const auto& known) {
    return moved(relations_.RowOf(known.first));
  });
  absl::erase_if(unverified_,
                 [&](const auto& row) { return moved(row.first); });
  absl::erase_if(retained_, [&](const auto& row) { return moved(row.first); });
}

}  // namespace dogged
