#include "kvstore/lending/lending.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr absl::Duration kMapIntervalMost = absl::Seconds(10);
// Loans in a message, at most; the next settles more.
constexpr uint64_t kNumbersMax = 1 << 16;

void PutNumbers(const std::vector<uint64_t>& numbers, Encoder& out) {
  out.PutVarint(numbers.size());
  for (uint64_t number : numbers) out.PutVarint(number);
}

std::vector<uint64_t> GetNumbers(Decoder& in) {
  const uint64_t count = in.GetVarint();
  std::vector<uint64_t> out;
  if (count > kNumbersMax) in.Fail();
  for (uint64_t i = 0; in.ok() && i < count; ++i) out.push_back(in.GetVarint());
  return out;
}

}  // namespace

struct Lending::Returns {
  std::mutex mutex;
  std::vector<uint64_t> numbers;  // under mutex
  std::atomic<bool> is_orphaned{false};
};

// Lease: part of a borrowed value. Keeps the mapping alive as long as the
// value, and notes the value's end.
class Lending::Lease : public ValueMemory {
 public:
  Lease(std::shared_ptr<PeerArena> arena, std::shared_ptr<Returns> returns,
        uint64_t number)
      : arena_(std::move(arena)),
        returns_(std::move(returns)),
        number_(number) {}
  void* Take(int64_t) override { return nullptr; }
  void Give(void*, int64_t) override {
    const std::lock_guard lock(returns_->mutex);
    returns_->numbers.push_back(number_);
  }
  bool IsOrphaned() const override {
    return returns_->is_orphaned.load(std::memory_order_relaxed);
  }

 private:
  const std::shared_ptr<PeerArena> arena_;
  const std::shared_ptr<Returns> returns_;
  const uint64_t number_;
};

Lending::Peer::Peer() = default;

Lending::Lending(AgentId self, SharedMemory& memory,
                 const LendingOptions& options)
    : self_(self), memory_(memory), options_(options) {}

Lending::~Lending() {
  for (auto& [id, peer] : peers_) {
    if (peer.reader.loans.empty()) continue;
    std::vector<std::shared_ptr<const void>> held;
    for (auto& [number, value] : peer.reader.loans) {
      held.push_back(std::make_shared<const Value>(std::move(value)));
    }
    memory_.Keep(peer.address, peer.arena, std::move(held));
  }
}

void Lending::Send(AgentId to, LendingMessage kind, const Encoder& body,
                   Outbox& out) const {
  out.Send(to, static_cast<uint8_t>(kind), JobId(), Bytes::CopyOf(body.view()));
}

void Lending::SetView(absl::Time now, const View& view) {
  for (auto& [id, peer] : peers_) {
    peer.is_here = view.Contains(id);
    if (!peer.is_here && peer.owner.returns != nullptr) {
      peer.owner.returns->is_orphaned.store(true);
    }
  }
  for (const Member& member : view.members()) {
    if (member.id == self_ || member.arena.empty() ||
        peers_.contains(member.id)) {
      continue;
    }
    Peer& peer = peers_[member.id];
    peer.address = member.arena;
    peer.map_interval = options_.tell_first;
    TryMap(now, peer);
  }
}

void Lending::TryMap(absl::Time now, Peer& peer) {
  auto arena = memory_.Map(peer.address);
  peer.next_map = absl::InfiniteFuture();
  if (arena.ok()) {
    peer.arena = *std::move(arena);
    peer.owner.returns = std::make_shared<Returns>();
    peer.owner.mapping = memory_.NumberMapping();
    peer.owner.next_tell = now;
    peer.owner.interval = options_.tell_first;
  } else if (absl::IsUnavailable(arena.status())) {
    peer.next_map = now + peer.map_interval;
    peer.map_interval = std::min(2 * peer.map_interval, kMapIntervalMost);
  }
}

bool Lending::MayLend(AgentId reader) const {
  const auto it = peers_.find(reader);
  return it != peers_.end() && it->second.reader.maps && it->second.is_here &&
         it->second.arena != nullptr;
}

bool Lending::HasRoomFor(int64_t bytes) const {
  return options_.lent_bytes_max == 0 ||
         lent_bytes_ + bytes <= options_.lent_bytes_max;
}

std::optional<Loan> Lending::Lend(AgentId reader, const Value& value) {
  if (!MayLend(reader) || value.IsSpilled() || value.IsView()) {
    return std::nullopt;
  }
  const std::optional<int64_t> offset = memory_.OffsetOf(value.data());
  if (!offset.has_value() || !HasRoomFor(value.bytes())) return std::nullopt;
  Reader& lent = peers_.find(reader)->second.reader;
  const uint64_t number = lent.next_number++;
  lent.loans.emplace(number, value);
  lent_bytes_ += value.bytes();
  ++lent_count_;
  ++loan_count_;
  return Loan{.number = number,
              .offset = *offset,
              .type = value.type(),
              .shape = value.shape(),
              .digest = value.digest()};
}

