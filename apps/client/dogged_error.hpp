// Error: what every call of dogged.hpp throws, with the parts of dogged_error.
#ifndef DOGGED_APPS_CLIENT_DOGGED_ERROR_HPP_
#define DOGGED_APPS_CLIENT_DOGGED_ERROR_HPP_

#include <stdexcept>
#include <string>

#include "dogged.h"

namespace dogged {

// A place in the user's source; as std::source_location, which clang 14 lacks.
struct Place {
  static constexpr Place current(const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file = "";
  int line = 0;
};

// what() is the message; of a wrong program the line with carets and help,
// below the place of the Builder's statement.
class Error : public std::runtime_error {
 public:
  // The last failure of this thread.
  Error() : Error(*dogged_last_error(), nullptr) {}
  // The same, of a program whose statement stands at `place`.
  explicit Error(const Place& place) : Error(*dogged_last_error(), &place) {}
  // A mistake that the library was not asked about.
  Error(int failure, const std::string& words)
      : std::runtime_error(words), status(failure), message(words) {}
  Error(int failure, const std::string& words, const Place& place)
      : std::runtime_error(At(place) + words),
        status(failure),
        message(words),
        source_file(place.file),
        source_line(place.line) {}

  int status;
  std::string message;
  std::string text;  // with line, carets and help
  std::string code;  // as "D012"; texts that don't apply are ""
  std::string file;  // place in the program's text
  int line = 0;
  int column = 0;
  int end_column = 0;
  std::string note;
  std::string help;
  std::string task;
  std::string label;
  std::string agent;
  std::string source_file;  // place in C++, of a Builder's statement
  int source_line = 0;

 private:
  Error(const dogged_error& from, const Place* place)
      : std::runtime_error((place != nullptr ? At(*place) : std::string()) +
                           (from.text != nullptr ? from.text : from.message)),
        status(from.status),
        message(from.message),
        text(Text(from.text)),
        code(Text(from.code)),
        file(Text(from.file)),
        line(from.line),
        column(from.column),
        end_column(from.end_column),
        note(Text(from.note)),
        help(Text(from.help)),
        task(Text(from.task)),
        label(Text(from.label)),
        agent(Text(from.agent)) {
    if (place == nullptr) return;
    source_file = place->file;
    source_line = place->line;
  }

  static std::string Text(const char* text) {
    return text == nullptr ? "" : text;
  }
  static std::string At(const Place& place) {
    return std::string(place.file) + ":" + std::to_string(place.line) + ":\n";
  }
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_DOGGED_ERROR_HPP_
