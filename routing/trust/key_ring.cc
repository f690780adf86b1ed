#include "routing/trust/key_ring.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::string_view kUse = "use";
constexpr absl::string_view kAccept = "accept";
constexpr absl::string_view kHead =
    "# Keys of a cluster of dogged: a process that has one may run code on "
    "its\n"
    "# agents. For nobody else's eyes: mode 0600. See `dogged key --help`.\n";

absl::Status AtLine(int line, const absl::Status& status) {
  return Annotate(status, absl::StrCat("line ", line));
}

}  // namespace

absl::StatusOr<KeyRing> KeyRing::Parse(absl::string_view text) {
  std::optional<Key> used;
  std::vector<std::pair<int, Key>> accepted;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    if (words.size() != 2 || (words[0] != kUse && words[0] != kAccept)) {
      return AtLine(number, absl::InvalidArgumentError(
                                "neither \"use KEY\" nor \"accept KEY\""));
    }
    absl::StatusOr<Key> key = Key::Parse(words[1]);
    if (!key.ok()) return AtLine(number, key.status());
    if (words[0] == kAccept) {
      accepted.emplace_back(number, *std::move(key));
    } else if (used.has_value()) {
      return AtLine(number, absl::InvalidArgumentError(
                                "a second key to use; let the line begin with "
                                "\"accept\""));
    } else {
      used = *std::move(key);
    }
  }
  if (!used.has_value()) {
    return absl::InvalidArgumentError(
        accepted.empty() ? "no key is in it"
                         : "no key in it is to be used; let one line begin "
                           "with \"use\"");
  }
  KeyRing out(*std::move(used));
  for (auto& [line, key] : accepted) {
    if (const absl::Status added = out.Add(std::move(key)); !added.ok()) {
      return AtLine(line, added);
    }
  }
  return out;
}

std::string KeyRing::Encode() const {
  std::string out(kHead);
  out.reserve(out.size() + keys_.size() * 3 * Key::kBytes);
  for (const Key& key : keys_) {
    std::string hex = key.ToHex();
    absl::StrAppend(&out, &key == &used() ? kUse : kAccept, " ", hex, "\n");
    Wipe(hex);
  }
  return out;
}

const Key* KeyRing::Find(absl::string_view id) const {
  const auto it = std::find_if(keys_.begin(), keys_.end(),
                               [id](const Key& key) { return key.id() == id; });
  return it == keys_.end() ? nullptr : &*it;
}

std::string KeyRing::Ids() const {
  return absl::StrJoin(keys_, ", ", [](std::string* out, const Key& key) {
    absl::StrAppend(out, key.id());
  });
}

absl::Status KeyRing::Add(Key key) {
  const Key* const same = Find(key.id());
  if (same != nullptr && *same == key) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", key.id(), " is there already"));
  }
  if (same != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "another key has the id ", key.id(), ", too: take a third one"));
  }
  if (keys_.size() == kKeysMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(kKeysMax, " keys are there, which is the most"));
  }
  keys_.push_back(std::move(key));
  return absl::OkStatus();
}

absl::StatusOr<size_t> KeyRing::IndexOf(absl::string_view id) const {
  const Key* const key = Find(id);
  if (key != nullptr) return static_cast<size_t>(key - keys_.data());
  return absl::InvalidArgumentError(
      absl::StrCat("no key ", id.substr(0, Key::kIdDigits),
                   " is in it; there are: ", Ids()));
}

absl::Status KeyRing::Use(absl::string_view id) {
  DOGGED_ASSIGN_OR_RETURN(const size_t index, IndexOf(id));
  std::rotate(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(index),
              keys_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  return absl::OkStatus();
}

absl::Status KeyRing::Remove(absl::string_view id) {
  DOGGED_ASSIGN_OR_RETURN(const size_t index, IndexOf(id));
  if (index == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("key ", id, " is the one in use; use another one first: ",
                     keys_.size() > 1 ? "`dogged key use ID`"
                                      : "`dogged key add` makes one"));
  }
  keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(index));
  return absl::OkStatus();
}

}  // namespace dogged
