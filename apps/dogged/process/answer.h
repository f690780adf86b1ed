// The answer of a command with --json: one object on standard output, printed
// as the process ends, whether the command did what it should or not; and the
// events of --json-events, a line each as they come. docs/JSON.md has the keys.
//
// A process has one answer. Used by its main thread.
#ifndef DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_
#define DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "apps/dogged/process/exit_code.h"
#include "dsl/text/diagnostics.h"

namespace dogged {

// Grows when a key goes or changes its meaning; new keys don't count.
inline constexpr int kAnswerSchema = 1;

// "mistyped", "wrong" and so on: the word for an exit status.
absl::string_view KindOf(ExitCode code);

// --json is among the arguments of `command`, or --json-events.
void WantAnswer(const std::string& command, bool wants_events);
bool WantsAnswer();
bool WantsEvents();

// The object of a command that came to its end. The last call counts.
void SetAnswer(nlohmann::ordered_json object);
// Prints a line now; nothing without --json-events.
void PrintEvent(absl::string_view event, nlohmann::ordered_json fields);

// The value of `error`: the first error among `diagnostics`, else `message`.
nlohmann::ordered_json ErrorJson(ExitCode code, absl::string_view message,
                                 const nlohmann::ordered_json& diagnostics);

// Parts of the answer where the command fails. The first error counts.
void NoteErrorWords(absl::string_view message);
void NoteDiagnostics(const dsl::Diagnostics& diagnostics);
void NoteWritten(nlohmann::ordered_json output);

// Prints the answer, if one is wanted.
void PrintAnswer(ExitCode code);
// Likewise as the process ends at once; fit for handlers of signals, and
// without memory.
void PrintAnswerAtOnce(ExitCode code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_
