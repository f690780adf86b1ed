#include "runtime/job/marks.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"

namespace dogged {

Marks::Marks(const Relations& relations, int64_t pin_interval)
    : relations_(relations), pin_interval_(pin_interval) {
  DOGGED_CHECK(pin_interval >= 1) << "pin interval " << pin_interval;
}

int32_t Marks::VersionIndexOf(const Label& label) const {
  return relations_.program()
      .arrays[static_cast<size_t>(label.array)]
      .version_index;
}

Label Marks::WithVersion(const Label& row, int64_t version) const {
  Label label = row;
  const int32_t at = VersionIndexOf(row);
  if (at >= 0) label.index[at] = version;
  return label;
}

Label Marks::RowOf(const Label& label) const { return WithVersion(label, 0); }

int64_t Marks::VersionOf(const Label& label) const {
  const int32_t version = VersionIndexOf(label);
  return version < 0 ? 0 : label.index[version];
}

void Marks::NoteBound(const Label& label) {
  bound_.Raise(RowOf(label), VersionOf(label));
}

bool Marks::WasBound(const Label& label) const {
  return !IsReopened(label) && bound_.Has(RowOf(label), VersionOf(label));
}

bool Marks::WasOvertaken(const Label& label) const {
  if (VersionIndexOf(label) < 0 || IsReopened(label)) return false;
  const std::optional<int64_t> newest = NewestBound(label);
  if (!newest.has_value() || *newest <= VersionOf(label)) return false;
  // Nothing orders the versions of a row of leaves.
  const std::optional<Task> producer =
      relations_.ProducerOf(WithVersion(label, *newest));
  return producer.has_value() && relations_.RequiredCount(*producer) > 0;
}

std::optional<int64_t> Marks::NewestBound(const Label& label) const {
  return bound_.Newest(RowOf(label));
}

void Marks::NoteRetired(const Label& label) {
  const Label row = RowOf(label);
  retired_.Raise(row, VersionOf(label));
  reopened_.erase(label);
  if (doubts_.empty()) return;
  const auto doubt = doubts_.find(row);
  if (doubt != doubts_.end() && doubt->second <= VersionOf(label)) {
    doubts_.erase(doubt);
  }
}

void Marks::Doubt(const Label& row, int64_t version) {
  const auto doubt = doubts_.try_emplace(row, version).first;
  doubt->second = std::max(doubt->second, version);
}

bool Marks::IsDoubted(const Label& label) const {
  if (doubts_.empty()) return false;
  const auto doubt = doubts_.find(RowOf(label));
  return doubt != doubts_.end() && VersionOf(label) <= doubt->second;
}

bool Marks::IsRetired(const Label& label) const {
  return !IsReopened(label) && retired_.Has(RowOf(label), VersionOf(label)) &&
         !(IsPinned(label) && MustKeep(label));
}

void Marks::Reopen(const Label& label) {
  if (!reopened_.emplace(label, false).second) return;
  reopened_[label] = !MustKeep(label);
}

bool Marks::IsPinned(const Label& label) const {
  if (VersionIndexOf(label) < 0) return false;
  const int64_t version = VersionOf(label);
  if (version <= 0 || version % pin_interval_ != 0) return false;
  const std::optional<Task> producer = relations_.ProducerOf(label);
  return producer.has_value() && relations_.RequiredCount(*producer) > 0;
}

bool Marks::MustKeep(const Label& label) const {
  const auto reopened = reopened_.find(label);
  if (reopened == reopened_.end() && !IsPinned(label)) return false;
  if (reopened != reopened_.end() && reopened->second) return true;
  // How far the row's consumers are done.
  const Label row = RowOf(label);
  std::optional<int64_t> done = retired_.Newest(row);
  const auto kept = kept_.find(row);
  if (kept != kept_.end()) {
    done = std::max(done.value_or(0), *kept->second.rbegin());
  }
  if (!done.has_value()) return true;
  const int64_t pin = FloorDiv(VersionOf(label), pin_interval_) * pin_interval_;
  if (*done >= pin + 2 * pin_interval_) return false;
  // A row whose last version is done with needs none of the former.
  return relations_.ProducerOf(WithVersion(label, *done + 1)).has_value();
}

void Marks::Keep(const Label& label) {
  kept_[RowOf(label)].insert(VersionOf(label));
}

bool Marks::IsKept(const Label& label) const {
  const auto row = kept_.find(RowOf(label));
  return row != kept_.end() && row->second.contains(VersionOf(label));
}

std::vector<Label> Marks::TakeExpired(const Label& label) {
  std::vector<Label> out;
  const auto row = kept_.find(RowOf(label));
  if (row == kept_.end()) return out;
  absl::btree_set<int64_t>& versions = row->second;
  for (auto it = versions.begin(); it != versions.end();) {
    const Label kept = WithVersion(row->first, *it);
    if (MustKeep(kept)) {
      ++it;
      continue;
    }
    out.push_back(kept);
    it = versions.erase(it);
  }
  if (versions.empty()) kept_.erase(row);
  return out;
}

std::vector<Label> Marks::TakeAllKept() {
  std::vector<Label> out;
  for (const auto& [row, versions] : kept_) {
    for (int64_t version : versions) out.push_back(WithVersion(row, version));
  }
  kept_.clear();
  std::sort(out.begin(), out.end());
  return out;
}

void Marks::Forget(absl::FunctionRef<bool(const Label& row)> moved) {
  absl::erase_if(reopened_,
                 [&](const auto& known) { return moved(RowOf(known.first)); });
  absl::erase_if(given_up_,
                 [&](const Label& label) { return moved(RowOf(label)); });
  absl::erase_if(doubts_, [&](const auto& row) { return moved(row.first); });
  absl::erase_if(kept_, [&](const auto& row) { return moved(row.first); });
}

}  // namespace dogged
