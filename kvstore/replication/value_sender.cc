#include "kvstore/replication/value_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace dogged {
namespace {

// Where the link's own rate is not known.
constexpr double kUsualBytesPerSecond = 100e6;

}  // namespace

absl::Duration ValueSender::TimeToSend(AgentId agent, int64_t bytes) const {
  const double rate = job_.link_rate(agent);
  return absl::Seconds(static_cast<double>(bytes + credit_.Waiting(agent)) /
                       (rate > 0 ? rate : kUsualBytesPerSecond));
}

void ValueSender::SendValue(std::set<AgentId> targets, const Label& label,
                            Outbox& out, Sending why) {
  LabelEntry* entry = labels_.shard.Find(label);
  entry->is_exposed = true;
  if (!conflicts_.LogDigest(label, entry->value.digest(), job_.self)) return;
  targets.erase(job_.self);
  const int64_t bytes = entry->value.bytes();
  const bool is_announced =
      why == Sending::kMove && bytes > job_.limits.offer_bytes_min;
  if (entry->value.IsSpilled()) {
    return is_announced ? AnnounceTo(std::move(targets), label, *entry, out)
                        : storage_.Load(label, targets);
  }
  // To more of them it goes by others.
  if (targets.size() == 1) out.WakeEarly(*targets.begin());
  LendTo(targets, label, *entry, why, out);
  if (is_announced) return AnnounceTo(std::move(targets), label, *entry, out);
  std::set<AgentId> told;
  for (const AgentId agent : targets) {
    const bool may_have =
        why == Sending::kDemanded ? credit_.MayHave(agent) : credit_.Has(agent);
    if (!may_have) told.insert(agent);
  }
  for (const AgentId agent : told) targets.erase(agent);
  if (why == Sending::kDemanded) {
    for (const AgentId agent : told) deferred_.Add(agent, label);
  } else {
    AnnounceTo(std::move(told), label, *entry, out);
  }
  if (targets.empty()) return;
  const int64_t all_bytes = bytes * std::ssize(targets);
  if (why == Sending::kCopy) job_.stats.copy_bytes += all_bytes;
  if (why == Sending::kMove) job_.stats.bytes_resent += all_bytes;
  for (const AgentId agent : targets) credit_.Use(agent, label, bytes);
  const SplitBytes body = storage_.is_bounded()
                              ? EncodePublish(label, entry->value)
                              : SharePublish(label, entry->value);
  Bytes tag;
  if (why == Sending::kCopy && body.size() > job_.limits.offer_bytes_min) {
    tag = EncodeAnnounce({label, entry->value.digest()});
  }
  job_.messenger.SendToAll(std::move(targets), LabelMessage::kPublish, body,
                           out, tag);
}

void ValueSender::LendTo(std::set<AgentId>& targets, const Label& label,
                         LabelEntry& entry, Sending why, Outbox& out) {
  if (MayLendCopy(targets, entry.value)) entry.value = entry.value.Copy();
  for (auto it = targets.begin();
       job_.lending != nullptr && it != targets.end();) {
    const std::optional<Loan> loan = job_.lending->Lend(*it, entry.value);
    if (!loan.has_value()) {
      ++it;
      continue;
    }
    if (why == Sending::kCopy) job_.stats.copy_bytes += entry.value.bytes();
    job_.messenger.SendTo(*it, LabelMessage::kLend, EncodeLend({label, *loan}),
                          out);
    it = targets.erase(it);
  }
}

void ValueSender::AnnounceTo(std::set<AgentId> targets, const Label& label,
                             const LabelEntry& entry, Outbox& out) {
  if (targets.empty()) return;
  job_.messenger.SendToAll(std::move(targets), LabelMessage::kAnnounce,
                           EncodeAnnounce({label, entry.value.digest()}), out);
}

bool ValueSender::MayLendCopy(const std::set<AgentId>& targets,
                              const Value& value) const {
  const Lending* const lending = job_.lending;
  return lending != nullptr && value.IsView() &&
         lending->HasRoomFor(value.bytes()) &&
         std::any_of(targets.begin(), targets.end(), [lending](AgentId agent) {
           return lending->MayLend(agent);
         });
}

void ValueSender::SendDeferred(const Pass& pass) {
  const auto may_have = [this](AgentId agent) {
    return credit_.MayHave(agent);
  };
  while (const auto debt = deferred_.Take(may_have)) {
    if (!labels_.shard.IsBound(debt->second)) continue;
    SendValue({debt->first}, debt->second, pass.out, Sending::kDemanded);
    pass.out.WakeAt(
        pass.now);  // there may be more that may go once these are queued
  }
}

void ValueSender::CopyOrphans(int64_t bytes_max) {
  for (const Label& label :
       labels_.shard.Select([](const Label&, const LabelEntry& entry) {
         return entry.value.IsOrphan();
       })) {
    LabelEntry& entry = *labels_.shard.Find(label);
    bytes_max -= entry.value.bytes();
    entry.value = entry.value.Copy();
    if (bytes_max <= 0) return;
  }
}

}  // namespace dogged
