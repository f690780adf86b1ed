#include "dsl/text/format.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dsl/text/lexer.h"
#include "dsl/text/parser.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

// A line of the file: tokens, and the comment behind "#".
struct Line {
  std::vector<Token> tokens;
  std::string comment;  // with its "#"; empty if there is none
  bool has_blank_before = false;
  size_t indent = 0;
  std::string text;                 // the tokens, blanks between them
  size_t mark = std::string::npos;  // where in `text` the column to align is
};

bool IsOneOf(const Token& token, std::initializer_list<absl::string_view> all) {
  return std::any_of(all.begin(), all.end(),
                     [&token](absl::string_view t) { return token.Is(t); });
}

bool IsArithmetic(const Token& token) {
  return IsOneOf(token, {"+", "-", "*", "/", "%"});
}

// True if an operator that stands behind `token` has it as its left operand.
bool EndsOperand(const Token& token) {
  return token.kind == Token::Kind::kName ||
         token.kind == Token::Kind::kInteger ||
         token.kind == Token::Kind::kReal ||
         token.kind == Token::Kind::kString || IsOneOf(token, {")", "]"});
}

// --- Text to lines ---------------------------------------------------------

class LineReader {
 public:
  LineReader(absl::string_view text, const std::vector<Token>& tokens)
      : text_(text) {
    size_t end = 0;
    for (const Token& token : tokens) {
      const auto begin = token.kind == Token::Kind::kEnd
                             ? text_.size()
                             : static_cast<size_t>(token.range.begin);
      Gap(text_.substr(end, begin - end));
      if (token.kind == Token::Kind::kEnd) break;
      line_.tokens.push_back(token);
      end = static_cast<size_t>(token.range.end);
    }
    Finish();
  }
  std::vector<Line> Take() { return std::move(lines_); }

 private:
  // Takes in the text between two tokens: blanks, line ends, comments.
  void Gap(absl::string_view gap) {
    while (true) {
      const size_t end = gap.find('\n');
      absl::string_view rest = gap.substr(0, end);
      const size_t comment = rest.find('#');
      if (comment != absl::string_view::npos) {
        rest.remove_prefix(comment);
        line_.comment = std::string(absl::StripTrailingAsciiWhitespace(rest));
      }
      if (end == absl::string_view::npos) return;
      Finish();
      gap.remove_prefix(end + 1);
    }
  }
  void Finish() {
    if (line_.tokens.empty() && line_.comment.empty()) {
      line_.has_blank_before = !lines_.empty();
      return;
    }
    lines_.push_back(std::exchange(line_, {}));
  }

  absl::string_view text_;
  std::vector<Line> lines_;
  Line line_;
};

// --- Indentation -----------------------------------------------------------

class Indenter {
 public:
  size_t Of(const Line& line) {
    const size_t out = First(line.tokens.front());
    for (size_t i = 0; i < line.tokens.size(); ++i) {
      Pass(line.tokens[i], i > 0 ? &line.tokens[i - 1] : nullptr);
    }
    last_ = line.tokens.back();
    return out;
  }

 private:
  enum class Part : uint8_t { kHead, kCode };

  size_t First(const Token& token) const {
    if (!in_task_) return IsDeclaration(token) ? 0 : depth_ > 0 ? 4 : 2;
    if (token.Is("end")) return part_ == Part::kCode ? 2 : 0;
    if (part_ == Part::kCode) return IsContinuation() ? 6 : 4;
    if (depth_ > 0) return 6;
    if (IsOneOf(token, {"where", "else"}) && in_using_) return 6;
    return IsOneOf(token, {"creates", "for", "where", "using", "code", "call",
                           "cost", "priority"})
               ? 2
               : 4;
  }
  // In code: a bracket is open, or the line before ends with an operator.
  bool IsContinuation() const {
    return depth_ > 0 || (!EndsOperand(last_) && !last_.Is("code"));
  }
  static bool IsDeclaration(const Token& token) {
    return IsOneOf(token, {"param", "array", "input", "kernel", "boundary",
                           "task", "reduce", "result", "include", "repeat"});
  }
  void Pass(const Token& token, const Token* before) {
    if (IsOneOf(token, {"(", "["})) ++depth_;
    if (IsOneOf(token, {")", "]"})) --depth_;
    const bool is_end = before != nullptr ? before->Is("end") : last_.Is("end");
    if (token.Is("task")) {
      in_task_ = !is_end;
      part_ = Part::kHead;
    }
    if (token.Is("code")) part_ = is_end ? Part::kHead : Part::kCode;
    if (IsOneOf(token, {"creates", "for", "code", "call", "cost", "priority",
                        "task"})) {
      in_using_ = false;
    }
    if (token.Is("using")) in_using_ = true;
  }

  bool in_task_ = false;
  bool in_using_ = false;
  Part part_ = Part::kHead;
  int depth_ = 0;
  Token last_;
};

// --- Blanks ----------------------------------------------------------------

class Spacer {
 public:
  Spacer(absl::string_view text, const std::vector<Token>& tokens)
      : text_(text) {
    int open = 0;
    for (const Token& token : tokens) {
      if (token.Is("?")) ++open;
      if (!token.Is(":") || open == 0) continue;
      --open;
      colons_.insert(token.range.begin);
    }
  }

  // The text of a line, and where its mark is.
  void Write(Line& line) {
    for (size_t i = 0; i < line.tokens.size(); ++i) {
      const Token& token = line.tokens[i];
      const bool is_marked = IsMark(line, i);
      if (i > 0 && HasBlank(line.tokens, i)) line.text += ' ';
      // The next of a list without commas.
      if (i > 0 && EndsOperand(line.tokens[i - 1]) &&
          token.kind == Token::Kind::kName) {
        line.text += ' ';
      }
      if (is_marked && line.mark == std::string::npos) {
        line.mark = line.text.size();
      }
      const int64_t begin = token.range.begin;
      const int64_t end = token.range.end;
      absl::StrAppend(&line.text, text_.substr(begin, end - begin));
      last_ = token;
    }
  }

