#include "apps/dogged/rendezvous/meeting_point.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "routing/control/socket_address.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::string_view kFolderPrefix = "file:";
constexpr absl::string_view kNamePrefix = "dns:";

bool IsHostPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  return colon != absl::string_view::npos && colon > 0 &&
         absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 0 &&
         port <= 65535;
}

absl::StatusOr<MeetingPoint> ParseOne(absl::string_view word) {
  absl::string_view text = word;
  if (absl::ConsumePrefix(&text, kFolderPrefix)) {
    if (text.empty()) {
      return absl::InvalidArgumentError(
          "\"file:\" names no folder: write file:DIR");
    }
    return MeetingPoint{MeetingPoint::Kind::kFolder, std::string(text)};
  }
  const bool is_name = absl::ConsumePrefix(&text, kNamePrefix);
  if (is_name && (!IsHostPort(text) || absl::EndsWith(text, ":0"))) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", word, "\" is not dns:NAME:PORT"));
  }
  if (!IsHostPort(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat("address \"", word,
                     "\" is not HOST:PORT, nor file:DIR, nor dns:NAME:PORT"));
  }
  return MeetingPoint{
      is_name ? MeetingPoint::Kind::kName : MeetingPoint::Kind::kAddress,
      std::string(text)};
}

}  // namespace

std::string MeetingPoint::ToString() const {
  switch (kind) {
    case Kind::kAddress:
      return text;
    case Kind::kFolder:
      return absl::StrCat(kFolderPrefix, text);
    case Kind::kName:
      return absl::StrCat(kNamePrefix, text);
  }
  return text;
}

bool MeetingPoint::HasToBeAsked() const {
  return kind != Kind::kAddress || !IsNumeric(text);
}

absl::StatusOr<std::vector<MeetingPoint>> ParseMeetingPoints(
    const std::vector<std::string>& words, absl::string_view flag) {
  std::vector<MeetingPoint> out;
  for (const std::string& several : words) {
    for (const absl::string_view word : absl::StrSplit(several, ',')) {
      const auto point = ParseOne(word);
      if (!point.ok()) return Annotate(point.status(), flag);
      out.push_back(*point);
    }
  }
  return out;
}

}  // namespace dogged
