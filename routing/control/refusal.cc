#include "routing/control/refusal.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/control/control_frame.h"
#include "runtime/base/codec.h"
#include "runtime/base/log.h"

namespace dogged {
namespace {

constexpr absl::Duration kLogInterval = absl::Seconds(10);

bool IsId(absl::string_view id) {
  return id.size() == Key::kIdDigits &&
         std::all_of(id.begin(), id.end(), absl::ascii_isxdigit);
}

}  // namespace

Refusal Refusal::Of(Reason reason, const KeyRing* ring) {
  Refusal out{.reason = reason, .ids = {}};
  if (ring == nullptr) return out;
  for (const Key& key : ring->keys()) out.ids.push_back(key.id());
  return out;
}

std::string Refusal::EncodeFrame() const {
  Encoder encoder;
  encoder.PutU8(static_cast<uint8_t>(reason));
  encoder.PutVarint(ids.size());
  for (const std::string& id : ids) encoder.PutString(id);
  return absl::StrCat(FrameHeader::Encode(kRefusalType, encoder.view()),
                      encoder.view());
}

absl::StatusOr<Refusal> Refusal::Decode(absl::string_view body) {
  Decoder decoder(body);
  Refusal out;
  const uint8_t reason = decoder.GetU8();
  if (reason < 1 || reason > 3) decoder.Fail();
  out.reason = static_cast<Reason>(reason);
  const int64_t count = decoder.GetCount();
  for (int64_t i = 0; i < count && decoder.ok(); ++i) {
    out.ids.emplace_back(decoder.GetString());
    if (!IsId(out.ids.back())) decoder.Fail();
  }
  if (const absl::Status read = decoder.Finish("refusal"); !read.ok()) {
    return read;
  }
  return out;
}

std::string Refusal::WordsFor(absl::string_view address,
                              const KeyRing* ring) const {
  const std::string keys =
      absl::StrCat("theirs ", ids.empty() ? "none" : absl::StrJoin(ids, ", "),
                   ", ours ", ring == nullptr ? "none" : ring->Ids());
  switch (reason) {
    case Reason::kWantsKey:
      return absl::StrCat(address, " takes nobody without its key (", keys,
                          "): name its key file with --key-file, or put it at "
                          "~/.dogged/key");
    case Reason::kHasNoKey:
      return absl::StrCat(
          address, " has no key (", keys,
          "): start it with --key-file, or say --insecure here");
    case Reason::kOtherKey:
      break;
  }
  return absl::StrCat(address, " does not take our key (", keys,
                      "): copy its key file, or let both accept both, with "
                      "`dogged key add`");
}

void RefusalLog::Add(absl::Time now, absl::string_view peer,
                     absl::string_view words) {
  if (now < next_) {
    ++unsaid_;
    return;
  }
  next_ = now + kLogInterval;
  Log(LogLevel::kWarning,
      absl::StrCat("refused a connection from ", peer, ": ", words,
                   unsaid_ == 0
                       ? ""
                       : absl::StrCat(" (and ", unsaid_, " others before)")));
  unsaid_ = 0;
}

}  // namespace dogged