 private:
  // The column that lines which follow one another share: "as", and the "="
  // of boundaries and parameters.
  static bool IsMark(const Line& line, size_t i) {
    if (line.tokens.front().kind == Token::Kind::kName) {
      return line.tokens[i].Is("as");
    }
    return IsOneOf(line.tokens.front(), {"boundary", "param"}) &&
           line.tokens[i].Is("=");
  }
  bool SourceHasBlank(const Token& left, const Token& right) const {
    const auto end = static_cast<size_t>(left.range.end);
    return static_cast<size_t>(right.range.begin) > end;
  }
  // A sign in front of its only operand: of tokens[i].
  bool IsUnary(const std::vector<Token>& tokens, size_t i) const {
    if (!tokens[i].Is("-")) return false;
    return i == 0 ? !EndsOperand(last_) : !EndsOperand(tokens[i - 1]);
  }
  // Arithmetic operators keep the blanks that group them, on both sides or on
  // none.
  bool IsWide(const std::vector<Token>& tokens, size_t i) const {
    const bool left = i > 0 && SourceHasBlank(tokens[i - 1], tokens[i]);
    const bool right =
        i + 1 < tokens.size() && SourceHasBlank(tokens[i], tokens[i + 1]);
    return left || right;
  }
  // Between tokens[i-1] and tokens[i].
  bool HasBlank(const std::vector<Token>& tokens, size_t i) const {
    const Token& left = tokens[i - 1];
    const Token& right = tokens[i];
    if (IsOneOf(left, {"(", "["}) || IsOneOf(right, {")", "]", ","})) {
      return false;
    }
    if (IsArithmetic(left) && IsUnary(tokens, i - 1)) return false;
    if (IsArithmetic(left)) return IsWide(tokens, i - 1);
    if (IsArithmetic(right) && !IsUnary(tokens, i)) return IsWide(tokens, i);
    if (right.Is(":")) return IsWideColon(tokens, i);
    if (left.Is(":")) return IsWideColon(tokens, i - 1);
    if (right.Is("(")) {
      // The bracket belongs to a name, a type, or the next index; never to
      // another word or an operator.
      return !(left.kind == Token::Kind::kName || left.Is(")") ||
               IsOneOf(left, {"double", "float", "int64"}));
    }
    return true;
  }
  // "? :" and a type have blanks, a range and a slice none.
  bool IsWideColon(const std::vector<Token>& tokens, size_t colon) const {
    if (colons_.count(tokens[colon].range.begin) > 0) return true;
    return colon + 1 < tokens.size() &&
           IsOneOf(tokens[colon + 1], {"double", "float", "int64"}) &&
           (colon + 2 >= tokens.size() || !tokens[colon + 2].Is("("));
  }

  absl::string_view text_;
  std::set<int32_t> colons_;  // where those of "? :" stand
  Token last_;
};

// Lines that follow one another and have a mark get it in one column.
void Align(std::vector<Line>& lines) {
  for (size_t first = 0; first < lines.size();) {
    size_t limit = first;
    size_t column = 0;
    while (limit < lines.size() && lines[limit].mark != std::string::npos &&
           lines[limit].indent == lines[first].indent &&
           (limit == first || !lines[limit].has_blank_before)) {
      column = std::max(column, lines[limit++].mark);
    }
    for (size_t i = first; i < limit; ++i) {
      lines[i].text.insert(lines[i].mark, column - lines[i].mark, ' ');
    }
    first = std::max(limit, first + 1);
  }
}

}  // namespace

absl::StatusOr<std::string> Format(Diagnostics& diagnostics) {
  Parse(diagnostics);
  if (diagnostics.HasErrors()) {
    return absl::InvalidArgumentError("a program with errors has no form");
  }
  const std::string& text = diagnostics.text();
  const std::vector<Token> tokens = Lex(diagnostics);
  std::vector<Line> lines = LineReader(text, tokens).Take();
  Indenter indenter;
  Spacer spacer(text, tokens);
  for (Line& line : lines) {
    if (line.tokens.empty()) continue;
    line.indent = indenter.Of(line);
    spacer.Write(line);
  }
  // A comment by itself stands as the line behind it does.
  for (size_t i = lines.size(); i-- > 0;) {
    if (!lines[i].tokens.empty()) continue;
    lines[i].indent = i + 1 < lines.size() ? lines[i + 1].indent : 0;
  }
  Align(lines);
  std::string out;
  for (const Line& line : lines) {
    if (line.has_blank_before) out += '\n';
    out.append(line.indent, ' ');
    absl::StrAppend(&out, line.text,
                    line.text.empty() || line.comment.empty() ? "" : "  ",
                    line.comment, "\n");
  }
  // The output must have the tokens of the input.
  Diagnostics again(diagnostics.file(), out);
  const std::vector<Token> now = Lex(again);
  DOGGED_CHECK(now.size() == tokens.size()) << "formatting lost a token";
  for (size_t i = 0; i < now.size(); ++i) {
    // Whether the first one starts a line, or the end does, says nothing.
    const bool is_placed = i == 0 || now[i].kind == Token::Kind::kEnd ||
                           now[i].starts_line == tokens[i].starts_line;
    DOGGED_CHECK(now[i].kind == tokens[i].kind &&
                 now[i].text == tokens[i].text && is_placed)
        << "formatting changed a token";
  }
  return out;
}

}  // namespace dogged::dsl
