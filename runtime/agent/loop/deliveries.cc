#include "runtime/agent/loop/deliveries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace dogged {
namespace {

// Of the values of a frame, but for one that is larger: a client has the frame
// and its values at a time, beside all that it keeps.
constexpr int64_t kFrameBytes = 1 << 20;
constexpr size_t kFrameValues = 4096;
// Bytes that a client may have borrowed; the rest comes as bytes. Results stay
// until their job ends anyhow: this is for clients that stand still after that.
constexpr int64_t kBorrowedBytesMax = int64_t{2} << 30;

}  // namespace

void Deliveries::Want(ConnectionId client, const WantRequest& request) {
  for (const Label& label : request.labels) {
    wanted_[{request.job, label}].push_back({client, request.may_borrow});
  }
  Parcel& parcel = parcels_[{client, request.job}];
  parcel.reply.job = request.job;
  parcel.messages += std::ssize(request.labels);
}

void Deliveries::Forget(ConnectionId client) {
  for (auto it = wanted_.begin(); it != wanted_.end();) {
    std::erase_if(it->second, [client](const OutgoingMessage& wish) {
      return wish.client == client;
    });
    it = it->second.empty() ? wanted_.erase(it) : std::next(it);
  }
  std::erase_if(parcels_, [client](const auto& entry) {
    return entry.first.first == client;
  });
  borrowers_.erase(client);
}

void Deliveries::Add(JobId job, const Label& label, const Value& value,
                     const Lending* lending, Send send) {
  const auto it = wanted_.find({job, label});
  if (it == wanted_.end()) return;
  for (const auto& [client, may_borrow] : it->second) {
    Parcel& parcel = parcels_.at({client, job});
    --parcel.messages;
    if (!may_borrow || !Lend(client, label, value, lending, parcel.reply)) {
      parcel.reply.values.emplace_back(label, value);
      parcel.bytes += value.bytes();
    }
    if (parcel.bytes >= kFrameBytes ||
        parcel.reply.values.size() >= kFrameValues) {
      SendParcel(client, parcel, send);
    }
    next_due_ = std::min(next_due_, parcel.due());
  }
  wanted_.erase(it);
}

void Deliveries::SendDue(absl::Time now, Send send) {
  if (now < next_due_) return;
  next_due_ = absl::InfiniteFuture();
  for (auto it = parcels_.begin(); it != parcels_.end();) {
    Parcel& parcel = it->second;
    if (!parcel.empty() && parcel.due() <= now) {
      SendParcel(it->first.first, parcel, send);
      parcel.last = now;
    }
    if (!parcel.empty()) next_due_ = std::min(next_due_, parcel.due());
    const bool is_over = parcel.messages == 0 && parcel.empty();
    it = is_over ? parcels_.erase(it) : std::next(it);
  }
}

void Deliveries::SendParcel(ConnectionId client, Parcel& parcel, Send send) {
  auto& values = parcel.reply.values;
  size_t next = 0;
  do {
    parcel.is_held = !has_room_(client);
    if (parcel.is_held) break;
    ValuesReply reply{.job = parcel.reply.job,
                      .lent = std::exchange(parcel.reply.lent, {})};
    for (int64_t bytes = 0;
         next < values.size() && reply.values.size() < kFrameValues; ++next) {
      bytes += values[next].second.bytes();
      if (bytes > kFrameBytes && !reply.values.empty()) break;
      reply.values.push_back(std::move(values[next]));
    }
    send(client, reply);
  } while (next < values.size());
  if (next == 0) {  // held, or only loans
    if (!parcel.is_held) parcel.bytes = 0;
    return;
  }
  values.erase(values.begin(), values.begin() + next);
  parcel.bytes = 0;
  for (const auto& [label, value] : values) parcel.bytes += value.bytes();
}

bool Deliveries::Lend(ConnectionId client, const Label& label,
                      const Value& value, const Lending* lending,
                      ValuesReply& reply) {
  if (lending == nullptr) return false;
  const std::optional<Place> place = lending->PlaceOf(value);
  if (!place.has_value()) return false;
  Borrower& borrower = borrowers_[client];
  if (borrower.bytes + value.bytes() > kBorrowedBytesMax) return false;
  borrower.held.push_back(value);
  borrower.bytes += value.bytes();
  reply.lent.push_back(
      {.label = label,
       .arena = place->arena,
       .loan = {.number = borrower.returned + borrower.held.size(),
                .offset = place->offset,
                .type = value.type(),
                .shape = value.shape(),
                .digest = value.digest()}});
  return true;
}

void Deliveries::TakeBack(ConnectionId client, uint64_t number) {
  const auto it = borrowers_.find(client);
  if (it == borrowers_.end()) return;
  Borrower& borrower = it->second;
  while (!borrower.held.empty() && borrower.returned < number) {
    borrower.bytes -= borrower.held.front().bytes();
    borrower.held.pop_front();
    ++borrower.returned;
  }
}

std::vector<ConnectionId> Deliveries::Clients() const {
  std::vector<ConnectionId> out;
  for (const auto& [key, parcel] : parcels_) out.push_back(key.first);
  for (const auto& [client, borrower] : borrowers_) out.push_back(client);
  return out;
}

}  // namespace dogged
