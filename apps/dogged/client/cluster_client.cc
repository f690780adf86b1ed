#include "apps/dogged/client/cluster_client.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/memory/arena.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Seconds(2);
constexpr absl::Duration kCallTimeout = absl::Seconds(10);
// Time for which an agent that did not answer is left alone: a client that
// collects results meanwhile spends at most about a tenth of its time with a
// silent agent.
constexpr absl::Duration kSilence = absl::Seconds(9);
// Time in which a contact may say nothing while other agents answer, or have no
// results while others have done the job.
constexpr absl::Duration kContactPatience = absl::Seconds(5);
// Results asked for at a time: bounds the queue at the agent.
constexpr int64_t kAskedMax = 1 << 14;

uint8_t Type(ControlType type) { return static_cast<uint8_t>(type); }

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

// The value of `loan` in `arena`; none if it can't be there.
Value ViewOf(const std::shared_ptr<PeerArena>& arena, const Loan& loan) {
  const std::optional<int64_t> bytes = loan.Bytes();
  if (arena == nullptr || !bytes.has_value()) return Value();
  const void* data = arena->At(loan.offset, *bytes);
  if (data == nullptr) return Value();
  return Value::View(loan.type, loan.shape, loan.digest, data,
                     std::make_unique<MappedLease>(arena));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClusterClient>> ClusterClient::Connect(
    std::vector<std::string> addresses, Options options) {
  std::unique_ptr<ClusterClient> out(new ClusterClient(std::move(options)));
  out->addresses_ = std::move(addresses);
  out->named_count_ = out->addresses_.size();
  DOGGED_RETURN_IF_ERROR(out->FailOver(absl::OkStatus()));
  return out;
}

bool ClusterClient::IsSilent(const std::string& address) {
  const auto until = silent_until_.find(address);
  return until != silent_until_.end() && clock_.Now() < until->second;
}

void ClusterClient::NoteSilence(const std::string& address) {
  silent_until_[address] = clock_.Now() + kSilence;
}

absl::Status ClusterClient::FailOver(const absl::Status& why) {
  if (absl::IsDeadlineExceeded(why)) NoteSilence(contact_address_);
  contact_.reset();
  is_contact_lost_ = false;
  contact_answered_ = results_came_ = clock_.Now();
  TakeLent();  // nobody holds it any more
  last_loan_ = 0;
  absl::Status last = why;
  for (const std::string& address : Addresses()) {
    auto client = options_.connect(address, kConnectTimeout);
    if (client.status().code() == absl::StatusCode::kInvalidArgument) {
      return absl::NotFoundError(std::string(client.status().message()));
    }
    if (!client.ok()) {
      last = client.status();
      continue;
    }
    contact_ = *std::move(client);
    contact_address_ = address;
    if (encoded_job_.empty()) return absl::OkStatus();
    const absl::Status said = SendAll();
    if (said.ok()) return said;
    if (said.code() != absl::StatusCode::kUnavailable &&
        said.code() != absl::StatusCode::kDeadlineExceeded) {
      return said;
    }
    if (absl::IsDeadlineExceeded(said)) NoteSilence(address);
    last = said;
    contact_.reset();
  }
  // The last one's message names its own address.
  std::string all;
  if (addresses_.size() > 1) {
    all = absl::StrCat("none of ", absl::StrJoin(addresses_, ", "), ": ");
  }
  absl::StrAppend(&all, std::string(last.message()));
  if (encoded_job_.empty()) return absl::UnavailableError(all);
  return absl::UnavailableError(absl::StrCat(
      "no agent answers any more: ", all,
      "; start agents, with the directories (--dir) of the former ones if they "
      "had any, and run the same command"));
}

absl::Status ClusterClient::SendAll() {
  const SubmitRequest request{.submission = record_.submission,
                              .options = job_options_,
                              .text_hash = record_.text_hash,
                              .supplies = input_bytes_ > 0,
                              .job = encoded_job_};
  DOGGED_ASSIGN_OR_RETURN(
      const ControlFrame frame,
      contact_->Call(Type(ControlType::kSubmit), request.Encode().view(),
                     kCallTimeout));
  if (frame.type == Type(ControlType::kError)) {
    return DecodeError(frame.body.view());
  }
  to_ask_.assign(missing_.begin(), missing_.end());
  std::sort(to_ask_.begin(), to_ask_.end(), std::greater<Label>());
  unread_.clear();
  asked_count_ = 0;
  return AskForMore();
}

absl::Status ClusterClient::Submit(const Job& job, SubmissionId submission,
                                   const JobOptions& options,
                                   const Relations& relations,
                                   uint64_t text_hash) {
  Job cut = job;
  cut.CutInputs();
  encoded_job_ = cut.Encode();
  inputs_ = std::move(cut.inputs);
  for (const JobInput& input : inputs_) {
    if (input.IsInChunks()) input_bytes_ += input.bytes();
  }
  job_options_ = options;
  record_ = {.hash = JobHash(encoded_job_),
             .submission = submission,
             .name = relations.program().name,
             .text_hash = text_hash,
             .options = options};
  rounds_.emplace(relations);
  ListResults();
  const absl::Status said = SendAll();
  if (said.ok()) return said;
  return FailOver(said);
}

void ClusterClient::ListResults() {
  if (!rounds_->HasEnded()) return;
  rounds_->ForEachDemanded([this](const Label& label) {
    missing_.insert(label);
    return true;
  });
  to_ask_.assign(missing_.begin(), missing_.end());
  std::sort(to_ask_.begin(), to_ask_.end(), std::greater<Label>());
}

absl::Status ClusterClient::AskForMore() {
  if (!unread_.empty()) {
    const WantRequest request{.job = record_.job(),
                              .labels = std::exchange(unread_, {})};
    DOGGED_RETURN_IF_ERROR(contact_->Send(
        Type(ControlType::kWant), request.Encode().view(), kCallTimeout));
  }
  if (to_ask_.empty() || asked_count_ > kAskedMax / 2) return absl::OkStatus();
  WantRequest request{.job = record_.job(), .may_borrow = true};
  while (!to_ask_.empty() && asked_count_ < kAskedMax) {
    if (missing_.contains(to_ask_.back())) {
      request.labels.push_back(to_ask_.back());
      ++asked_count_;
    }
    to_ask_.pop_back();
  }
  if (request.labels.empty()) return absl::OkStatus();
  return contact_->Send(Type(ControlType::kWant), request.Encode().view(),
                        kCallTimeout);
}

absl::Status ClusterClient::TakeFrame(const ControlFrame& frame) {
  if (frame.type == Type(ControlType::kError)) {
    return DecodeError(frame.body.view());
  }
  if (frame.type == Type(ControlType::kChunksWanted)) {
    return GiveChunks(frame.body.view());
  }
  if (frame.type != Type(ControlType::kValues)) return absl::OkStatus();
  results_came_ = clock_.Now();
  const auto reply = ValuesReply::Decode(frame.body.view());
  if (reply.status().code() == absl::StatusCode::kResourceExhausted) {
    return NoRoom();
  }
  if (!reply.ok()) return reply.status();
  for (const auto& [label, value] : reply->values) {
    if (missing_.erase(label) == 0) continue;
    found_.emplace(label, value);
    --asked_count_;
  }
  for (const LentValue& lent : reply->lent) Borrow(lent);
  if (lent_bytes_ > options_.lent_bytes_max) {
    DOGGED_RETURN_IF_ERROR(ReturnBeyond(options_.lent_bytes_max));
  }
  return AskForMore();
}

absl::Status ClusterClient::GiveChunks(absl::string_view body) {
  DOGGED_ASSIGN_OR_RETURN(const ChunksWanted wanted,
                          ChunksWanted::Decode(body));
  if (wanted.job != record_.job()) return absl::OkStatus();
  for (const ChunkId& id : wanted.chunks) {
    if (id.input < 0 || id.input >= std::ssize(inputs_)) continue;
    const JobInput& input = inputs_[static_cast<size_t>(id.input)];
    if (id.index < 0 || id.index >= std::ssize(input.chunks)) continue;
    const std::string part =
        ChunkPart{.job = wanted.job, .chunk = id}.EncodeWith(input);
    DOGGED_RETURN_IF_ERROR(
        contact_->Send(Type(ControlType::kChunk), part, kCallTimeout));
    input_bytes_given_ += input.grid.BytesOf(id.index);
  }
  return absl::OkStatus();
}

void ClusterClient::Borrow(const LentValue& lent) {
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
  ++lent_count_;
  lent_bytes_ += view.bytes();
  lent_.push_back({lent.label, lent.loan.number});
  found_.emplace(lent.label, view);
}

// A contact that was lost may have been declared dead, and its arena be in use
// for something else: the digest tells.
void ClusterClient::TakeOldest() {
  const Label label = lent_.front().label;
  const auto it = found_.find(label);
  const Value copy = it->second.Copy();
  lent_.pop_front();
  lent_bytes_ -= copy.bytes();
  if (Hash128(copy.view()) == it->second.digest()) {
    it->second = copy;
    return;
  }
  found_.erase(it);
  missing_.insert(label);
  unread_.push_back(label);
  ++asked_count_;
}

void ClusterClient::TakeLent() {
  while (!lent_.empty()) TakeOldest();
}

absl::StatusOr<bool> ClusterClient::CopyLent() {
  try {
    TakeLent();
  } catch (const std::bad_alloc&) {
    return NoRoom();
  }
  return HasAll();
}

absl::Status ClusterClient::NoRoom() {
  int64_t bytes = 0;
  for (const auto& [label, value] : found_) {
    if (!value.IsView()) bytes += value.bytes();
  }
  const size_t count = found_.size() + missing_.size();
  found_.clear();  // memory to end with
  lent_.clear();
  lent_bytes_ = 0;
  return absl::ResourceExhaustedError(absl::StrCat(
      "no memory for the ", count, " results: beyond the ", bytes,
      " bytes of them that are here nothing fits; want less, or use smaller "
      "parameters"));
}

absl::Status ClusterClient::ReturnBeyond(int64_t bytes) {
  while (lent_bytes_ > bytes) TakeOldest();
  const uint64_t returned =
      lent_.empty() ? last_loan_ : lent_.front().number - 1;
  return contact_->Send(Type(ControlType::kReturned),
                        ReturnedNotice{.number = returned}.Encode().view(),
                        kCallTimeout);
}

absl::Status ClusterClient::Collect(absl::Duration patience) {
  try {
    return CollectOrThrow(patience);
  } catch (const std::bad_alloc&) {
    return NoRoom();
  }
}

absl::Status ClusterClient::CollectOrThrow(absl::Duration patience) {
  const absl::Time deadline = clock_.Now() + patience;
  if (is_contact_lost_) {
    DOGGED_RETURN_IF_ERROR(FailOver(absl::UnavailableError(
        absl::StrCat(contact_address_, " does not answer"))));
  }
  if (!unread_.empty()) {
    const absl::Status asked = AskForMore();
    if (!asked.ok()) DOGGED_RETURN_IF_ERROR(FailOver(asked));
  }
  while (!HasAll()) {
    const absl::Duration left = deadline - clock_.Now();
    if (left <= absl::ZeroDuration()) return absl::OkStatus();
    const auto frame = contact_->Receive(left);
    absl::Status status = frame.ok() ? TakeFrame(*frame) : frame.status();
    if (status.code() == absl::StatusCode::kDeadlineExceeded) {
      return absl::OkStatus();
    }
    if (status.code() == absl::StatusCode::kResourceExhausted ||
        status.code() == absl::StatusCode::kFailedPrecondition) {
      return status;
    }
    if (!status.ok()) DOGGED_RETURN_IF_ERROR(FailOver(status));
  }
  return absl::OkStatus();
}

Value ClusterClient::Find(const Label& label) const {
  const auto it = found_.find(label);
  return it == found_.end() ? Value() : it->second;
}

void ClusterClient::AddAddress(std::string address) {
  if (std::find(addresses_.begin(), addresses_.end(), address) ==
      addresses_.end()) {
    addresses_.push_back(std::move(address));
  }
}

std::vector<std::string> ClusterClient::Addresses() {
  std::vector<std::string> out = addresses_;
  std::stable_partition(
      out.begin(), out.end(),
      [this](const std::string& address) { return !IsSilent(address); });
  return out;
}

absl::StatusOr<StatusReply> ClusterClient::AskStatus(const std::string& address,
                                                     const Bytes& request,
                                                     absl::Duration patience) {
  auto& client = status_clients_[address];
  if (client == nullptr) {
    DOGGED_ASSIGN_OR_RETURN(client, options_.connect(address, patience));
  }
  const auto frame =
      client->Call(Type(ControlType::kStatus), request.view(), patience);
  if (!frame.ok()) {
    client.reset();
    return frame.status();
  }
  return StatusReply::Decode(frame->body.view());
}

void ClusterClient::NoteStatus(const StatusReply& reply) {
  for (const MemberStatus& m : reply.members) {
    if (m.state == "alive") AddAddress(m.member.control_address);
  }
  for (const JobSummary& job : reply.jobs) {
    if (!rounds_.has_value() || job.record.hash != record_.hash) continue;
    const bool is_news =
        rounds_->Raise(job.record.round, job.record.is_last_round);
    if (!is_news || !rounds_->HasEnded()) continue;
    ListResults();
    // An error here is no loss: Collect() asks again, elsewhere.
    if (contact_ != nullptr) (void)AskForMore();
  }
}

std::vector<StatusReply> ClusterClient::PollStatus(
    const StatusRequest& request) {
  std::vector<StatusReply> out;
  const Bytes body = request.Encode();
  const auto ask = [&](size_t i) {
    const std::string address = addresses_[i];
    const absl::Duration patience =
        addresses_.size() == named_count_ ? options_.patience : kStatusPatience;
    const absl::Time asked = clock_.Now();
    const auto reply = AskStatus(address, body, patience);
    // A stopped agent takes no connection either, in the end.
    const bool was_slow = clock_.Now() - asked >= patience / 2;
    if (absl::IsDeadlineExceeded(reply.status()) || (!reply.ok() && was_slow)) {
      NoteSilence(address);
    }
    if (!reply.ok()) return;
    silent_until_.erase(address);
    NoteStatus(*reply);
    out.push_back(*reply);
  };
  std::vector<size_t> silent;
  // Each answer may add addresses.
  for (size_t i = 0; i < addresses_.size(); ++i) {
    if (IsSilent(addresses_[i])) {
      silent.push_back(i);
    } else {
      ask(i);
    }
  }
  // Unless nobody else says anything.
  for (size_t i = 0; i < silent.size() && out.empty(); ++i) ask(silent[i]);
  is_contact_lost_ = IsContactLost(out);
  return out;
}

absl::StatusOr<std::vector<StatusReply>> ClusterClient::AwaitStatus(
    const StatusRequest& request) {
  absl::Duration waited;
  do {
    std::vector<StatusReply> replies = PollStatus(request);
    if (!replies.empty()) return replies;
    waited += options_.patience;
    // An address without an agent is not asked twice.
  } while (IsSilent(contact_address_) && waited < kNamedPatience);
  return absl::UnavailableError(absl::StrCat(
      absl::StrJoin(addresses_, ", "),
      " takes the connection and does not answer; is it an agent, and is it "
      "stopped?"));
}

bool ClusterClient::IsContactLost(const std::vector<StatusReply>& replies) {
  const absl::Time now = clock_.Now();
  if (replies.empty()) return false;
  if (!IsSilent(contact_address_)) {
    contact_answered_ = now;
    // The contact may be cut off from agents that have the results.
    const bool is_stuck = !missing_.empty() && IsDoneSomewhere(replies) &&
                          now - results_came_ >= kContactPatience;
    if (is_stuck) NoteSilence(contact_address_);  // others come first
    return is_stuck;
  }
  // Other agents may reach it where this client does not.
  if (now - contact_answered_ >= kContactPatience) return true;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      const bool is_there = m.state == "alive" || m.state == "suspect";
      if (is_there && m.member.control_address == contact_address_) {
        return false;
      }
    }
  }
  return true;
}

bool ClusterClient::IsDoneSomewhere(
    const std::vector<StatusReply>& replies) const {
  for (const StatusReply& reply : replies) {
    for (const JobSummary& job : reply.jobs) {
      if (job.record.hash == record_.hash &&
          job.record.state == JobState::kDone) {
        return true;
      }
    }
  }
  return false;
}

absl::Status ClusterClient::Conclude(JobRecord record) {
  const auto frame = contact_->Call(Type(ControlType::kConclude),
                                    record.Encode().view(), kCallTimeout);
  return frame.status();
}

}  // namespace dogged
