#include "dsl/kernels/nest_walk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/kernels/interpreter.h"
#include "dsl/kernels/reduce_kernel.h"
#include "runtime/base/division.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// A tile that is being walked.
class Walk {
 public:
  Walk(const NestBody& body,
       const std::vector<std::unique_ptr<BoxFunction>>& functions,
       const IndexVector& tile, absl::Span<void* const> blocks)
      : body_(body),
        functions_(functions),
        tile_(tile),
        blocks_(blocks),
        variables_(static_cast<size_t>(body.variable_count), 0) {}

  absl::Status Visit(int32_t position);

 private:
  int64_t Value(int32_t position) const;
  absl::Status Call(const NestNode& node);
  absl::Status Reduce(const NestStatement& statement,
                      const IndexVector& point) const;
  // Where an operand stands; null if its block is not there.
  absl::StatusOr<void*> Place(const NestElement& element,
                              const IndexVector& point, bool may_lack) const;

  const NestBody& body_;
  const std::vector<std::unique_ptr<BoxFunction>>& functions_;
  const IndexVector& tile_;
  absl::Span<void* const> blocks_;
  std::vector<int64_t> variables_;
};

// Sums and products wrap around: a body may be anybody's.
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

int64_t Walk::Value(int32_t position) const {
  const NestExpr& expr = body_.exprs[position];
  const auto a = [&] { return Value(expr.a); };
  const auto b = [&] { return Value(expr.b); };
  switch (expr.op) {
    case NestExpr::Op::kNumber:
      return expr.value;
    case NestExpr::Op::kTile:
      return tile_[static_cast<int>(expr.value)];
    case NestExpr::Op::kVariable:
      return variables_[expr.value];
    case NestExpr::Op::kAdd:
      return Wrapped(static_cast<uint64_t>(a()) + static_cast<uint64_t>(b()));
    case NestExpr::Op::kSubtract:
      return Wrapped(static_cast<uint64_t>(a()) - static_cast<uint64_t>(b()));
    case NestExpr::Op::kMultiply:
      return Wrapped(static_cast<uint64_t>(a()) * static_cast<uint64_t>(b()));
    case NestExpr::Op::kNegate:
      return Wrapped(0 - static_cast<uint64_t>(a()));
    case NestExpr::Op::kMinimum:
      return std::min(a(), b());
    case NestExpr::Op::kMaximum:
      return std::max(a(), b());
    case NestExpr::Op::kFloorDivide:
      return WrapDivide(a(), b());
    case NestExpr::Op::kRemainder:
      return WrapModulo(a(), b());
    case NestExpr::Op::kLess:
      return a() < b() ? 1 : 0;
    case NestExpr::Op::kLessEqual:
      return a() <= b() ? 1 : 0;
    case NestExpr::Op::kEqual:
      return a() == b() ? 1 : 0;
    case NestExpr::Op::kAnd:
      return a() != 0 && b() != 0 ? 1 : 0;
    case NestExpr::Op::kOr:
      return a() != 0 || b() != 0 ? 1 : 0;
    case NestExpr::Op::kSelect:
      return a() != 0 ? b() : Value(expr.c);
  }
  return 0;
}

absl::StatusOr<void*> Walk::Place(const NestElement& element,
                                  const IndexVector& point,
                                  bool may_lack) const {
  const NestBlock& block = body_.blocks[element.block];
  const int64_t at =
      element.by_point.Evaluate(point) + element.by_tile.Evaluate(tile_);
  void* const begin = blocks_[element.block];
  const bool is_there = begin != nullptr && at >= 0 && at < block.Count();
  if (!is_there && may_lack) return nullptr;
  if (!is_there) {
    return absl::InvalidArgumentError(
        absl::StrCat("element ", at, " of a block of ", block.Count(),
                     begin == nullptr ? ", which is not there" : ""));
  }
  return static_cast<char*>(begin) + at * ElementBytes(block.element);
}