std::optional<Place> Lending::PlaceOf(const Value& value) const {
  if (options_.lent_bytes_max > 0 || value.IsNone() || value.IsSpilled()) {
    return std::nullopt;
  }
  if (const auto offset = memory_.OffsetOf(value.data()); offset.has_value()) {
    return Place{.arena = memory_.address(), .offset = *offset};
  }
  if (!value.IsView()) return std::nullopt;
  for (const auto& [id, peer] : peers_) {
    if (!peer.is_here || peer.arena == nullptr) continue;
    const auto offset = peer.arena->OffsetOf(value.data());
    if (offset.has_value()) {
      return Place{.arena = peer.address, .offset = *offset};
    }
  }
  return std::nullopt;
}

Value Lending::Borrow(AgentId owner, const Loan& loan) {
  const auto it = peers_.find(owner);
  const auto refuse = [this] {
    ++refused_count_;
    return Value();
  };
  if (it == peers_.end() || it->second.arena == nullptr) return refuse();
  Owner& from = it->second.owner;
  if (loan.number <= from.settled ||
      !from.accepted.insert(loan.number).second) {
    return refuse();
  }
  // Without gaps one number says it all. A gap is a loan that is out, so the
  // owner's recount closes it.
  while (!from.accepted.empty() && *from.accepted.begin() == from.settled + 1) {
    from.accepted.erase(from.accepted.begin());
    ++from.settled;
  }
  const std::optional<int64_t> bytes = loan.Bytes();
  if (!bytes.has_value()) return refuse();
  const void* data = it->second.arena->At(loan.offset, *bytes);
  if (data == nullptr) return refuse();
  from.held.insert(loan.number);
  Value value = Value::View(
      loan.type, loan.shape, loan.digest, data,
      std::make_unique<Lease>(it->second.arena, from.returns, loan.number));
  if (options_.checks_digests && Hash128(value.view()) != loan.digest) {
    return refuse();
  }
  return value;
}

void Lending::EndLoan(Reader& reader, uint64_t number) {
  const auto it = reader.loans.find(number);
  if (it == reader.loans.end()) return;
  lent_bytes_ -= it->second.bytes();
  --lent_count_;
  reader.loans.erase(it);
}

void Lending::EndAllLoans(Reader& reader) {
  while (!reader.loans.empty()) EndLoan(reader, reader.loans.begin()->first);
}

absl::Status Lending::Receive(const Pass& pass, AgentId from, uint8_t kind,
                              absl::string_view body) {
  Decoder in(body);
  uint64_t last = 0;
  std::vector<uint64_t> numbers;
  const auto message = static_cast<LendingMessage>(kind);
  uint64_t mapping = 0;
  if (message == LendingMessage::kMapped) mapping = in.GetVarint();
  if (message == LendingMessage::kRecount || message == LendingMessage::kHeld) {
    last = in.GetVarint();
  }
  if (message == LendingMessage::kReturned ||
      message == LendingMessage::kHeld) {
    numbers = GetNumbers(in);
  }
  absl::Status status = in.Finish("lending");
  if (!status.ok()) return status;
  const auto it = peers_.find(from);
  if (it == peers_.end()) return status;
  Peer& peer = it->second;
  switch (message) {
    case LendingMessage::kMapped:
      if (peer.is_here && NoteMapped(from, peer, mapping)) {
        Send(from, LendingMessage::kWelcome, {}, pass.out);
      }
      break;
    case LendingMessage::kWelcome:
      peer.owner.is_told = true;
      break;
    case LendingMessage::kReturned:
      for (uint64_t number : numbers) EndLoan(peer.reader, number);
      break;
    case LendingMessage::kRecount:
      TakeReturns(from, peer, pass.out);
      AnswerRecount(from, peer.owner, last, pass.out);
      break;
    case LendingMessage::kHeld:
      NoteHeld(pass.now, peer.reader, last, numbers);
      break;
  }
  return status;
}

// `from` has mapped this arena, so no earlier incarnation of its process has
// any of it in use. A late message of an earlier one must not end the loans of
// the present one: the view may hold both for a while.
bool Lending::NoteMapped(AgentId from, Peer& peer, uint64_t mapping) {
  for (const auto& [id, other] : peers_) {
    if (other.address == peer.address && other.reader.mapping > mapping) {
      return false;
    }
  }
  if (!peer.reader.maps) memory_.Forget(peer.address);
  peer.reader.maps = true;
  peer.reader.mapping = mapping;
  for (auto& [id, other] : peers_) {
    if (id == from || other.address != peer.address) continue;
    other.reader.maps = false;
    EndAllLoans(other.reader);
  }
  return true;
}

