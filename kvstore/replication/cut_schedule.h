// CutSchedule: when an agent copies what it holds to others, and how fast.
// A *cut* is the set of labels in use at one moment; from its copies all that
// this agent made later can be made again, together with what other agents keep
// for readers that are not behind a cut. A cut costs time, and the work since
// the last one is what a loss costs: the interval that minimises both together
// is that of Young (CACM 17(9), 1974) and Daly (FGCS 22(3), 2006, equation 10),
//
//   interval = sqrt(2 * cost of a cut / rate of losses).
//
// The rate of losses is learned: one a day and agent, until experience says
// otherwise. Copies take a tenth of the links while there is work, so no
// interval is shorter than ten times the cost. A bound on what a loss may cost,
// or on memory, makes it shorter than the best one; for the former, which a
// user asks for, copies may take a third of the links. Copies that are loans
// are messages without bytes: a cut costs so little that there is one every
// kLoanInterval, or where that took more than a fiftieth of the time, up to ten
// times as rarely.
//
// A data structure: no messages; time is passed in. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_CUT_SCHEDULE_H_
#define DOGGED_KVSTORE_REPLICATION_CUT_SCHEDULE_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace dogged {

struct CutLimits {
  // Between two losses of one agent, as long as nothing else is known.
  absl::Duration loss_interval = absl::Hours(24);
  // So much of an agent's work may be lost with it, if the links carry copies
  // as often.
  absl::Duration redo_max = absl::InfiniteDuration();
  // So many bytes beyond twice the last cut may be held before there is
  // another.
  int64_t held_bytes_max = 256 << 20;
  // So many labels, or kLabelsPerCopy times those of the last cut, may wait for
  // another.
  int64_t labels_max = 4096;
};

class CutSchedule {
 public:
  // Copies take one part in so many of a link that has work to do; the latter
  // if there is a bound on what a loss may cost.
  static constexpr int64_t kShare = 10;
  static constexpr int64_t kShareOfBound = 3;
  // Bytes a second of a link of unknown rate: 1 Gbit/s.
  static constexpr double kUnknownRate = 125e6;
  // The messages of one copy take an agent so long: half of it to send one,
  // half to take one of another agent in return.
  static constexpr absl::Duration kCopyTime = absl::Microseconds(8);
  // Where copies are loans no more of an agent's work is lost with it, if they
  // take one part in kLoanShare of its time; never more than kLoanIntervalMax,
  // if they take one in kShare.
  static constexpr absl::Duration kLoanInterval = absl::Milliseconds(50);
  static constexpr absl::Duration kLoanIntervalMax = absl::Milliseconds(500);
  static constexpr int64_t kLoanShare = 50;
  // A wide graph has many labels in use at one moment: their number alone is no
  // reason to copy more than one in so many.
  static constexpr int64_t kLabelsPerCopy = 8;

  explicit CutSchedule(const CutLimits& limits)
      : limits_(limits),
        share_(limits.redo_max < absl::InfiniteDuration() ? kShareOfBound
                                                          : kShare) {}

  // From now on `agents` agents run the job; `lost` of those before have died.
  // If they are other ones the next cut comes early, for labels have fewer
  // copies, or homes that hold no cut of them.
  void NoteMembers(absl::Time now, int64_t agents, int64_t lost);
  // Copies are bytes, of which the links take so many a second; 0: unknown.
  void SetRate(double bytes_per_second);
  // All copies are loans.
  void SetLoans();
  bool are_loans() const { return are_loans_; }

  // A pass of the loop. An idle agent copies as fast as the links can, and
  // whatever their rate is said to be where they are idle, too.
  void BeginPass(absl::Time now, bool is_busy);
  // Bytes of copies may be sent now.
  bool HasRoom(absl::FunctionRef<bool()> are_links_idle) const {
    return allowance_ > 0 || (!is_busy_ && are_links_idle());
  }
  void NoteSent(int64_t bytes) { allowance_ -= static_cast<double>(bytes); }
  // When HasRoom() may be true again.
  absl::Time NextRoom() const;

  // A cut is to begin, where so many labels wait, the cut would have so many
  // bytes, and this agent holds so many: also what was used up since the last
  // one.
  bool IsDue(int64_t labels, int64_t cut_bytes, int64_t held_bytes) const;
  // It has begun, with so many of them.
  void NoteCut(int64_t labels, int64_t bytes);
  // All copies of the last cut were sent, and other labels wait or not.
  void NoteWhole(bool do_others_wait) {
    whole_to_ = do_others_wait ? last_cut_ : now_;
  }
  // So much of this agent's work is in no whole cut: a loss now would cost it.
  absl::Duration AtRisk() const {
    return std::max(absl::ZeroDuration(), now_ - whole_to_);
  }
  // Between the begins of cuts of that cost, without a bound on memory.
  absl::Duration IntervalFor(absl::Duration cost) const;

 private:
  absl::Duration CostOf(int64_t labels, int64_t bytes) const;
  double BytesPerSecond() const;  // for copies

  const CutLimits limits_;
  const int64_t share_;
  absl::Time now_ = absl::InfinitePast();
  bool is_busy_ = true;
  double rate_ = kUnknownRate;
  bool are_loans_ = false;
  double allowance_ = 0;  // bytes that may be sent; negative: sent in advance
  absl::Time last_cut_ = absl::InfiniteFuture();  // or the begin of the job
  // The begin of the last whole cut, or of the job.
  absl::Time whole_to_ = absl::InfiniteFuture();
  int64_t cut_labels_ = 0;
  int64_t cut_bytes_ = 0;
  bool is_early_ = false;  // the next cut
  // --- losses
  int64_t agents_ = 0;
  absl::Time counted_to_ = absl::InfiniteFuture();
  absl::Duration agent_time_;  // until counted_to_
  int64_t losses_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_CUT_SCHEDULE_H_
