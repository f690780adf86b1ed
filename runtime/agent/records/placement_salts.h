// Homes of a job: the salts of its keys (kvstore/placement/balance.h). Who
// takes a job chooses them, so that those in its view have even shares of it.
// They travel beside the job's records with membership gossip, one record for
// all submissions: of two that were chosen at once, all come to have the same.
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

// The key of the record. It sorts before those of jobs, so that newcomers hear
// of it first.
std::string HomesKey(const Digest& job);
bool IsHomesKey(absl::string_view key);

Bytes EncodeSalts(const KeySalts& salts);
// Errors: kInvalidArgument.
absl::StatusOr<KeySalts> DecodeSalts(absl::string_view bytes);

// What is known of `job` among `records`; null if nothing is.
std::shared_ptr<const KeySalts> SaltsOf(const RecordSet::Map& records,
                                        const Digest& job);

// The record for a job that begins among `members`: none if it runs already, as
// far as `records` say, or if there is nothing to be said.
std::optional<GossipRecord> ProposeSalts(const RecordSet::Map& records,
                                         const JobRecord& record,
                                         const Job& job,
                                         std::vector<PlacementMember> members);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_PLACEMENT_SALTS_H_
