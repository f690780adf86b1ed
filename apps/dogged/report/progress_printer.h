// ProgressPrinter: a ProgressMeter that writes to standard error, and events of
// --json-events.
#ifndef DOGGED_APPS_DOGGED_REPORT_PROGRESS_PRINTER_H_
#define DOGGED_APPS_DOGGED_REPORT_PROGRESS_PRINTER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "apps/output/progress.h"
#include "apps/output/run_text.h"

namespace dogged {

class ProgressPrinter {
 public:
  ProgressPrinter();
  // Ends the line that rewrites itself.
  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  void Update(absl::Time now, const Progress& progress);
  // See ProgressMeter::Wait.
  void Wait(absl::string_view what);
  // A sentence on a line of its own.
  void PrintLine(absl::string_view sentence);

 private:
  static void Write(const std::string& text);
  ProgressMeter meter_;
  bool tells_events_ = true;
  int64_t told_ = -1;  // tasks done, in the last event
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_PROGRESS_PRINTER_H_
