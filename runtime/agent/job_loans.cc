#include "runtime/agent/job_loans.h"

#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// So much is copied at a time of values whose owner has gone.
constexpr int64_t kOrphanBytes = 64 << 20;
constexpr absl::Duration kOrphanInterval = absl::Milliseconds(50);

}  // namespace

void JobLoans::Receive(absl::Time now, AgentId from, uint8_t kind,
                       const Bytes& body) {
  if (agent_.lending == nullptr) return;
  agent_.Count(
      agent_.lending->Receive({now, agent_.outbox}, from, kind, body.view()));
}

void JobLoans::ReceiveLoan(absl::Time now, AgentId from, JobRun& run,
                           const Bytes& body) {
  const absl::StatusOr<LendBody> lent = DecodeLend(body.view());
  if (!lent.ok() || agent_.lending == nullptr) {
    ++agent_.refused_count;
    return;
  }
  // A loan that is refused counts as lost: an agent that needs it asks again.
  const Value value = agent_.lending->Borrow(from, lent->loan);
  if (value.IsNone()) return;
  agent_.Count(run.ReceiveLent({now, agent_.outbox}, from, lent->label, value));
}

void JobLoans::Tick(absl::Time now) {
  if (agent_.lending == nullptr) return;
  agent_.lending->Tick({now, agent_.outbox});
  if (!agent_.lending->HasOrphans() || now < next_orphans_) return;
  for (auto& [id, entry] : table_) {
    if (entry.run != nullptr) entry.run->CopyOrphans(kOrphanBytes);
    if (entry.inputs != nullptr) entry.inputs->CopyOrphans();
  }
  next_orphans_ = now + kOrphanInterval;
  agent_.outbox.WakeAt(next_orphans_);
}

}  // namespace dogged
