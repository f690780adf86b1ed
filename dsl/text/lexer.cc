#include "dsl/text/lexer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dogged::dsl {
namespace {

// Longer texts are refused: positions are 32 bits, and nobody wrote them.
constexpr size_t kTextBytesMax = 16 << 20;
// Bad characters are reported one by one up to here.
constexpr int kBadTokensMax = 20;

constexpr std::array<absl::string_view, 36> kWords = {
    "and",      "array", "as",      "boundary", "by",     "call",
    "code",     "cost",  "creates", "double",   "else",   "end",
    "fastmath", "float", "for",     "from",     "in",     "include",
    "input",    "int64", "kernel",  "not",      "or",     "out",
    "over",     "param", "place",   "priority", "reduce", "repeat",
    "result",   "task",  "to",      "until",    "using",  "where",
};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The bytes of the UTF-8 sequence at `at`; 0 if it is none.
size_t SequenceBytes(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t count) {
    for (size_t i = 1; i <= count; ++i) {
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    }
    return true;
  };
  const unsigned first = byte(at);
  const unsigned second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
  if (first >= 0xe0 && first <= 0xef && follows(2)) {
    // Overlong forms and surrogates.
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4 && follows(3)) {
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    return 4;
  }
  return 0;
}

class Lexer {
 public:
  explicit Lexer(Diagnostics& diagnostics)
      : diagnostics_(diagnostics), text_(diagnostics.text()) {}

  std::vector<Token> Run() {
    if (CheckText()) {
      while (SkipBlanks()) One();
    }
    Add(Token::Kind::kEnd, text_.size(), "");
    return std::move(tokens_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  SourceRange Range(size_t begin, size_t end) const {
    return {static_cast<int32_t>(begin), static_cast<int32_t>(end)};
  }

  // The whole text is UTF-8 without NUL, or one error says where it is not.
  bool CheckText() {
    if (text_.size() > kTextBytesMax) {
      diagnostics_.Error(Code::kNotText, {},
                         absl::StrFormat("the program has %d bytes; at most "
                                         "%d are read",
                                         text_.size(), kTextBytesMax));
      text_ = {};
      return false;
    }
    for (size_t i = 0; i < text_.size();) {
      const size_t bytes = SequenceBytes(text_, i);
      if (bytes == 0 || text_[i] == '\0') {
        diagnostics_
            .Error(Code::kNotText, Range(i, i + 1),
                   text_[i] == '\0'
                       ? "a NUL byte: this is not a program text"
                       : absl::StrFormat("byte 0x%02x is not UTF-8",
                                         static_cast<unsigned char>(text_[i])))
            .Help("programs are UTF-8 text");
        text_ = text_.substr(0, i);
        return false;
      }
      i += bytes;
    }
    return true;
  }

  // False at the end.
  bool SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        starts_line_ = true;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
      ++at_;
    }
    return false;
  }

  Token& Add(Token::Kind kind, size_t end, std::string text) {
    tokens_.push_back({.kind = kind,
                       .range = Range(at_, end),
                       .text = std::move(text),
                       .integer = 0,
                       .real = 0,
                       .starts_line = starts_line_});
    starts_line_ = false;
    at_ = end;
    return tokens_.back();
  }

