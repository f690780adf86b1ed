// Refusal: the words of a control port to a connection that has not the key it
// wants, or one too many. They are sent in clear, as the frame of type
// kRefusalType, so that also an end without keys understands them. Nobody
// vouches for them: they are shown, and nothing else follows from them.
#ifndef DOGGED_ROUTING_CONTROL_REFUSAL_H_
#define DOGGED_ROUTING_CONTROL_REFUSAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/trust/key_ring.h"

namespace dogged {

// The frame type; agents and clients have those from 1 on.
inline constexpr uint8_t kRefusalType = 0;

// The other end refuses this one: for its key (kPermissionDenied), or because
// they have no version of the wire in common (kUnimplemented).
inline bool IsRefusal(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status);
}

struct Refusal {
  enum class Reason : uint8_t {
    kWantsKey = 1,  // the connection came without
    kHasNoKey = 2,  // the connection came with one
    kOtherKey = 3,
    kWantsCertificate = 4,   // the connection came with a key, or without
    kHasNoCertificates = 5,  // the connection came with one
    kOtherCertificate = 6,   // within TLS alone, with words
  };
  static constexpr int64_t kFrameBytesMax = 256;
  static constexpr size_t kWordsMax = 1000;

  Reason reason = Reason::kWantsKey;
  std::vector<std::string> ids;  // of the keys that the refusing end accepts
  std::string words;             // of kOtherCertificate

  // The refusal of an end with the keys `ring`, which is null without any.
  static Refusal Of(Reason reason, const KeyRing* ring);
  std::string EncodeFrame() const;
  static absl::StatusOr<Refusal> Decode(absl::string_view body);
  // The same without TLS, where anybody could have said it: none has `words`.
  static absl::StatusOr<Refusal> DecodeClear(absl::string_view body);
  // For the refused end, which has the keys `ring`: both ends' ids, and what to
  // do. `address` is the refusing end.
  std::string WordsFor(absl::string_view address, const KeyRing* ring) const;
};

// RefusalLog: refused connections in the log, a line every ten seconds at most.
class RefusalLog {
 public:
  // `peer` is where the connection came from.
  void Add(absl::Time now, absl::string_view peer, absl::string_view words);

 private:
  absl::Time next_ = absl::InfinitePast();
  int64_t unsaid_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_REFUSAL_H_
