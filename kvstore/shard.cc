#include "kvstore/shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

Entry* Shard::Find(const Label& label) {
  auto it = entries_.find(label);
  return it == entries_.end() ? nullptr : &it->second;
}

const Entry* Shard::Find(const Label& label) const {
  auto it = entries_.find(label);
  return it == entries_.end() ? nullptr : &it->second;
}

absl::StatusOr<bool> Shard::Bind(const Label& label, Value value) {
  Entry& entry = entries_[label];
  if (entry.value.IsNone()) {
    entry.value = std::move(value);
    return true;
  }
  if (entry.value.digest() != value.digest()) {
    return absl::DataLossError(absl::StrCat(
        "two values for one label: bound as ", entry.value.digest().ToString(),
        ", now ", value.digest().ToString()));
  }
  return false;
}

std::vector<Label> Shard::Select(
    absl::FunctionRef<bool(const Label&, const Entry&)> keep) const {
  std::vector<Label> out;
  for (const auto& [label, entry] : entries_) {
    if (keep(label, entry)) out.push_back(label);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void DoneMarks::Raise(const Label& row, int64_t version) {
  auto [it, inserted] = marks_.emplace(row, version);
  if (!inserted) it->second = std::max(it->second, version);
}

std::optional<int64_t> DoneMarks::Newest(const Label& row) const {
  auto it = marks_.find(row);
  if (it == marks_.end()) return std::nullopt;
  return it->second;
}

}  // namespace dogged