  void One() {
    const char c = text_[at_];
    if (IsLetter(c)) {
      size_t end = at_ + 1;
      while (IsLetter(At(end)) || IsDigit(At(end))) ++end;
      std::string word(text_.substr(at_, end - at_));
      const auto kind =
          IsReserved(word) ? Token::Kind::kWord : Token::Kind::kName;
      Add(kind, end, std::move(word));
    } else if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) {
      Number();
    } else if (c == '"') {
      String();
    } else {
      Sign();
    }
  }

  void Number() {
    size_t end = at_;
    bool is_real = false;
    while (IsDigit(At(end))) ++end;
    const auto is_range = [&] { return At(end) == '.' && At(end + 1) == '.'; };
    if (At(end) == '.' && !is_range()) {
      is_real = true;
      ++end;
      while (IsDigit(At(end))) ++end;
    }
    if (At(end) == 'e' || At(end) == 'E') {
      const size_t sign = At(end + 1) == '-' || At(end + 1) == '+' ? 1 : 0;
      if (IsDigit(At(end + 1 + sign))) {
        is_real = true;
        end += 1 + sign;
        while (IsDigit(At(end))) ++end;
      }
    }
    if (IsLetter(At(end)) || (At(end) == '.' && !is_range())) {
      size_t tail = end;
      while (IsLetter(At(tail)) || IsDigit(At(tail)) || At(tail) == '.') ++tail;
      Bad(tail,
          absl::StrCat("this is not a number: ",
                       text_.substr(at_, std::min<size_t>(tail - at_, 40))))
          .Help(
              "a product needs a *, and an exponent an e, as in  1.0e-3;  no "
              "name starts with a digit");
      // The number stands in, so that the parser has nothing more to say.
    }
    const absl::string_view digits = text_.substr(at_, end - at_);
    const SourceRange range = Range(at_, end);
    Token& token = Add(is_real ? Token::Kind::kReal : Token::Kind::kInteger,
                       end, std::string(digits));
    if (!is_range()) {
      while (IsLetter(At(at_)) || IsDigit(At(at_)) || At(at_) == '.') ++at_;
    }
    if (is_real) {
      if (!absl::SimpleAtod(digits, &token.real) ||
          !std::isfinite(token.real)) {
        diagnostics_.Error(Code::kBadToken, range,
                           "the number is beyond the range of double");
        token.real = 0;
      }
    } else if (!absl::SimpleAtoi(digits, &token.integer)) {
      diagnostics_
          .Error(Code::kBadToken, range,
                 "the integer is beyond the range of int64")
          .Help("the largest is 9223372036854775807; with a point it is real");
      token.integer = 0;
    }
  }

  void String() {
    const size_t line_end = std::min(text_.find('\n', at_), text_.size());
    const size_t close = text_.find('"', at_ + 1);
    if (close >= line_end) {
      Bad(line_end, "the string does not end on its line").Help("add a \"");
      Add(Token::Kind::kString, line_end,
          std::string(text_.substr(at_ + 1, line_end - at_ - 1)));
      return;
    }
    Add(Token::Kind::kString, close + 1,
        std::string(text_.substr(at_ + 1, close - at_ - 1)));
  }

  void Sign() {
    static constexpr std::array<absl::string_view, 19> kSigns = {
        "<=", ">=", "==", "!=", "(", ")", "[", "]", ",", ":",
        "=",  "+",  "-",  "*",  "/", "%", "<", ">", "?"};
    for (const absl::string_view sign : kSigns) {
      if (text_.substr(at_, sign.size()) == sign) {
        Add(Token::Kind::kSign, at_ + sign.size(), std::string(sign));
        return;
      }
    }
    if (ForeignSign()) return;
    const size_t bytes = SequenceBytes(text_, at_);
    const std::string shown(text_.substr(at_, bytes));
    Diagnostic& bad = Bad(
        at_ + bytes, static_cast<unsigned char>(shown[0]) < 0x20
                         ? absl::StrFormat("byte 0x%02x starts nothing here",
                                           static_cast<unsigned char>(shown[0]))
                         : absl::StrCat("'", shown, "' starts nothing here"));
    if (shown == "^") bad.Help("write  pow(a, b)  or  a*a");
    if (shown == ".") bad.Help("names have no dots: sqrt(a), a > 0");
    if (shown == ";") bad.Help("a new line ends a statement");
    if (shown == "{" || shown == "}") {
      bad.Help("nothing needs braces; a task ends with  end task");
    }
    at_ += bytes;
  }

  // && and friends of other languages: reported, and read as meant.
  bool ForeignSign() {
    if (starts_line_ && text_[at_] == '!') {
      Bad(at_ + 1, "'!' starts nothing here").Help("a comment begins with #");
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    struct Foreign {
      absl::string_view text;
      absl::string_view meaning;
      absl::string_view help;
    };
    static constexpr std::array<Foreign, 7> kForeign = {{
        {"&&", "and", "write  a and b"},
        {"||", "or", "write  a or b"},
        {"&", "and", "write  a and b"},
        {"|", "or", "write  a or b"},
        {"!", "not", "write  not a"},
        {"...", ":", "write  x = 0:N-1 ; both ends belong to it"},
        {"..", ":", "write  x = 0:N-1 ; both ends belong to it"},
    }};
    for (const Foreign& foreign : kForeign) {
      if (text_.substr(at_, foreign.text.size()) != foreign.text) continue;
      Bad(at_ + foreign.text.size(),
          absl::StrCat("'", foreign.text, "' is '", foreign.meaning, "' here"))
          .Help(std::string(foreign.help));
      Add(IsLetter(foreign.meaning[0]) ? Token::Kind::kWord
                                       : Token::Kind::kSign,
          at_ + foreign.text.size(), std::string(foreign.meaning));
      return true;
    }
    return false;
  }

  Diagnostic& Bad(size_t end, std::string message) {
    if (++bad_count_ > kBadTokensMax) return ignored_;
    return diagnostics_.Error(Code::kBadToken, Range(at_, end),
                              std::move(message));
  }

  Diagnostics& diagnostics_;
  absl::string_view text_;
  size_t at_ = 0;
  bool starts_line_ = true;
  int bad_count_ = 0;
  Diagnostic ignored_;
  std::vector<Token> tokens_;
};

}  // namespace

bool IsReserved(absl::string_view text) {
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

std::vector<Token> Lex(Diagnostics& diagnostics) {
  return Lexer(diagnostics).Run();
}

}  // namespace dogged::dsl
