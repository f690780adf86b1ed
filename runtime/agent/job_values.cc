#include "runtime/agent/job_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::Duration kPatienceMin = absl::Milliseconds(300);
constexpr absl::Duration kPatienceMax = absl::Seconds(2);
// Time until another agent is asked when one has no such job.
constexpr absl::Duration kPause = absl::Milliseconds(20);
// Bounds above all that is asked for.
constexpr int64_t kPartBytesMax = 1 << 20;
constexpr int64_t kValueBytesMax = 1LL << 40;

}  // namespace

absl::StatusOr<Bytes> PartOf(const Bytes& value, absl::string_view request) {
  Decoder in(request);
  const int64_t offset = in.GetSigned();
  const int64_t wanted = in.GetSigned();
  DOGGED_RETURN_IF_ERROR(in.Finish("request for a job"));
  if (offset < 0 || offset > value.size() || wanted < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "request for a job from byte ", offset, " of ", value.size(), " on"));
  }
  const int64_t size = std::min({wanted, kPartBytesMax, value.size() - offset});
  Encoder out;
  out.PutSigned(value.size());
  out.PutSigned(offset);
  out.PutRaw(value.Slice(offset, size).view());
  return Bytes(out.Take());
}

void ValuePull::Ask(int64_t offset, int64_t bytes, JobId job,
                    Outbox& out) const {
  Encoder encoder;
  encoder.PutSigned(offset);
  encoder.PutSigned(bytes);
  out.Send(source_, static_cast<uint8_t>(AgentMessage::kJobRequest), job,
           Bytes(encoder.Take()));
}

// Agents that have not answered kJobAbsent come first.
void ValuePull::Choose(absl::Time now, absl::Span<const AgentId> others,
                       Rng& rng) {
  std::vector<AgentId> best;
  absl::Time oldest = absl::InfiniteFuture();
  for (const AgentId other : others) {
    const auto known = absent_.find(other);
    const absl::Time said =
        known == absent_.end() ? absl::InfinitePast() : known->second;
    if (other == source_ && others.size() > 1) continue;  // it was silent
    if (said < oldest) best.clear();
    oldest = std::min(oldest, said);
    if (said == oldest) best.push_back(other);
  }
  source_ = best.empty() ? AgentId() : rng.Pick(best);
  asked_ = here();
  patience_ = std::clamp(2 * patience_, kPatienceMin, kPatienceMax);
  next_try_ = now + patience_;
}

void ValuePull::Tick(const Pass& pass, JobId job, const Limits& limits,
                     absl::Span<const AgentId> others, Rng& rng) {
  if (IsWhole()) return;
  heard_ = std::min(heard_, pass.now);
  const bool has_source =
      std::find(others.begin(), others.end(), source_) != others.end();
  if (pass.now >= next_try_ || (!has_source && !source_.IsNone())) {
    Choose(pass.now, others, rng);
  }
  pass.out.WakeAt(next_try_);
  if (source_.IsNone()) return;
  const int64_t part = limits.job_part_bytes;
  // How long it is only the first part says.
  const int64_t window = total_ < 0 ? part : limits.job_parts_at_once * part;
  const int64_t limit = total_ < 0 ? part : std::min(total_, here() + window);
  for (; asked_ < limit; asked_ += part) {
    if (!scattered_.contains(asked_)) Ask(asked_, part, job, pass.out);
  }
}

absl::Status ValuePull::TakePart(absl::Time now, AgentId from,
                                 absl::string_view body) {
  Decoder in(body);
  const int64_t total = in.GetSigned();
  const int64_t offset = in.GetSigned();
  DOGGED_RETURN_IF_ERROR(in.status("part of a job"));
  const absl::string_view bytes = body.substr(body.size() - in.remaining());
  const auto size = std::ssize(bytes);
  if (total < 0 || total > kValueBytesMax || offset < 0 || size > total ||
      offset > total - size || (size == 0 && total > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "part of a job: ", size, " bytes at ", offset, " of ", total));
  }
  if (total_ >= 0 && total != total_) {
    return absl::InvalidArgumentError("a job of two sizes");
  }
  // Late parts of agents asked before are as good; parts of other agents are
  // refused, or they could fill memory.
  if (from != source_ && offset >= asked_) return absl::OkStatus();
  total_ = total;
  absent_.erase(from);
  if (offset >= here()) scattered_[offset] = Bytes::CopyOf(bytes);
  while (!scattered_.empty() && scattered_.begin()->first <= here()) {
    const auto first = scattered_.begin();
    if (first->first == here()) {
      front_.append(first->second.data(), first->second.size());
    }
    scattered_.erase(first);
  }
  asked_ = std::max(asked_, here());
  heard_ = now;
  patience_ = absl::ZeroDuration();
  next_try_ = now + kPatienceMin;
  return absl::OkStatus();
}

void ValuePull::Prefer(absl::Time now, AgentId agent) {
  absent_.erase(agent);
  if (!source_.IsNone()) return;
  source_ = agent;
  asked_ = here();
  next_try_ = now + kPatienceMin;
}

void ValuePull::NoteAbsent(absl::Time now, AgentId from) {
  absent_[from] = now;
  if (from != source_) return;
  next_try_ = std::min(next_try_, now + kPause);
  patience_ = absl::ZeroDuration();
}

std::string ValuePull::Take() {
  std::string out = std::move(front_);
  const AgentId from = source_;
  *this = ValuePull();
  source_ = from;  // if that was another value, another agent is asked
  return out;
}

bool ValuePull::HasNobodySince(absl::Time since,
                               absl::Span<const AgentId> others) const {
  return heard_ <= since &&
         std::all_of(others.begin(), others.end(), [&](AgentId other) {
           const auto said = absent_.find(other);
           return said != absent_.end() && said->second >= since;
         });
}

}  // namespace dogged
