// A release that does not exist: today's program, which speaks other versions
// of the wire, and says more than today's knows: bytes behind each message that
// may gain fields, and now and then a message of a kind that is unknown today.
//
// It stands in place of runtime/base/wire_release.cc, before the libraries, and
// its Membership::Tick() before the true one (the linker's --wrap).
#include "absl/time/time.h"
#include "routing/membership/membership.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/wire_release.h"

namespace dogged {

WireRelease WireReleaseHere() {
  return {.range = {.oldest = DOGGED_WIRE_OLDEST, .newest = DOGGED_WIRE_NEWEST},
          .name = "99.0",
          .more = "\x93later fields"};
}

void TodaysTick(Membership* self, const Pass& pass) __asm__(
    "__real__ZN6dogged10Membership4TickERKNS_4PassE");
void LaterTick(Membership* self, const Pass& pass) __asm__(
    "__wrap__ZN6dogged10Membership4TickERKNS_4PassE");

void LaterTick(Membership* self, const Pass& pass) {
  constexpr uint8_t kLaterKind = 240;
  static absl::Time next = absl::InfinitePast();
  TodaysTick(self, pass);
  if (pass.now < next) return;
  next = pass.now + absl::Milliseconds(100);
  for (const Member& member : self->view()->members()) {
    pass.out.Send(member.id, kLaterKind, JobId(), Bytes(std::string("later")));
  }
}

}  // namespace dogged
