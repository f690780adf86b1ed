#include "dsl/nest/nest_loops.h"

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/union_map.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

constexpr int kLoopsMax = 24;

// "c3" is 3 with prefix "c".
std::optional<int64_t> NumberIn(absl::string_view name,
                                absl::string_view prefix) {
  if (!absl::ConsumePrefix(&name, prefix) || name.empty()) return std::nullopt;
  return std::atoll(std::string(name).c_str());
}

class AstReader {
 public:
  AstReader(int parallel, NestBody& body) : parallel_(parallel), body_(body) {}
  // The node's position in the body.
  int32_t Add(const isl::ast_node& node);
  // Something had a form that isl is not known to give.
  bool has_failed() const { return has_failed_; }

 private:
  int32_t AddExpr(const isl::ast_expr& expr);
  int32_t AddOperation(const isl::ast_expr& expr);
  int32_t Put(const NestExpr& expr) {
    body_.exprs.push_back(expr);
    return static_cast<int32_t>(body_.exprs.size() - 1);
  }
  int32_t Fail() {
    has_failed_ = true;
    return Put({});
  }
  void AddLoop(const isl::ast_node& node, size_t at);
  void AddCall(const isl::ast_node& node, size_t at);
  bool HasLoop(size_t first) const {
    return std::any_of(body_.nodes.begin() + static_cast<ptrdiff_t>(first),
                       body_.nodes.end(), [](const NestNode& node) {
                         return node.kind == NestNode::Kind::kLoop;
                       });
  }

  int parallel_;
  NestBody& body_;
  bool has_failed_ = false;
};

std::string NameIn(const isl::ast_expr& expr) {
  const isl::id id = isl::manage(isl_ast_expr_get_id(expr.get()));
  return id.name();
}

isl::ast_expr ArgumentOf(const isl::ast_expr& expr, int k) {
  return isl::manage(isl_ast_expr_get_op_arg(expr.get(), k));
}

int32_t AstReader::AddOperation(const isl::ast_expr& expr) {
  const int count = static_cast<int>(isl_ast_expr_get_op_n_arg(expr.get()));
  const isl_ast_expr_op_type type = isl_ast_expr_get_op_type(expr.get());
  const auto fold = [&](NestExpr::Op op) {
    int32_t out = AddExpr(ArgumentOf(expr, 0));
    for (int k = 1; k < count; ++k) {
      const int32_t next = AddExpr(ArgumentOf(expr, k));
      out = Put({.op = op, .a = out, .b = next});
    }
    return out;
  };
  const auto turned = [&](NestExpr::Op op) {
    const int32_t a = AddExpr(ArgumentOf(expr, 0));
    const int32_t b = AddExpr(ArgumentOf(expr, 1));
    return Put({.op = op, .a = b, .b = a});
  };
  switch (type) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return fold(NestExpr::Op::kAnd);
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return fold(NestExpr::Op::kOr);
    case isl_ast_expr_op_max:
      return fold(NestExpr::Op::kMaximum);
    case isl_ast_expr_op_min:
      return fold(NestExpr::Op::kMinimum);
    case isl_ast_expr_op_add:
      return fold(NestExpr::Op::kAdd);
    case isl_ast_expr_op_sub:
      return fold(NestExpr::Op::kSubtract);
    case isl_ast_expr_op_mul:
      return fold(NestExpr::Op::kMultiply);
    case isl_ast_expr_op_div:
    case isl_ast_expr_op_fdiv_q:
    case isl_ast_expr_op_pdiv_q:
      return fold(NestExpr::Op::kFloorDivide);
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return fold(NestExpr::Op::kRemainder);
    case isl_ast_expr_op_le:
      return fold(NestExpr::Op::kLessEqual);
    case isl_ast_expr_op_lt:
      return fold(NestExpr::Op::kLess);
    case isl_ast_expr_op_ge:
      return turned(NestExpr::Op::kLessEqual);
    case isl_ast_expr_op_gt:
      return turned(NestExpr::Op::kLess);
    case isl_ast_expr_op_eq:
      return fold(NestExpr::Op::kEqual);
    case isl_ast_expr_op_minus: {
      const int32_t a = AddExpr(ArgumentOf(expr, 0));
      return Put({.op = NestExpr::Op::kNegate, .a = a});
    }
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select: {
      const int32_t a = AddExpr(ArgumentOf(expr, 0));
      const int32_t b = AddExpr(ArgumentOf(expr, 1));
      const int32_t c = AddExpr(ArgumentOf(expr, 2));
      return Put({.op = NestExpr::Op::kSelect, .a = a, .b = b, .c = c});
    }
    case isl_ast_expr_op_error:
    case isl_ast_expr_op_call:
    case isl_ast_expr_op_access:
    case isl_ast_expr_op_member:
    case isl_ast_expr_op_address_of:
      break;
  }
  return Fail();
}

int32_t AstReader::AddExpr(const isl::ast_expr& expr) {
  switch (isl_ast_expr_get_type(expr.get())) {
    case isl_ast_expr_int: {
      const auto value = TakeInteger(isl_ast_expr_get_val(expr.get()));
      if (!value) return Fail();
      return Put({.op = NestExpr::Op::kNumber, .value = *value});
    }
    case isl_ast_expr_id: {
      const std::string name = NameIn(expr);
      if (const auto tile = NumberIn(name, "T")) {
        return Put({.op = NestExpr::Op::kTile, .value = *tile});
      }
      if (const auto variable = NumberIn(name, "c")) {
        return Put({.op = NestExpr::Op::kVariable, .value = *variable});
      }
      return Fail();
    }
    case isl_ast_expr_op:
      return AddOperation(expr);
    case isl_ast_expr_error:
      break;
  }
  return Fail();
}

