#include "routing/topology/topology_id.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr int kCharacterBaseMax = 36;
constexpr int kHashedDigits = 4;

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  return TopologyId::kBaseMax;
}

char CharacterOf(int digit) {
  return static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
}

absl::StatusOr<std::string> DigitsOf(int base, absl::string_view text) {
  std::string digits;
  if (base <= kCharacterBaseMax) {
    for (char c : text) {
      const int digit = DigitOf(c);
      if (digit >= base) {
        return absl::InvalidArgumentError(
            absl::StrCat("topology ID \"", text, "\": '", std::string(1, c),
                         "' is no digit of base ", base));
      }
      digits.push_back(static_cast<char>(digit));
    }
    return digits;
  }
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    int digit = 0;
    if (!absl::SimpleAtoi(part, &digit) || digit < 0 || digit >= base) {
      return absl::InvalidArgumentError(
          absl::StrCat("topology ID \"", text, "\": \"", part,
                       "\" is no digit of base ", base));
    }
    digits.push_back(static_cast<char>(digit));
  }
  return digits;
}

}  // namespace

absl::StatusOr<TopologyId> TopologyId::FromDigits(int base,
                                                  absl::string_view digits) {
  if (base < kBaseMin || base > kBaseMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology ID: base ", base, " is not in 2 to ", kBaseMax));
  }
  if (digits.empty() || digits.size() > kDigitsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology ID: ", digits.size(), " digits; 1 to ",
                     kDigitsMax, " are possible"));
  }
  for (char c : digits) {
    if (static_cast<uint8_t>(c) >= base) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topology ID: digit ", static_cast<uint8_t>(c), " in base ", base));
    }
  }
  TopologyId id;
  id.base_ = base;
  id.digits_ = std::string(digits.data(), digits.size());
  return id;
}

absl::StatusOr<TopologyId> TopologyId::Parse(absl::string_view text) {
  const bool binary = std::all_of(text.begin(), text.end(),
                                  [](char c) { return c == '0' || c == '1'; });
  int base = binary ? 2 : 16;
  absl::string_view rest = text;
  const size_t colon = text.find(':');
  if (colon != absl::string_view::npos) {
    if (!absl::SimpleAtoi(text.substr(0, colon), &base) || base < kBaseMin ||
        base > kBaseMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topology ID \"", text, "\": the base is not in 2 to ", kBaseMax));
    }
    rest = text.substr(colon + 1);
  }
  absl::StatusOr<std::string> digits = DigitsOf(base, rest);
  if (!digits.ok()) return digits.status();
  return FromDigits(base, *digits);
}

std::string TopologyId::ToString() const {
  std::string text;
  const bool plain = base_ == 16 && !std::all_of(digits_.begin(), digits_.end(),
                                                 [](char c) { return c < 2; });
  if (!plain && base_ != 2) text = absl::StrCat(base_, ":");
  for (int i = 0; i < size(); ++i) {
    if (base_ <= kCharacterBaseMax) {
      text.push_back(CharacterOf(digit(i)));
    } else {
      absl::StrAppend(&text, i > 0 ? "." : "", digit(i));
    }
  }
  return text;
}

int CommonPrefix(const TopologyId& a, const TopologyId& b) {
  const auto [end_a, end_b] =
      std::mismatch(a.digits().begin(), a.digits().end(), b.digits().begin(),
                    b.digits().end());
  return static_cast<int>(end_a - a.digits().begin());
}

int DigitsFor(int64_t count, int base) {
  int digits = 1;
  for (int64_t reach = base; reach < count; reach *= base) ++digits;
  return digits;
}

TopologyId HashedHostId(absl::string_view host) {
  const uint64_t hash = Hash64(host);
  std::string digits;
  for (int i = 0; i < kHashedDigits; ++i) {
    digits.push_back(static_cast<char>(hash >> (4 * i) & 15));
  }
  absl::StatusOr<TopologyId> id = TopologyId::FromDigits(16, digits);
  DOGGED_CHECK(id.ok()) << id.status().ToString();
  return *std::move(id);
}

}  // namespace dogged
