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
  Refusal out{.reason = reason, .ids = {}, .words = {}};
  if (ring == nullptr) return out;
  for (const Key& key : ring->keys()) out.ids.push_back(key.id());
  return out;
}

std::string Refusal::EncodeFrame() const {
  Encoder encoder;
  encoder.PutU8(static_cast<uint8_t>(reason));
  encoder.PutVarint(ids.size());
  for (const std::string& id : ids) encoder.PutString(id);
  if (reason == Reason::kOtherCertificate) {
    encoder.PutString(absl::string_view(words).substr(0, kWordsMax));
  }
  return absl::StrCat(FrameHeader::Encode(kRefusalType, encoder.view()),
                      encoder.view());
}

absl::StatusOr<Refusal> Refusal::Decode(absl::string_view body) {
  Decoder decoder(body);
  Refusal out;
  const uint8_t reason = decoder.GetU8();
  if (reason < 1 || reason > 6) decoder.Fail();
  out.reason = static_cast<Reason>(reason);
  const int64_t count = decoder.GetCount();
  for (int64_t i = 0; i < count && decoder.ok(); ++i) {
    out.ids.emplace_back(decoder.GetString());
    if (!IsId(out.ids.back())) decoder.Fail();
  }
  if (decoder.ok() && out.reason == Reason::kOtherCertificate) {
    out.words = std::string(decoder.GetString());
    const bool is_text =
        std::all_of(out.words.begin(), out.words.end(), absl::ascii_isprint);
    if (out.words.size() > kWordsMax || !is_text) decoder.Fail();
  }
  if (const absl::Status read = decoder.Finish("refusal"); !read.ok()) {
    return read;
  }
  return out;
}

absl::StatusOr<Refusal> Refusal::DecodeClear(absl::string_view body) {
  absl::StatusOr<Refusal> out = Decode(body);
  if (out.ok() && out->reason == Reason::kOtherCertificate) {
    return absl::InvalidArgumentError("refusal in clear with words");
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
      if (ring == nullptr) {
        return absl::StrCat(address,
                            " has neither a key nor a certificate: start it "
                            "with --ca-file, or say --insecure here");
      }
      return absl::StrCat(
          address, " has no key (", keys,
          "): start it with --key-file, or say --insecure here");
    case Reason::kWantsCertificate:
      return absl::StrCat(
          address, " takes certificates and no keys (", keys,
          "): name yours with --ca-file, --cert-file and --cert-key-file");
    case Reason::kHasNoCertificates:
      return absl::StrCat(
          address, " takes keys and no certificates (", keys,
          "): name its key file with --key-file, or start it with --ca-file");
    case Reason::kOtherCertificate:
      return absl::StrCat(address, " does not take our certificate: ", words);
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
