#include "runtime/base/wire_version.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/wire_release.h"

namespace dogged {

std::string WireRange::ToString() const {
  return oldest == newest ? absl::StrCat(newest)
                          : absl::StrCat(oldest, " to ", newest);
}

void WireRange::EncodeTo(Encoder& encoder) const {
  encoder.PutVarint(static_cast<uint64_t>(oldest));
  encoder.PutVarint(static_cast<uint64_t>(newest));
}

WireRange WireRange::DecodeFrom(Decoder& decoder) {
  const uint64_t oldest = decoder.GetVarint();
  const uint64_t newest = decoder.GetVarint();
  if (oldest < 1 || oldest > newest || newest > kVersionMax) {
    decoder.Fail();
    return {};
  }
  return {.oldest = static_cast<int>(oldest),
          .newest = static_cast<int>(newest)};
}

WireHello WireHello::Here() {
  const WireRelease release = WireReleaseHere();
  return {.range = release.range, .release = std::string(release.name)};
}

std::string WireHello::Encode() const {
  Encoder encoder;
  range.EncodeTo(encoder);
  encoder.PutString(release);
  PutOpenEnd(encoder);
  return encoder.Take();
}

absl::StatusOr<WireHello> WireHello::Decode(absl::string_view body) {
  Decoder decoder(body);
  WireHello out;
  out.range = WireRange::DecodeFrom(decoder);
  // It goes into a log: short, and nothing but what can be seen.
  for (const char c : decoder.GetString().substr(0, kReleaseBytesMax)) {
    if (c > ' ' && c <= '~') out.release.push_back(c);
  }
  const absl::Status read = TakeOpenEnd(decoder, "hello");
  if (!read.ok()) return read;
  return out;
}

void PutOpenEnd(Encoder& encoder) { encoder.PutRaw(WireReleaseHere().more); }

absl::Status TakeOpenEnd(const Decoder& decoder, absl::string_view what) {
  return decoder.status(what);
}

absl::Status CheckWire(const WireHello& theirs, absl::string_view address) {
  const WireHello ours = WireHello::Here();
  if (theirs.range.Overlaps(ours.range)) return absl::OkStatus();
  const bool is_newer = ours.range.oldest > theirs.range.newest;
  return absl::UnimplementedError(absl::StrCat(
      address, " speaks version ", theirs.range.ToString(),
      " of the wire (dogged ",
      theirs.release.empty() ? "of before 0.1" : theirs.release,
      "), and this program ", ours.range.ToString(), " (dogged ", ours.release,
      "), too far apart to work together: ",
      is_newer ? "bring its agents to the releases in between first, one by "
                 "one, or use its release here"
               : "use a release here that is as new as its, or one before"));
}

}  // namespace dogged
