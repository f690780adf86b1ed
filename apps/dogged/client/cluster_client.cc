#include "apps/dogged/client/cluster_client.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/client/client_times.h"
#include "routing/control/refusal.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// So long a contact may say nothing while others answer, or have no results
// while others have done the job.
constexpr absl::Duration kContactPatience = absl::Seconds(5);

}  // namespace

ConnectControl ConnectWith(std::shared_ptr<Credentials> credentials) {
  return [credentials = std::move(credentials)](absl::string_view address,
                                                absl::Duration timeout)
             -> absl::StatusOr<std::unique_ptr<ControlCaller>> {
    if (credentials == nullptr) return ControlClient::Connect(address, timeout);
    credentials->Refresh(SystemClock().Now());
    return ControlClient::Connect(address, timeout, credentials->ring(),
                                  credentials->certificates());
  };
}

absl::StatusOr<std::unique_ptr<ClusterClient>> ClusterClient::Connect(
    std::vector<std::string> addresses, Options options) {
  std::unique_ptr<ClusterClient> out(
      new ClusterClient(std::move(addresses), std::move(options)));
  DOGGED_RETURN_IF_ERROR(out->FailOver(absl::OkStatus()));
  return out;
}

absl::Status ClusterClient::FailOver(const absl::Status& why) {
  if (absl::IsDeadlineExceeded(why)) addresses_.NoteSilence(contact_address_);
  contact_.reset();
  is_contact_lost_ = is_watching_ = false;
  contact_answered_ = results_came_ = clock_.Now();
  results_.ForgetContact();
  absl::Status last = why;
  for (const std::string& address : addresses_.SilentLast()) {
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
    if (!rounds_.has_value()) return absl::OkStatus();
    const absl::Status said = SendAll();
    if (said.ok()) return said;
    if (said.code() != absl::StatusCode::kUnavailable && !IsRefusal(said) &&
        said.code() != absl::StatusCode::kDeadlineExceeded) {
      return said;
    }
    if (absl::IsDeadlineExceeded(said)) addresses_.NoteSilence(address);
    last = said;
    contact_.reset();
  }
  // The last one's message names its own address.
  std::string all;
  if (addresses_.all().size() > 1) {
    all = absl::StrCat("none of ", absl::StrJoin(addresses_.all(), ", "), ": ");
  }
  absl::StrAppend(&all, std::string(last.message()));
  if (encoded_job_.empty()) return absl::UnavailableError(all);
  return absl::UnavailableError(absl::StrCat(
      "no agent answers any more: ", all,
      "; start agents, with the directories (--dir) of the former ones if they "
      "had any, and run the same command"));
}

absl::Status ClusterClient::Resume(std::vector<std::string> addresses) {
  addresses_.Replace(std::move(addresses));
  status_clients_.clear();
  return FailOver(absl::OkStatus());
}

absl::Status ClusterClient::SendAll() {
  if (encoded_job_.empty()) {
    results_.AskAnew();
    return AskForMore();
  }
  const SubmitRequest request{.submission = record_.submission,
                              .options = job_options_,
                              .text_hash = record_.text_hash,
                              .supplies = input_bytes_ > 0,
                              .job = encoded_job_};
  DOGGED_ASSIGN_OR_RETURN(
      const ControlFrame frame,
      contact_->Call(FrameType(ControlType::kSubmit), request.Encode().view(),
                     kCallTimeout));
  if (frame.type == FrameType(ControlType::kError)) {
    return DecodeError(frame.body.view());
  }
  results_.AskAnew();
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
  if (options_.collects && rounds_->HasEnded()) results_.List(*rounds_);
  const absl::Status said = SendAll();
  if (said.ok()) return said;
  return FailOver(said);
}

absl::Status ClusterClient::Attach(const JobRecord& record,
                                   const Relations& relations,
                                   const std::vector<Label>& labels) {
  record_ = record;
  rounds_.emplace(relations);
  rounds_->Raise(record.round, record.is_last_round);
  if (!labels.empty()) {
    results_.List(labels);
  } else if (rounds_->HasEnded()) {
    results_.List(*rounds_);
  }
  const absl::Status said = SendAll();
  if (said.ok()) return said;
  return FailOver(said);
}

