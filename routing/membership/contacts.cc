#include "routing/membership/contacts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace dogged {
namespace {

constexpr int64_t kContactsMax = 4096;
constexpr size_t kKinMax = 256;
constexpr int kDialsAtOnce = 8;
// Agents that are started together need not be there at once.
constexpr int kTriesToSettle = 4;
constexpr absl::Duration kTimeToSettle = absl::Seconds(3);
constexpr absl::Duration kIntervalFirst = absl::Milliseconds(250);
// An agent that is alone tries each address so often, and those of a cluster
// together: each of n agents waits n / 4 times as long, up to a minute.
constexpr absl::Duration kIntervalMost = absl::Seconds(4);
constexpr int64_t kAgentsAtFullPace = 4;
constexpr absl::Duration kIntervalOfLargeViews = absl::Minutes(1);
constexpr absl::Duration kIntervalRefused = absl::Minutes(1);
// Some five minutes: keys are changed meanwhile, agent by agent.
constexpr int kRefusalsMax = 12;

}  // namespace

Contacts::Contacts(const std::vector<std::string>& given) {
  for (const std::string& address : given) AddGiven(address);
}

void Contacts::AddGiven(absl::string_view address) {
  At(address).is_given = true;
  began_ = absl::InfiniteFuture();
  next_due_ = absl::InfinitePast();
}

void Contacts::SetListed(absl::Span<const std::string> addresses) {
  awaits_listing_ = false;
  for (auto& [address, contact] : contacts_) contact.is_listed = false;
  for (const std::string& address : addresses) {
    const auto it = contacts_.find(address);
    if (it != contacts_.end()) {
      it->second.is_listed = true;
    } else if (size() < kContactsMax) {
      At(address).is_listed = true;
      next_due_ = absl::InfinitePast();
    }
  }
  std::erase_if(contacts_, [](const auto& item) {
    const Contact& contact = item.second;
    return !contact.is_given && !contact.is_listed && !contact.was_member &&
           !contact.is_preferred;
  });
}

std::vector<std::string> Contacts::TakeSilent() {
  return std::exchange(silent_, {});
}

void Contacts::Add(absl::string_view address, AgentId id) {
  if (!id.IsNone()) kin_.push_back(id);
  if (kin_.size() > kKinMax) kin_.pop_front();
  const auto it = contacts_.find(address);
  if (it != contacts_.end()) {
    it->second.was_member = true;
  } else if (size() < kContactsMax) {
    At(address).was_member = true;
    next_due_ = absl::InfinitePast();
  }
}

bool Contacts::IsRemembered(absl::string_view address) const {
  const auto it = contacts_.find(address);
  return it != contacts_.end() && !it->second.is_given &&
         !it->second.is_listed && !it->second.is_preferred;
}

void Contacts::Remove(absl::string_view address) {
  const auto it = contacts_.find(address);
  if (it != contacts_.end() && !it->second.is_given) contacts_.erase(it);
}

void Contacts::Prefer(absl::string_view address) {
  if (address.empty()) return;
  Contact& contact = At(address);
  contact.is_preferred = true;
  contact.failures = 0;
  contact.next = absl::InfinitePast();
  next_due_ = absl::InfinitePast();
}

void Contacts::BeginAnew() {
  for (auto& [address, contact] : contacts_) {
    contact.is_dialing = false;
    contact.is_present = false;
    contact.failures = 0;
    contact.refusals = 0;
    contact.next = absl::InfinitePast();
    contact.answered = AgentId();
  }
  has_joined_ = false;
  began_ = absl::InfiniteFuture();
  next_due_ = absl::InfinitePast();
}

std::vector<std::string> Contacts::TakeDue(absl::Time now, const View& view,
                                           absl::string_view self) {
  view_size_ = view.size();
  began_ = std::min(began_, now);
  absl::flat_hash_set<absl::string_view> present = {self};
  for (const Member& member : view.members()) {
    present.insert(member.control_address);
  }
  int dialing = 0;
  bool is_preferred = false;
  std::vector<std::string> out;
  next_due_ = absl::InfiniteFuture();
  for (auto& [address, contact] : contacts_) {
    dialing += contact.is_dialing ? 1 : 0;
    is_preferred |= contact.is_preferred;
  }
  for (auto& [address, contact] : contacts_) {
    contact.is_present =
        present.contains(address) || view.Contains(contact.answered);
    if (contact.is_present) {
      contact.failures = 0;
      contact.next = absl::InfinitePast();
      // The agent there may be heard before it answers the dial.
      contact.is_preferred &= contact.is_dialing;
      continue;
    }
    // The one that told this agent to come is asked before all others.
    if (contact.is_dialing || (is_preferred && !contact.is_preferred)) continue;
    if (now < contact.next) {
      next_due_ = std::min(next_due_, contact.next);
    } else if (dialing < kDialsAtOnce) {  // else once one of these has ended
      contact.is_dialing = true;
      ++dialing;
      out.emplace_back(address);
    }
  }
  return out;
}

void Contacts::NoteAnswer(absl::string_view address, AgentId id, bool is_self) {
  has_joined_ |= !is_self;
  next_due_ = absl::InfinitePast();
  const auto it = contacts_.find(address);
  if (it == contacts_.end()) return;
  it->second = Contact{.is_given = it->second.is_given,
                       .is_listed = it->second.is_listed,
                       .was_member = it->second.was_member,
                       .answered = id};
}

void Contacts::NoteFailure(absl::Time now, absl::string_view address) {
  const auto it = contacts_.find(address);
  next_due_ = absl::InfinitePast();
  if (it == contacts_.end()) return;
  it->second.refusals = 0;
  PutOff(now, it->second);
  if (it->second.is_listed && it->second.failures == kTriesToSettle) {
    silent_.emplace_back(it->first);
  }
}

void Contacts::NoteRefusal(absl::Time now, absl::string_view address) {
  const auto it = contacts_.find(address);
  next_due_ = absl::InfinitePast();
  if (it == contacts_.end()) return;
  Contact& contact = it->second;
  PutOff(now, contact);
  if (++contact.refusals < kRefusalsMax) return;
  contact.was_member = false;
  if (!contact.is_given && !contact.is_listed) contacts_.erase(it);
}

void Contacts::PutOff(absl::Time now, Contact& contact) {
  contact.is_dialing = false;
  contact.is_preferred = false;
  const absl::Duration most =
      contact.refusals > 0
          ? kIntervalRefused
          : std::min(kIntervalOfLargeViews,
                     kIntervalMost *
                         std::max<int64_t>(1, view_size_ / kAgentsAtFullPace));
  contact.next =
      now +
      std::min(most, kIntervalFirst * (1 << std::min(contact.failures, 10)));
  ++contact.failures;
}

absl::Time Contacts::settles_at() const { return began_ + kTimeToSettle; }

bool Contacts::HasSettled(absl::Time now) const {
  if (has_joined_ || now >= settles_at()) return true;
  if (awaits_listing_) return false;
  return std::all_of(contacts_.begin(), contacts_.end(), [](const auto& item) {
    return item.second.is_present || item.second.failures >= kTriesToSettle;
  });
}

}  // namespace dogged
