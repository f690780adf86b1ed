// Mentions: all references of a program, before anything is checked: how many
// indices each array has in most of them, and which names count points. Pure.
#ifndef DOGGED_DSL_CHECK_MENTIONS_H_
#define DOGGED_DSL_CHECK_MENTIONS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "dsl/text/ast.h"

namespace dogged::dsl {

struct Mentions {
  struct Array {
    int32_t rank = 0;
    SourceRange range;  // of the first reference of this rank
    std::string text;   // which is "u(x)(t-1)"
  };
  // By name; of two ranks that are mentioned equally often, the larger one.
  // Results without indices don't count.
  std::map<std::string, Array> arrays;
  // Names in indices, in ranges and in conditions of them.
  std::set<std::string> counted;
};

Mentions MentionsOf(const ast::Program& program);

// Help with a `create` that has fewer or more indices than other references of
// its array: that the indices of the task stand in it. Empty if it lacks
// something else.
std::string HelpWithCreate(const ast::Create& create, const ast::Task& task,
                           const Mentions& mentions);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_MENTIONS_H_