absl::StatusOr<Job> ClusterClient::FetchJob(const Digest& hash) {
  const Bytes request = EncodeId(JobIdOf(hash));
  for (const std::string& address : addresses_.SilentLast()) {
    auto client = options_.connect(address, kConnectTimeout);
    if (!client.ok()) continue;
    const auto frame = (*client)->Call(FrameType(ControlType::kJobWanted),
                                       request.view(), kCallTimeout);
    if (!frame.ok() || frame->type != FrameType(ControlType::kJobValue) ||
        JobHash(frame->body.view()) != hash) {
      continue;
    }
    contact_ = *std::move(client);
    contact_address_ = address;
    contact_answered_ = results_came_ = clock_.Now();
    return Job::Decode(frame->body.view());
  }
  return absl::NotFoundError(
      absl::StrCat("no agent has job ", hash.ToString()));
}

absl::StatusOr<ClusterClient::Bound> ClusterClient::Watch(
    JobId job, const std::vector<Label>& labels, absl::Duration patience) {
  const absl::Time deadline = clock_.Now() + patience;
  if (!std::exchange(is_watching_, true)) {
    const WantRequest request{.job = job, .labels = labels};
    const absl::Status said = contact_->Send(
        FrameType(ControlType::kWatch), request.Encode().view(), kCallTimeout);
    if (!said.ok()) DOGGED_RETURN_IF_ERROR(FailOver(said));
  }
  while (true) {
    const absl::Duration left = deadline - clock_.Now();
    if (left <= absl::ZeroDuration()) return Bound();
    const auto frame = contact_->Receive(left);
    if (absl::IsDeadlineExceeded(frame.status())) return Bound();
    if (!frame.ok()) {
      DOGGED_RETURN_IF_ERROR(FailOver(frame.status()));
      return Bound();
    }
    if (frame->type == FrameType(ControlType::kValues)) {
      DOGGED_ASSIGN_OR_RETURN(ValuesReply reply,
                              ValuesReply::Decode(frame->body.view()));
      return std::move(reply.values);
    }
    if (frame->type != FrameType(ControlType::kError)) continue;
    const absl::Status status = DecodeError(frame->body.view());
    if (!absl::IsNotFound(status)) return status;
    is_watching_ = false;  // it has not begun the job, or has ended it
    DOGGED_RETURN_IF_ERROR(Serve(deadline - clock_.Now()));
    return Bound();
  }
}

absl::StatusOr<ClusterClient::Bound> ClusterClient::TakeHeldOf(
    ControlCaller& client, JobId job, const std::vector<Label>& labels) {
  Bound out;
  WantRequest request{.job = job, .labels = labels};
  DOGGED_ASSIGN_OR_RETURN(const ControlFrame held,
                          client.Call(FrameType(ControlType::kHeldWanted),
                                      request.Encode().view(), kCallTimeout));
  if (held.type != FrameType(ControlType::kHeld)) return out;
  DOGGED_ASSIGN_OR_RETURN(request, WantRequest::Decode(held.body.view()));
  if (request.labels.empty()) return out;
  DOGGED_RETURN_IF_ERROR(client.Send(FrameType(ControlType::kWant),
                                     request.Encode().view(), kCallTimeout));
  while (out.size() < request.labels.size()) {
    const auto frame = client.Receive(kCallTimeout);
    // Dropped meanwhile: the rest does not come.
    if (!frame.ok() || frame->type != FrameType(ControlType::kValues)) break;
    DOGGED_ASSIGN_OR_RETURN(ValuesReply reply,
                            ValuesReply::Decode(frame->body.view()));
    std::move(reply.values.begin(), reply.values.end(),
              std::back_inserter(out));
  }
  return out;
}

