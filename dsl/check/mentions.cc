#include "dsl/check/mentions.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

class Collector {
 public:
  Mentions Run(const ast::Program& program) {
    for (const ast::Array& array : program.arrays) Add(array.indices);
    for (const ast::Input& input : program.inputs) {
      Add(input.ref);
      Add(input.dimensions);
    }
    for (const ast::Reduction& r : program.reductions) {
      Add(r.ref);
      Add(r.source);
      Add(r.dimensions);
      Add(r.over);
      Add(r.where);
    }
    for (const ast::Task& task : program.tasks) {
      for (const ast::Create& create : task.creates) Add(create.ref);
      Add(task.dimensions);
      Add(task.where);
      for (const ast::Use& use : task.uses) {
        Add(use.ref);
        Add(use.where);
      }
    }
    for (const ast::Boundary& boundary : program.boundaries) {
      Add(boundary.ref);
      Add(boundary.where);
    }
    for (const ast::Result& result : program.results) {
      if (!result.ref.index.empty()) Add(result.ref);
      Add(result.dimensions);
      Add(result.where);
    }
    for (const auto& [name, ranks] : ranks_) {
      const Rank* most = nullptr;
      for (const auto& [rank, found] : ranks) {
        if (most == nullptr || found.count >= most->count) most = &found;
      }
      if (most != nullptr) out_.arrays[name] = most->array;
    }
    return std::move(out_);
  }

 private:
  struct Rank {
    int count = 0;
    Mentions::Array array;
  };

  void Add(const ast::Ref& ref) {
    for (const ast::Expr& index : ref.index) Add(index);
    for (const auto& last : ref.last) Add(last);
    const auto rank = static_cast<int32_t>(ref.index.size());
    Rank& found = ranks_[ref.array.text][rank];
    if (found.count++ > 0) return;
    found.array = {.rank = rank, .range = ref.range, .text = Print(ref)};
  }
  void Add(const std::vector<ast::Dimension>& dimensions) {
    for (const ast::Dimension& dimension : dimensions) {
      Add(dimension.range.lower);
      Add(dimension.range.upper);
    }
  }
  void Add(const std::optional<ast::Expr>& expr) {
    if (expr) Add(*expr);
  }
  void Add(const ast::Expr& expr) {
    if (expr.kind == ast::Expr::Kind::kName) out_.counted.insert(expr.text);
    for (const ast::Expr& arg : expr.args) Add(arg);
  }

  std::map<std::string, std::map<int32_t, Rank>> ranks_;
  Mentions out_;
};

bool Names(const ast::Expr& expr, const std::string& name) {
  if (expr.kind == ast::Expr::Kind::kName && expr.text == name) return true;
  return std::any_of(
      expr.args.begin(), expr.args.end(),
      [&name](const ast::Expr& arg) { return Names(arg, name); });
}

}  // namespace

Mentions MentionsOf(const ast::Program& program) {
  return Collector().Run(program);
}

std::string HelpWithCreate(const ast::Create& create, const ast::Task& task,
                           const Mentions& mentions) {
  const auto most = mentions.arrays.find(create.ref.array.text);
  if (most == mentions.arrays.end()) return "";
  ast::Ref whole = create.ref;
  std::string lacking;
  for (const ast::Dimension& dimension : task.dimensions) {
    const std::string& name = dimension.name.text;
    if (std::any_of(
            whole.index.begin(), whole.index.end(),
            [&name](const ast::Expr& index) { return Names(index, name); })) {
      continue;
    }
    absl::StrAppend(&lacking, lacking.empty() ? "" : " and ", name);
    ast::Expr index;
    index.kind = ast::Expr::Kind::kName;
    index.text = name;
    whole.index.push_back(std::move(index));
    whole.is_slice.push_back(false);
  }
  const auto rank = static_cast<int32_t>(whole.index.size());
  if (lacking.empty() || most->second.rank != rank) return "";
  return absl::StrCat("a label gets one value, once: name ", lacking,
                      " in it, as in  creates ", Print(whole), " as ",
                      create.name.text);
}

}  // namespace dogged::dsl
