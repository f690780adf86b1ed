#include "runtime/agent/records/placement_salts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kvstore/placement/balance.h"
#include "kvstore/placement/layouts.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/graph/keys/affinity.h"
#include "runtime/graph/keys/traffic.h"

namespace dogged {
namespace {

constexpr absl::string_view kHomesPrefix = "homes/";

bool IsRunning(const RecordSet& records, const Digest& job) {
  const auto kept = records.StartingWith(JobRecord::KeyPrefix(job));
  return std::any_of(kept.begin(), kept.end(), [](const KeptRecord* one) {
    const auto record = JobRecord::Decode(one->bytes());
    return record.ok() && record->state == JobState::kRunning;
  });
}

// Stages of a job that a layout is to be even in.
constexpr int kStages = 16;

// Sets the host of each of `loads`, by the layout that sends least between the
// hosts of `members`. False, and nothing is set, where that is what `salts`
// give, or there is one host.
bool NameHosts(const Program& program,
               const std::vector<PlacementMember>& members,
               const KeySalts& salts, std::vector<KeyLoad>& loads) {
  const Placement placement(members, 1,
                            std::make_shared<const KeySalts>(salts));
  const std::vector<int32_t>& hosts = placement.hosts();
  std::vector<int64_t> weights;
  absl::flat_hash_map<AgentId, int32_t> host_of;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const PlacementMember& member = placement.members()[i];
    const auto host = static_cast<size_t>(hosts[i]);
    weights.resize(std::max(weights.size(), host + 1));
    weights[host] += std::max(1, member.workers);
    host_of[member.agent] = hosts[i];
  }
  if (weights.size() < 2 || loads.empty() ||
      weights.size() > kBalancedMembersMax) {
    return false;
  }
  const KeyTraffic traffic = TrafficOf(program, kBalancedKeysMax, kStages);
  std::vector<int32_t> hashed;
  for (const KeyTraffic::Key& key : traffic.keys) {
    hashed.push_back(host_of[placement.Home(key.key)]);
  }
  const std::vector<int32_t> best = BestLayout(traffic, weights, hashed).hosts;
  if (best == hashed) return false;
  absl::flat_hash_map<uint64_t, int32_t> named;
  for (size_t k = 0; k < best.size(); ++k) named[traffic.keys[k].key] = best[k];
  for (KeyLoad& load : loads) {
    const auto host = named.find(load.key);
    if (host != named.end()) load.host = host->second;
  }
  return true;
}

}  // namespace

std::string HomesKey(const Digest& job) {
  return absl::StrCat(kHomesPrefix, job.ToString());
}

bool IsHomesKey(absl::string_view key) {
  return absl::StartsWith(key, kHomesPrefix);
}

Bytes EncodeSalts(const KeySalts& salts) {
  std::vector<std::pair<uint64_t, uint8_t>> sorted(salts.begin(), salts.end());
  std::sort(sorted.begin(), sorted.end());
  Encoder out;
  out.PutVarint(sorted.size());
  for (const auto& [key, salt] : sorted) {
    out.PutU64(key);
    out.PutU8(salt);
  }
  return Bytes(out.Take());
}

absl::StatusOr<KeySalts> DecodeSalts(absl::string_view bytes) {
  Decoder in(bytes);
  KeySalts out;
  const int64_t count = in.GetCount(9);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t key = in.GetU64();
    out.emplace(key, in.GetU8());
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("homes"));
  return out;
}

std::shared_ptr<const KeySalts> SaltsOf(const RecordSet& records,
                                        const Digest& job) {
  const KeptRecord* known = records.Find(HomesKey(job));
  if (known == nullptr) return nullptr;
  auto salts = DecodeSalts(known->bytes());
  if (!salts.ok()) return nullptr;
  return std::make_shared<const KeySalts>(*std::move(salts));
}

std::optional<GossipRecord> ProposeSalts(const RecordSet& records,
                                         const JobRecord& record,
                                         const Job& job,
                                         std::vector<PlacementMember> members) {
  if (members.size() < 2 || IsRunning(records, record.hash)) {
    return std::nullopt;
  }
  std::vector<KeyLoad> loads;
  for (const KeyTasks& key : TasksByKey(job.program, kBalancedKeysMax)) {
    loads.push_back({.key = key.key, .load = key.tasks});
  }
  const int replicas = record.options.replicas;
  KeySalts salts = BalancedSalts(members, replicas, loads);
  if (NameHosts(job.program, members, salts, loads)) {
    salts = BalancedSalts(members, replicas, std::move(loads));
  }
  // Of an earlier run of the job, which was among others.
  const KeptRecord* known = records.Find(HomesKey(record.hash));
  if (salts.empty() && known == nullptr) return std::nullopt;
  return GossipRecord{.version = known == nullptr ? 0 : known->version() + 1,
                      .bytes = EncodeSalts(salts)};
}

std::optional<GossipRecord> ForgottenSalts(const RecordSet& records,
                                           const Digest& job) {
  const KeptRecord* known = records.Find(HomesKey(job));
  if (known == nullptr || IsRunning(records, job)) return std::nullopt;
  Bytes none = EncodeSalts({});
  if (known->bytes() == none.view()) return std::nullopt;
  return GossipRecord{.version = known->version() + 1,
                      .bytes = std::move(none)};
}

}  // namespace dogged