absl::StatusOr<ClusterClient::Bound> ClusterClient::TakeHeld(
    JobId job, std::vector<Label> labels) {
  Bound out;
  for (const std::string& address : addresses_.SilentLast()) {
    if (labels.empty()) break;
    auto client = options_.connect(address, kConnectTimeout);
    if (!client.ok()) continue;
    auto held = TakeHeldOf(**client, job, labels);
    if (!held.ok()) continue;
    for (auto& [label, value] : *held) {
      std::erase(labels, label);
      out.emplace_back(label, std::move(value));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

absl::Status ClusterClient::Serve(absl::Duration time) {
  const absl::Time deadline = clock_.Now() + time;
  while (true) {
    const absl::Duration left = deadline - clock_.Now();
    if (left <= absl::ZeroDuration()) return absl::OkStatus();
    const auto frame = contact_->Receive(left);
    const absl::Status status = frame.ok() ? TakeFrame(*frame) : frame.status();
    if (absl::IsDeadlineExceeded(status)) return absl::OkStatus();
    if (!status.ok()) DOGGED_RETURN_IF_ERROR(FailOver(status));
  }
}

absl::Status ClusterClient::AskForMore() {
  if (results_.HasUnread()) {
    const WantRequest request{.job = record_.job(),
                              .labels = results_.TakeUnread()};
    DOGGED_RETURN_IF_ERROR(contact_->Send(
        FrameType(ControlType::kWant), request.Encode().view(), kCallTimeout));
  }
  const WantRequest request{
      .job = record_.job(), .may_borrow = true, .labels = results_.TakeToAsk()};
  if (request.labels.empty()) return absl::OkStatus();
  return contact_->Send(FrameType(ControlType::kWant), request.Encode().view(),
                        kCallTimeout);
}

absl::Status ClusterClient::TakeFrame(const ControlFrame& frame) {
  if (frame.type == FrameType(ControlType::kError)) {
    return DecodeError(frame.body.view());
  }
  if (frame.type == FrameType(ControlType::kChunksWanted)) {
    return GiveChunks(frame.body.view());
  }
  if (frame.type != FrameType(ControlType::kValues)) return absl::OkStatus();
  results_came_ = clock_.Now();
  const auto reply = ValuesReply::Decode(frame.body.view());
  if (reply.status().code() == absl::StatusCode::kResourceExhausted) {
    return results_.NoRoom();
  }
  if (!reply.ok()) return reply.status();
  results_.Take(*reply);
  if (results_.lent_bytes() > options_.lent_bytes_max) {
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
    const JobInput& input = inputs_[id.input];
    if (id.index < 0 || id.index >= std::ssize(input.chunks)) continue;
    const std::string part =
        ChunkPart{.job = wanted.job, .chunk = id}.EncodeWith(input);
    DOGGED_RETURN_IF_ERROR(
        contact_->Send(FrameType(ControlType::kChunk), part, kCallTimeout));
    input_bytes_given_ += input.grid.BytesOf(id.index);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ClusterClient::CopyLent() {
  try {
    results_.CopyAll();
  } catch (const std::bad_alloc&) {
    return results_.NoRoom();
  }
  return HasAll();
}

absl::Status ClusterClient::ReturnBeyond(int64_t bytes) {
  results_.CopyBeyond(bytes);
  const ReturnedNotice notice{.number = results_.returned_loan()};
  return contact_->Send(FrameType(ControlType::kReturned),
                        notice.Encode().view(), kCallTimeout);
}

absl::Status ClusterClient::Collect(absl::Duration patience) {
  try {
    return CollectOrThrow(patience);
  } catch (const std::bad_alloc&) {
    return results_.NoRoom();
  }
}

absl::Status ClusterClient::CollectOrThrow(absl::Duration patience) {
  const absl::Time deadline = clock_.Now() + patience;
  if (is_contact_lost_) {
    DOGGED_RETURN_IF_ERROR(FailOver(absl::UnavailableError(
        absl::StrCat(contact_address_, " does not answer"))));
  }
  if (results_.HasUnread()) {
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
    // An agent that answers, and has nothing yet, is not asked at once again.
    if (frame.ok() && absl::IsUnavailable(status)) {
      is_contact_lost_ = true;
      (void)contact_->Receive(deadline - clock_.Now());
      return absl::OkStatus();
    }
    if (!status.ok()) DOGGED_RETURN_IF_ERROR(FailOver(status));
  }
  return absl::OkStatus();
}

absl::StatusOr<StatusReply> ClusterClient::AskStatus(const std::string& address,
                                                     const Bytes& request,
                                                     absl::Duration patience) {
  auto& client = status_clients_[address];
  if (client == nullptr) {
    DOGGED_ASSIGN_OR_RETURN(client, options_.connect(address, patience));
  }
  const auto frame =
      client->Call(FrameType(ControlType::kStatus), request.view(), patience);
  if (!frame.ok()) {
    client.reset();
    return frame.status();
  }
  return StatusReply::Decode(frame->body.view());
}

void ClusterClient::NoteStatus(const StatusReply& reply) {
  for (const MemberStatus& m : reply.members) {
    if (m.state == "alive") addresses_.Add(m.member.control_address);
  }
  for (const JobSummary& job : reply.jobs) {
    if (!rounds_.has_value() || job.record.hash != record_.hash) continue;
    const bool is_news =
        rounds_->Raise(job.record.round, job.record.is_last_round);
    if (!is_news || !rounds_->HasEnded() || !options_.collects) continue;
    results_.List(*rounds_);
    // What fails here is asked again by Collect(), elsewhere.
    if (contact_ != nullptr) (void)AskForMore();
  }
}

absl::Duration ClusterClient::ShareOf(absl::Duration patience, int64_t agents) {
  return std::max(kStatusPatience, patience / std::max<int64_t>(agents, 1));
}

std::vector<StatusReply> ClusterClient::PollWithin(
    absl::Duration with_each, const StatusRequest& request) {
  std::vector<StatusReply> out;
  waited_ = absl::ZeroDuration();
  const Bytes body = request.Encode();
  const auto ask = [&](size_t i) {
    const std::string address = addresses_.all()[i];
    const absl::Duration patience =
        addresses_.AreAllNamed() && out.empty() ? with_each : kStatusPatience;
    const absl::Time asked = clock_.Now();
    const auto reply = AskStatus(address, body, patience);
    // Not more than it was given, though this process was stopped meanwhile.
    const absl::Duration took = absl::IsDeadlineExceeded(reply.status())
                                    ? patience
                                    : std::min(clock_.Now() - asked, patience);
    waited_ += took;
    // One that is stopped takes no connection either, in the end.
    if (!reply.ok() && took >= patience / 2) addresses_.NoteSilence(address);
    if (IsRefusal(reply.status())) {
      refusals_[address] = std::string(reply.status().message());
    }
    if (!reply.ok()) return;
    addresses_.NoteAnswer(address);
    refusals_.erase(address);
    NoteStatus(*reply);
    out.push_back(*reply);
  };
  std::vector<size_t> silent;
  // There may be more of them after each answer.
  for (size_t i = 0; i < addresses_.all().size(); ++i) {
    if (addresses_.IsSilent(addresses_.all()[i])) {
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
  const std::vector<std::string>& all = addresses_.all();
  absl::Duration with_each = ShareOf(options_.patience, std::ssize(all));
  absl::Duration waited;
  refusals_.clear();
  do {
    std::vector<StatusReply> replies = PollWithin(with_each, request);
    if (!replies.empty()) return replies;
    waited += waited_;
    // All that is left at once: on a busy computer an agent needs some seconds
    // for each answer, and an agent that is asked anew begins anew. An address
    // where nobody listens takes none of it.
    const int64_t silent = std::count_if(
        all.begin(), all.end(),
        [this](const std::string& at) { return addresses_.IsSilent(at); });
    with_each = ShareOf(kNamedPatience - waited, silent);
    // Who is no agent is not asked twice.
  } while (addresses_.IsSilent(contact_address_) && waited < kNamedPatience);
  if (!refusals_.empty()) {
    return absl::UnavailableError(refusals_.begin()->second);
  }
  return absl::UnavailableError(absl::StrCat(
      absl::StrJoin(addresses_.all(), ", "),
      " takes the connection and does not answer; is it an agent, and is it "
      "stopped?"));
}

bool ClusterClient::IsContactLost(const std::vector<StatusReply>& replies) {
  const absl::Time now = clock_.Now();
  if (replies.empty()) return false;
  if (!addresses_.IsSilent(contact_address_)) {
    contact_answered_ = now;
    // It may be cut off from those that have the results.
    const bool is_stuck = results_.HasMissing() && IsDoneSomewhere(replies) &&
                          now - results_came_ >= kContactPatience;
    if (is_stuck)
      addresses_.NoteSilence(contact_address_);  // others are asked first
    return is_stuck;
  }
  // Others may reach it where this client does not.
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
  const Bytes body = record.Encode();
  const auto tell = [&body](ControlCaller& agent) {
    return agent
        .Call(FrameType(ControlType::kConclude), body.view(), kCallTimeout)
        .status();
  };
  absl::Status said = contact_ == nullptr
                          ? absl::UnavailableError("there is no contact")
                          : tell(*contact_);
  // Without this word all agents keep the results for minutes.
  for (const std::string& address : addresses_.SilentLast()) {
    if (said.ok()) break;
    if (address == contact_address_) continue;
    auto client = options_.connect(address, kConnectTimeout);
    if (client.ok()) said = tell(**client);
  }
  return said;
}

absl::Status ClusterClient::ConcludeDone(const Digest& result_digest,
                                         bool they_stay) {
  JobRecord record = record_;
  record.state = JobState::kDone;
  record.result_digest = result_digest;
  record.is_delivered = !they_stay;
  return Conclude(std::move(record));
}

}  // namespace dogged
