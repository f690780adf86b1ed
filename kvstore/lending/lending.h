// Lending: values that agents of one host read where they lie, instead of
// copying them. A machine (see outbox.h).
//
// The owner of a value *lends* it: each loan has a number of its own between
// this owner and that reader, and the owner holds the value until the reader
// has returned the loan or its process has ended. Suspicion by other agents
// does not matter: a reader that counts as dead may still be reading.
//
//   mapped   reader -> owner  I can read your arena (until it is answered), by
//                             my process's mapping of this number
//   welcome  owner -> reader  the answer
//   returned reader -> owner  these loans are not in use any more
//   recount owner -> reader asks for the loans held up to this number
//   held reader -> owner the loans held up to this number
//
// All of them are hints that may be lost, doubled or late. `returned` is quick;
// what it misses (a reference that never came, a return that was lost) the
// recount settles: one who has answered it accepts no loan up to that number
// any more, and each loan is accepted once, so a late or doubled reference
// finds nothing. ADR-7 says why this is enough.
#ifndef DOGGED_KVSTORE_LENDING_LENDING_H_
#define DOGGED_KVSTORE_LENDING_LENDING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/lending/loan.h"
#include "routing/membership/view.h"
#include "routing/memory/shared_memory.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"
#include "runtime/base/value.h"

namespace dogged {

// Follow those of Agent.
enum class LendingMessage : uint8_t {
  kMapped = kFirstFreeKind + 20,
  kWelcome = kFirstFreeKind + 21,
  kReturned = kFirstFreeKind + 22,
  kRecount = kFirstFreeKind + 23,
  kHeld = kFirstFreeKind + 24,
};

// Where a value lies.
struct Place {
  std::string arena;  // SharedMemory::address()
  int64_t offset = 0;
};

struct LendingOptions {
  // Bytes of all lent values, at most; 0: no bound. They can't be evicted.
  int64_t lent_bytes_max = 0;
  // Readers are sent a recount after this time, then after twice that.
  absl::Duration recount_first = absl::Seconds(1);
  absl::Duration recount_most = absl::Seconds(30);
  absl::Duration tell_first = absl::Milliseconds(100);
  absl::Duration tell_most = absl::Seconds(30);
  // Computes the digest of borrowed values, 14 us for 512 KB.
  bool checks_digests = false;
};

class Lending {
 public:
  // `memory` outlives this.
  Lending(AgentId self, SharedMemory& memory, const LendingOptions& options);
  // Loans that are out are kept by `memory`.
  ~Lending();
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

  static bool IsMine(uint8_t kind) {
    return kind >= static_cast<uint8_t>(LendingMessage::kMapped) &&
           kind <= static_cast<uint8_t>(LendingMessage::kHeld);
  }
  // Errors: kInvalidArgument for a malformed message, which changes nothing.
  absl::Status Receive(const Pass& pass, AgentId from, uint8_t kind,
                       absl::string_view body);
  void SetView(absl::Time now, const View& view);
  void Tick(const Pass& pass);

  // Lends `value` to `reader`, which must be told of it. None if it can't be
  // lent: it is not in the arena, `reader` does not map that, or too many bytes
  // are lent already. Then its bytes have to travel.
  std::optional<Loan> Lend(AgentId reader, const Value& value);
  // Values of the arena may be lent to `reader`, as far as is known now.
  bool MayLend(AgentId reader) const;
  // So many bytes more may be lent.
  bool HasRoomFor(int64_t bytes) const;
  // The value lent by `owner`; none if the loan is old, or malformed.
  Value Borrow(AgentId owner, const Loan& loan);

  // The place of `value`, for a process of this host that is no agent and can
  // map arenas, as long as the value is held here. None if it is in no arena,
  // or if lent bytes are bounded.
  std::optional<Place> PlaceOf(const Value& value) const;

  // Some values here are of owners that have gone: better copied.
  bool HasOrphans() const;

  int64_t lent_bytes() const { return lent_bytes_; }
  int64_t lent_count() const { return lent_count_; }  // now
  int64_t borrowed_count() const;                     // now
  // Numbers of loans that came before an earlier one did.
  int64_t remembered_count() const;
  int64_t loan_count() const { return loan_count_; }  // ever
  int64_t refused_count() const { return refused_count_; }

 private:
  class Lease;
  // Loans that leases have returned, from any thread, with the state that
  // leases share.
  struct Returns;
  // A peer as reader of this arena.
  struct Reader {
    bool maps = false;  // it has said so
    // Counted by its process, so larger with each of its incarnations.
    uint64_t mapping = 0;
    uint64_t next_number = 1;
    std::map<uint64_t, Value> loans;
    absl::Time next_recount = absl::InfiniteFuture();
    // Not the newest ones: a recount that overtook one would refuse it.
    uint64_t recount_to = 0;
    absl::Duration interval;
  };
  // A peer as owner of an arena.
  struct Owner {
    uint64_t settled = 0;         // loans up to here are not accepted
    std::set<uint64_t> accepted;  // beyond that, ever
    std::set<uint64_t> held;
    std::shared_ptr<Returns> returns;
    uint64_t mapping = 0;  // the number that kMapped says
    bool is_told = false;  // has answered kMapped
    absl::Time next_tell;
    absl::Duration interval;
  };
  struct Peer {
    Peer();
    std::string address;
    bool is_here = true;  // in the view
    // Null as long as it is not mapped; both sides need it.
    std::shared_ptr<PeerArena> arena;
    absl::Time next_map = absl::InfiniteFuture();
    absl::Duration map_interval;
    Reader reader;
    Owner owner;
  };

  void TryMap(absl::Time now, Peer& peer);
  // False: a message of an earlier incarnation, which changes nothing.
  bool NoteMapped(AgentId from, Peer& peer, uint64_t mapping);
  void AnswerRecount(AgentId from, Owner& owner, uint64_t last,
                     Outbox& out) const;
  void NoteHeld(absl::Time now, Reader& reader, uint64_t last,
                const std::vector<uint64_t>& numbers);
  void EndLoan(Reader& reader, uint64_t number);
  void EndAllLoans(Reader& reader);
  void TakeReturns(AgentId id, Peer& peer, Outbox& out);
  void Send(AgentId to, LendingMessage kind, const Encoder& body,
            Outbox& out) const;

  const AgentId self_;
  SharedMemory& memory_;
  const LendingOptions options_;
  std::map<AgentId, Peer> peers_;
  int64_t lent_bytes_ = 0;
  int64_t lent_count_ = 0;
  int64_t loan_count_ = 0;
  int64_t refused_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_LENDING_LENDING_H_
