#include "kvstore/dictionary/shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

LabelEntry* Shard::Find(const Label& label) {
  auto it = entries_.find(label);
  return it == entries_.end() ? nullptr : &it->second;
}

const LabelEntry* Shard::Find(const Label& label) const {
  auto it = entries_.find(label);
  return it == entries_.end() ? nullptr : &it->second;
}

LabelEntry& Shard::Get(const Label& label) {
  const auto [it, inserted] = entries_.try_emplace(label);
  if (inserted) it->second.announce.SetLabel(it->first);
  return it->second;
}

absl::StatusOr<bool> Shard::Bind(const Label& label, Value value) {
  LabelEntry& entry = Get(label);
  if (!entry.IsBound()) {
    entry.value = std::move(value);
    if (is_tracking_) bound_.push_back(label);
    return true;
  }
  if (entry.value.digest() != value.digest()) {
    return absl::DataLossError(absl::StrCat(
        "two values for one label: bound as ", entry.value.digest().ToString(),
        ", now ", value.digest().ToString()));
  }
  return false;
}

void Shard::Erase(const Label& label) {
  const auto it = entries_.find(label);
  if (it == entries_.end()) return;
  if (is_tracking_ && it->second.on_disk != OnDisk::kNo) {
    erased_.push_back(label);
  }
  entries_.erase(it);
}

int64_t Shard::BytesInMemory() const {
  int64_t bytes = 0;
  for (const auto& [label, entry] : entries_) {
    if (!entry.IsBound() || entry.value.IsSpilled()) continue;
    bytes += entry.value.bytes();
  }
  return bytes;
}

std::vector<Label> Shard::Select(
    absl::FunctionRef<bool(const Label&, const LabelEntry&)> keep) const {
  std::vector<Label> out;
  for (const auto& [label, entry] : entries_) {
    if (keep(label, entry)) out.push_back(label);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void RowWatermarks::Raise(const Label& row, int64_t version) {
  auto [it, inserted] = newest_.emplace(row, version);
  if (!inserted) it->second = std::max(it->second, version);
}

bool RowWatermarks::Has(const Label& row, int64_t version) const {
  const auto it = newest_.find(row);
  return it != newest_.end() && it->second >= version;
}

std::optional<int64_t> RowWatermarks::Newest(const Label& row) const {
  const auto it = newest_.find(row);
  if (it == newest_.end()) return std::nullopt;
  return it->second;
}

std::vector<std::pair<Label, int64_t>> RowWatermarks::Select(
    absl::FunctionRef<bool(const Label& row)> keep) const {
  std::vector<std::pair<Label, int64_t>> out;
  for (const auto& [row, version] : newest_) {
    if (keep(row)) out.emplace_back(row, version);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace dogged
