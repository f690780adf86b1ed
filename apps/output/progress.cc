#include "apps/output/progress.h"

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// Back to the first column, and nothing right of the text that follows.
constexpr absl::string_view kRewrite = "\r\x1b[K";
// More moments than this in the window are thinned out.
constexpr size_t kSamplesMax = 64;
// A pace from less than this is noise.
constexpr absl::Duration kPaceAfter = absl::Milliseconds(200);

}  // namespace

Pace ProgressMeter::PaceNow() const {
  Pace pace;
  if (samples_.size() < 2) return pace;
  const absl::Duration span = samples_.back().at - samples_.front().at;
  const int64_t done = samples_.back().done - samples_.front().done;
  if (span < kPaceAfter || done <= 0) return pace;
  pace.tasks_per_second =
      static_cast<double>(done) / absl::ToDoubleSeconds(span);
  pace.left = absl::Seconds(static_cast<double>(last_.needed - last_.done) /
                            pace.tasks_per_second);
  return pace;
}

std::string ProgressMeter::Draw() const {
  // The last column stays free: some terminals wrap when it is written.
  const int columns = options_.is_terminal ? options_.columns - 1 : 1000;
  const std::string front =
      waited_for_.empty() ? "" : absl::StrCat(waited_for_, "   ");
  return absl::StrCat(
      front,
      ProgressLine(last_, PaceNow(), columns - static_cast<int>(front.size())));
}

std::string ProgressMeter::Update(absl::Time now, const Progress& progress) {
  last_ = progress;
  const absl::Duration step =
      options_.pace_window / static_cast<int64_t>(kSamplesMax);
  // The newest sample is always now; it stays if it is a step from the one
  // before.
  if (samples_.size() >= 2 &&
      samples_.back().at - samples_[samples_.size() - 2].at < step) {
    samples_.pop_back();
  }
  samples_.push_back({.at = now, .done = progress.done});
  while (samples_.size() > 2 &&
         now - samples_.front().at > options_.pace_window) {
    samples_.pop_front();
  }
  const absl::Duration interval = options_.is_terminal
                                      ? options_.terminal_interval
                                      : options_.plain_interval;
  if (!written_at_.has_value() && !options_.is_terminal) {
    // A short run needs no plain lines at all.
    written_at_ = now;
    return "";
  }
  if (written_at_.has_value() && now - *written_at_ < interval) return "";
  written_at_ = now;
  if (options_.is_terminal) {
    is_line_open_ = true;
    return absl::StrCat(kRewrite, Draw());
  }
  std::string line = absl::StrCat(Draw(), "\n");
  if (line == plain_line_) return "";
  plain_line_ = line;
  return line;
}

std::string ProgressMeter::Wait(absl::string_view what) {
  waited_for_ = std::string(what);
  if (!options_.is_terminal) return absl::StrCat(what, "\n");
  is_line_open_ = true;
  return absl::StrCat(kRewrite, what);
}

std::string ProgressMeter::Note(absl::string_view sentence) {
  if (!is_line_open_) return absl::StrCat("  ", sentence, "\n");
  return absl::StrCat(kRewrite, "  ", sentence, "\n", Draw());
}

std::string ProgressMeter::Finish() {
  if (!is_line_open_) return "";
  is_line_open_ = false;
  if (!waited_for_.empty()) return std::string(kRewrite);
  return absl::StrCat(kRewrite, Draw(), "\n");
}

}  // namespace dogged
