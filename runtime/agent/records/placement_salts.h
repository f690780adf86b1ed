// Salts of a job's keys (kvstore/placement/balance.h). The agent that takes the
// job chooses them, so that its members have even shares of it. They travel
// beside the job's records with membership gossip, in one record for all
// submissions: if two agents choose at once, all come to have the same.
//
// Where they have not come yet, or nobody chose any, a hash has to do; two
// agents of which one has them, differ like agents of different views.
#ifndef DOGGED_RUNTIME_AGENT_RECORDS_PLACEMENT_SALTS_H_
#define DOGGED_RUNTIME_AGENT_RECORDS_PLACEMENT_SALTS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kvstore/placement/placement.h"
#include "routing/membership/record_set.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/graph/job.h"

namespace dogged {

// The key of the record. It sorts before keys of jobs, so that newcomers hear
// of it first.
std::string HomesKey(const Digest& job);
bool IsHomesKey(absl::string_view key);

Bytes EncodeSalts(const KeySalts& salts);
// Errors: kInvalidArgument.
absl::StatusOr<KeySalts> DecodeSalts(absl::string_view bytes);

// The salts of `job` in `records`; null if there are none.
std::shared_ptr<const KeySalts> SaltsOf(const RecordSet& records,
                                        const Digest& job);

// The record for a job that begins among `members`: none if it runs already, as
// far as `records` say, or if no key needs a salt.
std::optional<GossipRecord> ProposeSalts(const RecordSet& records,
                                         const JobRecord& record,
                                         const Job& job,
                                         std::vector<PlacementMember> members);

// The record in place of that of a job that is forgotten: it takes a few bytes,
// for ever, as records never go. None if there is nothing to forget, or the job
// runs again.
std::optional<GossipRecord> ForgottenSalts(const RecordSet& records,
                                           const Digest& job);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_PLACEMENT_SALTS_H_
