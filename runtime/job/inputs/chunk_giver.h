// ChunkGiver: chunks on their way from this agent to others. A wish is answered
// with the chunk, lent or as bytes, if it is in memory; if it comes from disk
// or the client the wish waits. An agent that asked this one to keep a chunk
// hears of it once the chunk is here.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_GIVER_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_GIVER_H_

#include <cstdint>
#include <map>
#include <set>

#include "kvstore/lending/lending.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"
#include "runtime/job/inputs/chunk_partners.h"
#include "runtime/job/inputs/chunk_supply.h"
#include "runtime/job/inputs/chunk_words.h"
#include "runtime/job/inputs/held_chunks.h"

namespace dogged {

class ChunkGiver {
 public:
  // `lending` is null where bytes travel.
  ChunkGiver(JobId job, Lending* lending, HeldChunks& held,
             const ChunkSupply& supply, ChunkPartners& partners)
      : job_(job),
        lending_(lending),
        held_(held),
        supply_(supply),
        partners_(partners) {}
  ChunkGiver(const ChunkGiver&) = delete;
  ChunkGiver& operator=(const ChunkGiver&) = delete;

  // `from` needs chunks, or keeps them and asks this agent to, too. Returns
  // those that have to be brought here for it.
  ChunkPositions ReceiveWish(AgentId from, const ChunkPositions& wanted,
                             Outbox& out);
  ChunkPositions ReceiveKeep(AgentId from, const ChunkPositions& kept,
                             Outbox& out);
  // Answers agents that wait, as far as chunks are here.
  void ServeWaiters(Outbox& out);
  // An agent that asked this one to keep a chunk that is not here; none if no
  // agent did.
  AgentId KeeperOf(int64_t at) const;
  // The job has ended: no agent waits any more.
  void Release();

 private:
  // Sends it if it is in memory.
  bool SendTo(AgentId to, int64_t at, Outbox& out);

  const JobId job_;
  Lending* const lending_;
  HeldChunks& held_;
  const ChunkSupply& supply_;
  ChunkPartners& partners_;
  // Agents that wait for what is on its way here: each a chunk once.
  std::map<int64_t, std::set<AgentId>> waiters_;
  std::map<int64_t, std::set<AgentId>> keepers_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_GIVER_H_
