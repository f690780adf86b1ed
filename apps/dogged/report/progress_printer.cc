#include "apps/dogged/report/progress_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/dogged/process/answer.h"

namespace dogged {
namespace {

ProgressOptions OptionsOfStandardError() {
  ProgressOptions out;
  out.is_terminal = isatty(STDERR_FILENO) == 1;
  winsize size = {};
  if (out.is_terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    out.columns = size.ws_col;
  }
  return out;
}

}  // namespace

ProgressPrinter::ProgressPrinter() : meter_(OptionsOfStandardError()) {}

ProgressPrinter::~ProgressPrinter() { Write(meter_.Finish()); }

void ProgressPrinter::Update(absl::Time now, const Progress& progress) {
  Write(meter_.Update(now, progress));
  if (!tells_events_ || progress.done == told_) return;
  told_ = progress.done;
  nlohmann::ordered_json fields = {{"done", progress.done},
                                   {"needed", progress.needed}};
  if (progress.alive > 0) fields["alive"] = progress.alive;
  if (!progress.place.empty()) fields["place"] = progress.place;
  PrintEvent("progress", std::move(fields));
}

void ProgressPrinter::Wait(absl::string_view what) {
  tells_events_ = false;  // it is another thing that goes on
  Write(meter_.Wait(what));
}

void ProgressPrinter::PrintLine(absl::string_view sentence) {
  Write(meter_.Note(sentence));
}

void ProgressPrinter::Write(const std::string& text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace dogged
