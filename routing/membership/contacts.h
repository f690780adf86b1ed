// Contacts: the addresses at which an agent looks for other agents, for as long
// as its process lives: the addresses that its user gave, that meeting points
// list now, and all that members ever had. An address that no live member has
// is dialed, with back-off, so clusters that were cut apart, or began apart,
// find each other once the network lets them. A machine: no sockets; its owner
// dials what TakeDue() names and reports the result.
//
// Used by one thread. Outlives the incarnations of an agent.
#ifndef DOGGED_ROUTING_MEMBERSHIP_CONTACTS_H_
#define DOGGED_ROUTING_MEMBERSHIP_CONTACTS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "routing/membership/view.h"
#include "runtime/base/ids.h"
#include "runtime/base/small_blocks.h"

namespace dogged {

class Contacts {
 public:
  // `given` by the user: never dropped.
  explicit Contacts(const std::vector<std::string>& given);

  // Adds an address that the user gave.
  void AddGiven(absl::string_view address);
  // Meeting points are looked at: the first SetListed() is still to come.
  void AwaitListing() { awaits_listing_ = true; }
  // Addresses that meeting points list now. Former ones that are listed no more
  // are dropped, unless there is another reason for them.
  void SetListed(absl::Span<const std::string> addresses);
  // Listed addresses at which nobody answered several times in a row, each once
  // until somebody does.
  bool has_silent() const { return !silent_.empty(); }
  std::vector<std::string> TakeSilent();
  // `id` is, or was, a member at `address`. Beyond some thousands of addresses
  // new ones are not taken.
  void Add(absl::string_view address, AgentId id = AgentId());
  // Nobody has named this address but members: who has it now may be a
  // stranger.
  bool IsRemembered(absl::string_view address) const;
  // The members added last.
  std::vector<AgentId> kin() const { return {kin_.begin(), kin_.end()}; }
  // The member there left voluntarily.
  void Remove(absl::string_view address);
  // Agents at `address` wait for this one: it is dialed first.
  void Prefer(absl::string_view address);
  // A new incarnation knows nobody: all addresses are dialed again, soon.
  void BeginAnew();

  // Addresses to dial now: no live member of `view` has them, nor is there a
  // dial under way. `self` is that of this agent.
  std::vector<std::string> TakeDue(absl::Time now, const View& view,
                                   absl::string_view self);
  // When TakeDue() next has some, if the view stays.
  absl::Time next_due() const { return next_due_; }

  // How a dial ended: `id` answered there, which may be this agent itself;
  // nobody did; or a process that is of no use, for it refuses this agent. That
  // one is dialed seldom, and after some minutes its address is dropped, unless
  // a user gave it or a point lists it: another process has it now.
  void NoteAnswer(absl::string_view address, AgentId id, bool is_self);
  void NoteFailure(absl::Time now, absl::string_view address);
  void NoteRefusal(absl::Time now, absl::string_view address);

  // An agent refused this one in these words, as it speaks too far a version of
  // the wire. Empty: none has.
  void NoteTooFar(std::string words) { too_far_ = std::move(words); }
  const std::string& too_far() const { return too_far_; }

  // An agent answered since BeginAnew(), or none did several times at any of
  // the addresses, or for some seconds.
  bool HasSettled(absl::Time now) const;
  // When that is so at the latest.
  absl::Time settles_at() const;
  bool has_joined() const { return has_joined_; }
  int64_t size() const { return std::ssize(contacts_); }

 private:
  struct Contact {
    bool is_given = false;
    bool is_listed = false;
    bool was_member = false;
    bool is_dialing = false;
    bool is_preferred = false;
    bool is_present = false;  // a live member has it, as of the last TakeDue()
    int failures = 0;         // since BeginAnew() or the last answer
    int refusals = 0;         // in a row
    absl::Time next = absl::InfinitePast();
    AgentId answered;  // a given name need not be the address of a member
  };

  void PutOff(absl::Time now, Contact& contact);

  Contact& At(absl::string_view address) {
    return contacts_[memory_.CopyOf(address)];
  }

  SmallBlocks memory_;  // for what stays
  // By address.
  std::pmr::map<std::pmr::string, Contact, TextLess> contacts_{&memory_};
  std::deque<AgentId> kin_;
  std::vector<std::string> silent_;  // for TakeSilent()
  bool awaits_listing_ = false;
  absl::Time next_due_ = absl::InfinitePast();
  absl::Time began_ = absl::InfiniteFuture();  // to dial
  int64_t view_size_ = 1;
  bool has_joined_ = false;
  std::string too_far_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_CONTACTS_H_
