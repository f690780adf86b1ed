#include "apps/dogged/report/progress_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

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
}

void ProgressPrinter::Wait(absl::string_view what) { Write(meter_.Wait(what)); }

void ProgressPrinter::PrintLine(absl::string_view sentence) {
  Write(meter_.Note(sentence));
}

void ProgressPrinter::Write(const std::string& text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace dogged
