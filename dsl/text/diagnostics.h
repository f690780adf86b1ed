// Diagnostics: messages of the language about a program, such as
//
//   heat1d.dog:9:5: error[D012]: no task creates phi(5000)(t), ...
//    9 |     phi(x+1)(t-1) as r
//      |     ^^^^^^^^ x runs to 4999, so x+1 reaches 5000
//      = help: add  boundary phi(5000)(t) = 0
//
// Collects several per run; never throws, never prints. Not thread-safe.
#ifndef DOGGED_DSL_TEXT_DIAGNOSTICS_H_
#define DOGGED_DSL_TEXT_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/text/given_by.h"

namespace dogged::dsl {

// Bytes [begin, end) of the program text. Empty at 0 where there is none.
struct SourceRange {
  int32_t begin = 0;
  int32_t end = 0;

  bool IsNone() const { return end == 0; }
};

// From the start of the one to the end of the other.
inline SourceRange Join(SourceRange first, SourceRange last) {
  return {first.begin, last.end};
}

// The number printed behind the D; stable, so that people can search for it.
enum class Code : int32_t {
  kNotText = 1,         // not UTF-8, a NUL byte, too long
  kBadToken = 2,        // a character or number that starts nothing
  kSyntax = 3,          // this can't stand here
  kTooDeep = 4,         // nesting beyond the bound
  kNotSupported = 5,    // clear, and not there (yet)
  kUnknownName = 6,     // no such parameter, index, array or value
  kDefinedTwice = 7,    // a name or value with two definitions
  kParameter = 8,       // a parameter missing, or of the wrong type
  kType = 9,            // operands that don't fit
  kNotAffine = 10,      // an index or bound that is not affine
  kTwoProducers = 11,   // a label that two tasks create
  kNoProducer = 12,     // a label that is read and never created
  kCycle = 13,          // tasks that wait for each other
  kOutOfRange = 14,     // an index outside the declared range
  kResult = 15,         // no result, or an empty one
  kIndexCount = 16,     // a reference with too few or too many indices
  kKernel = 17,         // an unknown kernel, or the wrong arguments
  kNeverAssigned = 18,  // a created value that the code does not set
  kNeverNeeded = 19,    // computed, but no result needs it (warning)
  kUnused = 20,         // named and not used (warning)
  kBoundary = 21,       // a boundary that has no domain, or a bad one
  kNoInput = 22,        // an input without a file and without `else`
  kNotProved = 23,      // true or not: beyond the analysis (warning)
  kTooLarge = 24,       // beyond a limit of the system
  kArithmetic = 25,     // division by zero or overflow in a constant
  kInclude = 26,        // a file that can't be included
  kRepeat = 27,         // a loop's parameter or condition that can't be
  kPoints = 28,         // a program that runs point by point
  kUnmet = 29,          // a condition or label beyond all others (warning)
};

enum class Severity : uint8_t { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  Code code = Code::kSyntax;
  SourceRange range;
  std::string message;
  std::string note;  // behind the carets; may be empty
  std::string help;  // behind "= help: "; may be empty

  Diagnostic& Note(std::string text) {
    note = std::move(text);
    return *this;
  }
  Diagnostic& Help(std::string text) {
    help = std::move(text);
    return *this;
  }
};

// Lines of a text that came from a file: from `first_line` of the text on,
// which is line `line_there` of the file. 0: from a command line, where lines
// have no numbers.
struct SourcePart {
  int first_line = 1;
  std::string file;
  int line_there = 1;
};

class Diagnostics {
 public:
  // `file` is how messages call the text.
  Diagnostics(std::string file, std::string text);

  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }
  // The part of the text at `range`.
  std::string TextOf(SourceRange range) const {
    return text_.substr(static_cast<size_t>(range.begin),
                        static_cast<size_t>(range.end - range.begin));
  }

  // Files that lines came from; without, all lines are of `file`.
  void SetParts(std::vector<SourcePart> parts) { parts_ = std::move(parts); }
  const std::vector<SourcePart>& parts() const { return parts_; }

  void SetGivenBy(GivenBy by) { given_by_ = by; }
  GivenBy given_by() const { return given_by_; }

  // Adds one; the reference is good until the next call.
  Diagnostic& Error(Code code, SourceRange range, std::string message);
  Diagnostic& Warning(Code code, SourceRange range, std::string message);

  bool HasErrors() const { return error_count_ > 0; }
  int error_count() const { return error_count_; }
  const std::vector<Diagnostic>& all() const { return all_; }

  // All of them in order of the text, one after another, each ended by a
  // newline; at most kShownMax, and how many are left out.
  std::string ToString() const;
  std::string ToString(const Diagnostic& diagnostic) const;

  // "heat.dog:12:8".
  std::string PlaceOf(int32_t offset) const;
  // Line and column in its own file, both from 1; columns count bytes.
  std::pair<int, int> LineAndColumn(int32_t offset) const;

  static constexpr int kShownMax = 20;

 private:
  Diagnostic& Add(Severity severity, Code code, SourceRange range,
                  std::string message);
  // Line in the text, from 1.
  int LineOf(int32_t offset) const;
  // The part that a line of the text belongs to; null without parts.
  const SourcePart* PartOf(int line) const;

  std::string file_;
  std::string text_;
  std::vector<int32_t> line_starts_;
  std::vector<SourcePart> parts_;  // in order
  GivenBy given_by_ = GivenBy::kFlags;
  std::vector<Diagnostic> all_;
  int error_count_ = 0;
};

// "D012".
std::string CodeText(Code code);

// The one of `candidates` that `name` was most likely meant to be; empty if
// none is near (at most a third of its letters wrong).
std::string Nearest(absl::string_view name,
                    const std::vector<std::string>& candidates);

// "; did you mean phi?", or "" if none is near.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_DIAGNOSTICS_H_
