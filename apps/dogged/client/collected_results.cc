#include "apps/dogged/client/collected_results.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

// Results asked for at a time: bounds what waits at the agent.
constexpr int64_t kAskedMax = 1 << 14;
constexpr int64_t kAskedBytesMax = 256 << 20;
// While nobody knows how large they are, and of very large ones.
constexpr int64_t kAskedFirst = 256;
constexpr int64_t kAskedMin = 8;

// Keeps the mapping for a view of it.
class MappedLease : public ValueMemory {
 public:
  explicit MappedLease(std::shared_ptr<PeerArena> arena)
      : arena_(std::move(arena)) {}
  void* Take(int64_t) override { return nullptr; }
  void Give(void*, int64_t) override {}

 private:
  const std::shared_ptr<PeerArena> arena_;
};

// The value of `loan` in `arena`; none if it can't lie there.
Value ViewOf(const std::shared_ptr<PeerArena>& arena, const Loan& loan) {
  const std::optional<int64_t> bytes = loan.Bytes();
  if (arena == nullptr || !bytes.has_value()) return Value();
  const void* data = arena->At(loan.offset, *bytes);
  if (data == nullptr) return Value();
  return Value::View(loan.type, loan.shape, loan.digest, data,
                     std::make_unique<MappedLease>(arena));
}

}  // namespace

void CollectedResults::List(const Rounds& rounds) {
  rounds.ForEachDemanded([this](const Label& label) {
    missing_.insert(label);
    return true;
  });
  AskForAllMissing();
}

void CollectedResults::List(const std::vector<Label>& labels) {
  missing_.insert(labels.begin(), labels.end());
  AskForAllMissing();
}

absl::StatusOr<Value> CollectedResults::Find(const Label& label) const {
  const auto it = found_.find(label);
  if (it == found_.end()) return Value();
  return it->second.IsSpilled() ? file_.Read(label, it->second) : it->second;
}

int64_t CollectedResults::AskedMax() const {
  if (came_count_ == 0) return kAskedFirst;
  const int64_t each = came_bytes_ / came_count_ + 1;
  return std::clamp(kAskedBytesMax / each, kAskedMin, kAskedMax);
}

void CollectedResults::AskForAllMissing() {
  to_ask_.assign(missing_.begin(), missing_.end());
  std::sort(to_ask_.begin(), to_ask_.end(), std::greater<Label>());
}

void CollectedResults::AskAnew() {
  AskForAllMissing();
  unread_.clear();
  asked_count_ = 0;
}

std::vector<Label> CollectedResults::TakeToAsk() {
  std::vector<Label> out;
  const int64_t asked_max = AskedMax();
  if (asked_count_ > asked_max / 2) return out;
  while (!to_ask_.empty() && asked_count_ < asked_max) {
    if (missing_.contains(to_ask_.back())) {
      out.push_back(to_ask_.back());
      ++asked_count_;
    }
    to_ask_.pop_back();
  }
  return out;
}

void CollectedResults::Take(const ValuesReply& reply) {
  for (const auto& [label, value] : reply.values) {
    if (missing_.erase(label) == 0) continue;
    Keep(label, value);
    --asked_count_;
    ++came_count_;
    came_bytes_ += value.bytes();
  }
  for (const LentValue& lent : reply.lent) Borrow(lent);
}

void CollectedResults::Keep(const Label& label, const Value& value) {
  if (found_bytes_ + value.bytes() > bytes_max_) {
    const absl::Status status = file_.Put(label, value);
    if (status.ok()) {
      found_[label] = value.Spilled();
      return;
    }
    file_trouble_ = status;
  }
  found_bytes_ += value.bytes();
  found_[label] = value;
}

void CollectedResults::Borrow(const LentValue& lent) {
  last_loan_ = lent.loan.number;
  if (!missing_.contains(lent.label)) return;
  auto [it, is_new] = arenas_.try_emplace(lent.arena);
  if (is_new) {
    auto arena = MapArena(lent.arena);
    if (arena.ok()) it->second = *std::move(arena);
  }
  const Value view = ViewOf(it->second, lent.loan);
  if (view.IsNone()) {
    unread_.push_back(lent.label);
    return;
  }
  missing_.erase(lent.label);
  --asked_count_;
  ++came_count_;
  came_bytes_ += view.bytes();
  ++lent_count_;
  lent_bytes_ += view.bytes();
  lent_.push_back({lent.label, lent.loan.number});
  found_.emplace(lent.label, view);
}

// A contact that was lost may have been declared dead, and its arena be in use
// for something else: the digest tells.
void CollectedResults::CopyOldest() {
  const Label label = lent_.front().label;
  const auto it = found_.find(label);
  const Value copy = it->second.Copy();
  lent_.pop_front();
  lent_bytes_ -= copy.bytes();
  if (Hash128(copy.view()) == it->second.digest()) {
    Keep(label, copy);
    return;
  }
  found_.erase(it);
  missing_.insert(label);
  unread_.push_back(label);
  ++asked_count_;
}

void CollectedResults::CopyAll() {
  while (!lent_.empty()) CopyOldest();
}

void CollectedResults::CopyBeyond(int64_t bytes) {
  while (lent_bytes_ > bytes) CopyOldest();
}

void CollectedResults::ForgetContact() {
  CopyAll();
  last_loan_ = 0;
}

absl::Status CollectedResults::NoRoom() {
  const int64_t bytes = found_bytes_;
  const size_t count = found_.size() + missing_.size();
  found_.clear();  // room for what is left to do
  lent_.clear();
  found_bytes_ = lent_bytes_ = 0;
  return absl::ResourceExhaustedError(absl::StrCat(
      "no memory for the ", count, " results: beyond the ", bytes,
      " bytes of them that are here nothing fits",
      file_trouble_.ok()
          ? "; want less, or use smaller parameters"
          : absl::StrCat(", and ", file_trouble_.message(),
                         "; make room there, or write outputs to a folder that "
                         "has some")));
}

}  // namespace dogged
