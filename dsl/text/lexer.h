// The lexer: text to tokens. Newlines are not tokens; each token knows whether
// one stands before it, which ends a statement inside `code`.
#ifndef DOGGED_DSL_TEXT_LEXER_H_
#define DOGGED_DSL_TEXT_LEXER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

struct Token {
  enum class Kind : uint8_t {
    kEnd,      // behind the last
    kName,     // identifier
    kWord,     // reserved word of the grammar
    kInteger,  // integer
    kReal,     // real
    kString,   // text without the quotes
    kSign,     // operator or bracket
  };
  Kind kind = Kind::kEnd;
  SourceRange range;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  bool starts_line = false;

  bool Is(absl::string_view word_or_sign) const {
    return (kind == Kind::kWord || kind == Kind::kSign) && text == word_or_sign;
  }
};

// All tokens of diagnostics.text(), ended by one kEnd. Characters that start
// nothing are reported and left out.
std::vector<Token> Lex(Diagnostics& diagnostics);

// True if the grammar keeps `text` for itself.
bool IsReserved(absl::string_view text);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_LEXER_H_
