#include "dsl/text/other_languages.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {
namespace {

struct Word {
  absl::string_view word;
  absl::string_view ours;
};

template <size_t n>
absl::string_view Find(const std::array<Word, n>& words,
                       absl::string_view word) {
  const auto it = std::find_if(words.begin(), words.end(),
                               [&](const Word& w) { return w.word == word; });
  return it == words.end() ? absl::string_view() : it->ours;
}

constexpr std::array<Word, 13> kTypes = {{{"int", "int64"},
                                          {"integer", "int64"},
                                          {"long", "int64"},
                                          {"int32", "int64"},
                                          {"int32_t", "int64"},
                                          {"int64_t", "int64"},
                                          {"bool", "int64"},
                                          {"real", "double"},
                                          {"real8", "double"},
                                          {"float64", "double"},
                                          {"real4", "float"},
                                          {"float32", "float"},
                                          {"single", "float"}}};

constexpr absl::string_view kChoice = "a choice is a value:  n = a > 0 ? a : b";
constexpr absl::string_view kLoop =
    "a task is for many points, under its  for;  code is for one of them";
constexpr absl::string_view kNoType =
    "a name gets its type from its value:  s = a + b";

constexpr absl::string_view kNoPrint =
    "what a program is for goes to files:  result u(:)(T) to \"u.npy\"";

constexpr std::array<Word, 20> kStatements = {{{"if", kChoice},
                                               {"elif", kChoice},
                                               {"else", kChoice},
                                               {"elseif", kChoice},
                                               {"endif", kChoice},
                                               {"switch", kChoice},
                                               {"for", kLoop},
                                               {"do", kLoop},
                                               {"while", kLoop},
                                               {"double", kNoType},
                                               {"float", kNoType},
                                               {"int64", kNoType},
                                               {"auto", kNoType},
                                               {"const", kNoType},
                                               {"let", kNoType},
                                               {"var", kNoType},
                                               {"print", kNoPrint},
                                               {"printf", kNoPrint},
                                               {"write", kNoPrint},
                                               {"return",
                                                "set the name behind 'as':  "
                                                "n = a + b"}}};

constexpr std::array<Word, 9> kForeignFunctions = {
    {{"int", "int64(a) cuts off, floor(a) rounds down"},
     {"integer", "int64(a) cuts off, floor(a) rounds down"},
     {"round", "floor(a + 0.5) rounds"},
     {"nint", "floor(a + 0.5) rounds"},
     {"real", "double(a) is real"},
     {"dble", "double(a) is real"},
     {"mod", "a % b is of integers, fmod(a, b) of real numbers"},
     {"if", kChoice},
     {"merge", kChoice}}};

}  // namespace

std::string HelpWithType(absl::string_view word) {
  const absl::string_view ours = Find(kTypes, word);
  return ours.empty() ? "" : absl::StrCat(word, " is  ", ours, "  here");
}

std::string HelpWithStatement(absl::string_view word) {
  const absl::string_view type = Find(kTypes, word);
  return std::string(type.empty() ? Find(kStatements, word) : kNoType);
}

std::string HelpWithFunction(absl::string_view word) {
  return std::string(Find(kForeignFunctions, word));
}

}  // namespace dogged::dsl