void AstReader::AddLoop(const isl::ast_node& node, size_t at) {
  const isl::ast_expr iterator =
      isl::manage(isl_ast_node_for_get_iterator(node.get()));
  const auto variable = NumberIn(NameIn(iterator), "c");
  if (!variable) {
    Fail();
    return;
  }
  NestNode loop{.kind = NestNode::Kind::kLoop,
                .number = static_cast<int32_t>(*variable)};
  body_.variable_count = std::max(body_.variable_count, loop.number + 1);
  loop.first = AddExpr(isl::manage(isl_ast_node_for_get_init(node.get())));
  if (isl_ast_node_for_is_degenerate(node.get()) == isl_bool_true) {
    loop.last = loop.first;
  } else {
    const isl::ast_expr condition =
        isl::manage(isl_ast_node_for_get_cond(node.get()));
    const isl_ast_expr_op_type type = isl_ast_expr_get_op_type(condition.get());
    const bool is_strict = type == isl_ast_expr_op_lt;
    const isl::ast_expr step =
        isl::manage(isl_ast_node_for_get_inc(node.get()));
    if ((!is_strict && type != isl_ast_expr_op_le) ||
        isl_ast_expr_get_type(step.get()) != isl_ast_expr_int) {
      Fail();
      return;
    }
    loop.step = TakeInteger(isl_ast_expr_get_val(step.get())).value_or(1);
    loop.last = AddExpr(ArgumentOf(condition, 1));
    if (is_strict) {
      const int32_t one = Put({.op = NestExpr::Op::kNumber, .value = 1});
      loop.last =
          Put({.op = NestExpr::Op::kSubtract, .a = loop.last, .b = one});
    }
  }
  const size_t inner = body_.nodes.size();
  loop.children = {Add(isl::manage(isl_ast_node_for_get_body(node.get())))};
  loop.is_parallel = loop.number == parallel_ && !HasLoop(inner);
  body_.nodes[at] = std::move(loop);
}

void AstReader::AddCall(const isl::ast_node& node, size_t at) {
  const isl::ast_expr call =
      isl::manage(isl_ast_node_user_get_expr(node.get()));
  const int count = static_cast<int>(isl_ast_expr_get_op_n_arg(call.get()));
  const auto statement = NumberIn(NameIn(ArgumentOf(call, 0)), "X");
  if (!statement) {
    Fail();
    return;
  }
  NestNode out{.kind = NestNode::Kind::kCall,
               .number = static_cast<int32_t>(*statement)};
  for (int k = 1; k < count; ++k) {
    out.arguments.push_back(AddExpr(ArgumentOf(call, k)));
  }
  body_.nodes[at] = std::move(out);
}

int32_t AstReader::Add(const isl::ast_node& node) {
  const size_t at = body_.nodes.size();
  body_.nodes.emplace_back();
  switch (isl_ast_node_get_type(node.get())) {
    case isl_ast_node_for:
      AddLoop(node, at);
      break;
    case isl_ast_node_if: {
      NestNode out{.kind = NestNode::Kind::kIf};
      out.first = AddExpr(isl::manage(isl_ast_node_if_get_cond(node.get())));
      out.children = {
          Add(isl::manage(isl_ast_node_if_get_then_node(node.get())))};
      if (isl_ast_node_if_has_else_node(node.get()) == isl_bool_true) {
        out.children.push_back(
            Add(isl::manage(isl_ast_node_if_get_else_node(node.get()))));
      }
      body_.nodes[at] = std::move(out);
      break;
    }
    case isl_ast_node_block: {
      NestNode out;
      isl_ast_node_list* children = isl_ast_node_block_get_children(node.get());
      const int count = static_cast<int>(isl_ast_node_list_size(children));
      for (int k = 0; k < count; ++k) {
        out.children.push_back(
            Add(isl::manage(isl_ast_node_list_get_at(children, k))));
      }
      isl_ast_node_list_free(children);
      body_.nodes[at] = std::move(out);
      break;
    }
    case isl_ast_node_user:
      AddCall(node, at);
      break;
    case isl_ast_node_mark:
    case isl_ast_node_error:
      Fail();
      break;
  }
  return static_cast<int32_t>(at);
}

}  // namespace

absl::Status AddLoops(const isl::union_map& order, const isl::set& tiles,
                      int parallel, int32_t parent, NestBody& body) {
  isl_ast_build* build = isl_ast_build_from_context(tiles.copy());
  isl_id_list* names = isl_id_list_alloc(order.ctx().get(), kLoopsMax);
  for (int k = 0; k < kLoopsMax; ++k) {
    names = isl_id_list_add(
        names,
        isl_id_alloc(order.ctx().get(), absl::StrCat("c", k).c_str(), nullptr));
  }
  build = isl_ast_build_set_iterators(build, names);
  isl_ast_node* made =
      isl_ast_build_node_from_schedule_map(build, order.copy());
  isl_ast_build_free(build);
  const isl::ast_node root = isl::manage(made);
  AstReader reader(parallel, body);
  const int32_t child = reader.Add(root);
  body.nodes[parent].children.push_back(child);
  if (reader.has_failed()) {
    return absl::UnimplementedError("its loops have a form of their own");
  }
  return absl::OkStatus();
}

std::string StatementTuple(size_t statement) {
  return absl::StrCat("X", statement);
}

}  // namespace dogged::dsl