absl::Status Walk::Reduce(const NestStatement& statement,
                          const IndexVector& point) const {
  const NestReduce& reduce = *statement.reduce;
  const bool rounds = reduce.step == NestReduce::Step::kRound;
  void* accumulator = nullptr;
  void* value = nullptr;
  for (const auto* elements : {&statement.stores, &statement.loads}) {
    if (elements->empty()) continue;
    const bool is_accumulator = (elements == &statement.stores) != rounds;
    NestElement last = elements->front();
    if (is_accumulator || reduce.step == NestReduce::Step::kJoin) {
      // The accumulator ends within its block, too.
      last.by_point.constant +=
          AccumulatorWidth(reduce.kind, reduce.element) - 1;
      DOGGED_RETURN_IF_ERROR(Place(last, point, false).status());
    }
    DOGGED_ASSIGN_OR_RETURN(void* const place,
                            Place(elements->front(), point, false));
    (is_accumulator ? accumulator : value) = place;
  }
  const bool needs_value = reduce.step != NestReduce::Step::kClear &&
                           reduce.step != NestReduce::Step::kFinish;
  if (accumulator == nullptr || (needs_value && value == nullptr)) {
    return absl::InvalidArgumentError("a reduction of nothing");
  }
  RunReduceStep(static_cast<int64_t>(reduce.step),
                static_cast<int64_t>(reduce.kind),
                static_cast<int64_t>(reduce.element), accumulator, value);
  return absl::OkStatus();
}

absl::Status Walk::Call(const NestNode& node) {
  const int64_t s = node.number;
  const NestStatement& statement = body_.statements[s];
  const int64_t rank = statement.code.index_count;
  IndexVector point;
  for (const int32_t argument : node.arguments) {
    point.push_back(Value(argument));
  }
  while (point.size() < static_cast<int>(rank)) point.push_back(0);
  if (statement.reduce) return Reduce(statement, point);
  std::vector<bool> may_lack(statement.loads.size(), true);
  for (const IrNode& one : statement.code.nodes) {
    if (one.op != IrOp::kLoad || one.a >= 0) continue;
    may_lack[one.integer] = false;
  }
  static constexpr int64_t kZero = 0;
  std::vector<void*> stores;
  std::vector<const void*> loads;
  for (const NestElement& store : statement.stores) {
    DOGGED_ASSIGN_OR_RETURN(void* const place, Place(store, point, false));
    stores.push_back(place);
  }
  for (size_t l = 0; l < statement.loads.size(); ++l) {
    DOGGED_ASSIGN_OR_RETURN(void* const place,
                            Place(statement.loads[l], point, may_lack[l]));
    loads.push_back(place == nullptr ? &kZero : place);
  }
  const std::vector<int64_t> strides((stores.size() + loads.size()) * rank, 0);
  const std::vector<int64_t> count(rank, 1);
  functions_[s]->Run({.lower = point.begin(),
                      .count = count.data(),
                      .stores = stores.data(),
                      .loads = loads.data(),
                      .strides = strides.data()});
  return absl::OkStatus();
}

absl::Status Walk::Visit(int32_t position) {
  const NestNode& node = body_.nodes[position];
  switch (node.kind) {
    case NestNode::Kind::kSequence:
      for (const int32_t child : node.children) {
        DOGGED_RETURN_IF_ERROR(Visit(child));
      }
      return absl::OkStatus();
    case NestNode::Kind::kLoop: {
      const int64_t last = Value(node.last);
      int64_t at = Value(node.first);
      while (at <= last) {
        variables_[node.number] = at;
        DOGGED_RETURN_IF_ERROR(Visit(node.children.front()));
        if (__builtin_add_overflow(at, node.step, &at)) break;
      }
      return absl::OkStatus();
    }
    case NestNode::Kind::kIf:
      if (Value(node.first) != 0) return Visit(node.children[0]);
      return node.children.size() > 1 ? Visit(node.children[1])
                                      : absl::OkStatus();
    case NestNode::Kind::kPresent:
      return blocks_[node.number] != nullptr ? Visit(node.children[0])
                                             : absl::OkStatus();
    case NestNode::Kind::kCall:
      return Call(node);
  }
  return absl::OkStatus();
}

}  // namespace

NestWalker::NestWalker(const NestBody& body) : body_(body) {
  for (const NestStatement& statement : body.statements) {
    functions_.push_back(Interpret(statement.code));
  }
}

absl::Status NestWalker::Run(const IndexVector& tile,
                             absl::Span<void* const> blocks) const {
  return Walk(body_, functions_, tile, blocks).Visit(0);
}

}  // namespace dogged::dsl