void Lending::AnswerRecount(AgentId from, Owner& owner, uint64_t last,
                            Outbox& out) const {
  owner.settled = std::max(owner.settled, last);
  owner.accepted.erase(owner.accepted.begin(),
                       owner.accepted.upper_bound(last));
  std::vector<uint64_t> numbers;
  for (uint64_t number : owner.held) {
    if (number > last) break;
    if (numbers.size() == kNumbersMax) {
      last = number - 1;
      break;
    }
    numbers.push_back(number);
  }
  Encoder reply;
  reply.PutVarint(last);
  PutNumbers(numbers, reply);
  Send(from, LendingMessage::kHeld, reply, out);
}

void Lending::NoteHeld(absl::Time now, Reader& reader, uint64_t last,
                       const std::vector<uint64_t>& numbers) {
  const std::set<uint64_t> held(numbers.begin(), numbers.end());
  std::vector<uint64_t> ended;
  for (const auto& [number, value] : reader.loans) {
    if (number <= last && !held.contains(number)) ended.push_back(number);
  }
  for (uint64_t number : ended) EndLoan(reader, number);
  if (ended.empty()) return;
  reader.interval = options_.recount_first;
  reader.next_recount = now + reader.interval;
}

void Lending::TakeReturns(AgentId id, Peer& peer, Outbox& out) {
  if (peer.owner.returns == nullptr) return;
  std::vector<uint64_t> numbers;
  {
    const std::lock_guard lock(peer.owner.returns->mutex);
    numbers.swap(peer.owner.returns->numbers);
  }
  if (numbers.empty()) return;
  // Tables are emptied in an order that differs from process to process.
  std::sort(numbers.begin(), numbers.end());
  for (uint64_t number : numbers) peer.owner.held.erase(number);
  for (size_t first = 0; first < numbers.size(); first += kNumbersMax) {
    const size_t end = std::min<size_t>(numbers.size(), first + kNumbersMax);
    Encoder body;
    PutNumbers({numbers.begin() + first, numbers.begin() + end}, body);
    Send(id, LendingMessage::kReturned, body, out);
  }
}

void Lending::Tick(const Pass& pass) {
  for (auto it = peers_.begin(); it != peers_.end();) {
    auto& [id, peer] = *it;
    if (peer.arena == nullptr) {
      if (peer.is_here && pass.now >= peer.next_map) TryMap(pass.now, peer);
      if (peer.is_here) pass.out.WakeAt(peer.next_map);
      it = peer.is_here ? std::next(it) : peers_.erase(it);
      continue;
    }
    TakeReturns(id, peer, pass.out);
    Reader& reader = peer.reader;
    if (!peer.is_here && !reader.loans.empty() && peer.arena->HasEnded()) {
      EndAllLoans(reader);
    }
    // The peer's own values may be in use here for longer, without this entry.
    if (!peer.is_here && reader.loans.empty() && peer.owner.held.empty()) {
      it = peers_.erase(it);
      continue;
    }
    Owner& owner = peer.owner;
    if (peer.is_here && !owner.is_told && pass.now >= owner.next_tell) {
      Encoder body;
      body.PutVarint(owner.mapping);
      Send(id, LendingMessage::kMapped, body, pass.out);
      owner.next_tell = pass.now + owner.interval;
      owner.interval = std::min(2 * owner.interval, options_.tell_most);
    }
    if (peer.is_here && !owner.is_told) pass.out.WakeAt(owner.next_tell);
    if (!reader.loans.empty() &&
        reader.next_recount == absl::InfiniteFuture()) {
      reader.interval = options_.recount_first;
      reader.next_recount = pass.now + reader.interval;
      reader.recount_to = reader.next_number - 1;
    }
    if (!reader.loans.empty() && pass.now >= reader.next_recount) {
      Encoder body;
      body.PutVarint(reader.recount_to);
      Send(id, LendingMessage::kRecount, body, pass.out);
      reader.recount_to = reader.next_number - 1;
      reader.interval = std::min(2 * reader.interval, options_.recount_most);
      reader.next_recount = pass.now + reader.interval;
    }
    if (!reader.loans.empty()) {
      pass.out.WakeAt(reader.next_recount);
    } else {
      reader.next_recount = absl::InfiniteFuture();
    }
    ++it;
  }
  if (memory_.keeps_any()) {
    memory_.Sweep();
    pass.out.WakeAt(pass.now + options_.recount_first);
  }
}

bool Lending::HasOrphans() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& entry) {
    return !entry.second.is_here && !entry.second.owner.held.empty();
  });
}

int64_t Lending::remembered_count() const {
  int64_t count = 0;
  for (const auto& [id, peer] : peers_) {
    count += std::ssize(peer.owner.accepted);
  }
  return count;
}

int64_t Lending::borrowed_count() const {
  int64_t count = 0;
  for (const auto& [id, peer] : peers_) {
    count += std::ssize(peer.owner.held);
  }
  return count;
}

}  // namespace dogged
