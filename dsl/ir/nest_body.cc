#include "dsl/ir/nest_body.h"

#include <algorithm>

#include "dsl/ir/integer_codec.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// The first byte of a body: a body of another version is refused.
constexpr uint8_t kVersion = 2;
constexpr int64_t kVariablesMax = 64;

void PutExprs(Encoder& out, const std::vector<AffineExpr>& exprs) {
  out.PutVarint(exprs.size());
  for (const AffineExpr& expr : exprs) expr.Encode(out);
}

std::vector<AffineExpr> GetExprs(Decoder& in) {
  std::vector<AffineExpr> out(in.GetCount());
  for (AffineExpr& expr : out) expr = AffineExpr::Decode(in);
  return out;
}

void EncodeBlock(const NestBlock& block, Encoder& out) {
  out.PutU8(static_cast<uint8_t>(block.kind));
  out.PutSigned(block.position);
  out.PutU8(static_cast<uint8_t>(block.element));
  PutIntegers(out, block.extents);
  PutExprs(out, block.first);
  PutIntegers(out, block.limits);
  PutIntegers(out, block.stored_lower);
  PutIntegers(out, block.stored_upper);
}

NestBlock DecodeBlock(Decoder& in) {
  NestBlock out;
  const uint8_t kind = in.GetU8();
  out.position = static_cast<int32_t>(in.GetSigned());
  const uint8_t element = in.GetU8();
  if (kind > static_cast<uint8_t>(NestBlock::Kind::kInput) || element > 2 ||
      out.position < 0) {
    in.Fail();
    return {};
  }
  out.kind = static_cast<NestBlock::Kind>(kind);
  out.element = static_cast<ElementType>(element);
  out.extents = GetIntegers<int64_t>(in);
  out.first = GetExprs(in);
  out.limits = GetIntegers<int64_t>(in);
  out.stored_lower = GetIntegers<int64_t>(in);
  out.stored_upper = GetIntegers<int64_t>(in);
  const bool has_first = out.kind == NestBlock::Kind::kInput ||
                         !out.limits.empty() || !out.stored_lower.empty();
  if (out.extents.size() > kMaxIndices ||
      (has_first && out.first.size() != out.extents.size()) ||
      (!out.limits.empty() && out.limits.size() != out.extents.size()) ||
      (!out.stored_lower.empty() &&
       out.stored_lower.size() != out.extents.size()) ||
      out.stored_upper.size() != out.stored_lower.size() || out.Count() < 0) {
    in.Fail();
  }
  return out;
}

void EncodeElements(const std::vector<NestElement>& elements, Encoder& out) {
  out.PutVarint(elements.size());
  for (const NestElement& element : elements) {
    out.PutSigned(element.block);
    element.by_point.Encode(out);
    element.by_tile.Encode(out);
  }
}

std::vector<NestElement> DecodeElements(Decoder& in) {
  std::vector<NestElement> out(in.GetCount(3));
  for (NestElement& element : out) {
    element.block = static_cast<int32_t>(in.GetSigned());
    element.by_point = AffineExpr::Decode(in);
    element.by_tile = AffineExpr::Decode(in);
  }
  return out;
}

NestReduce DecodeReduce(Decoder& in) {
  const uint8_t step = in.GetU8();
  const uint8_t kind = in.GetU8();
  const uint8_t element = in.GetU8();
  if (step > static_cast<uint8_t>(NestReduce::Step::kRound) ||
      kind > static_cast<uint8_t>(ReduceKind::kNormMax) || element > 2) {
    in.Fail();
    return {};
  }
  return {.step = static_cast<NestReduce::Step>(step),
          .kind = static_cast<ReduceKind>(kind),
          .element = static_cast<ElementType>(element)};
}

bool IsPosition(int64_t position, size_t count) {
  return position >= 0 && position < static_cast<int64_t>(count);
}

int NestOperandCount(NestExpr::Op op) {
  switch (op) {
    case NestExpr::Op::kNumber:
    case NestExpr::Op::kTile:
    case NestExpr::Op::kVariable:
      return 0;
    case NestExpr::Op::kNegate:
      return 1;
    case NestExpr::Op::kSelect:
      return 3;
    case NestExpr::Op::kAdd:
    case NestExpr::Op::kSubtract:
    case NestExpr::Op::kMultiply:
    case NestExpr::Op::kMinimum:
    case NestExpr::Op::kMaximum:
    case NestExpr::Op::kFloorDivide:
    case NestExpr::Op::kRemainder:
    case NestExpr::Op::kLess:
    case NestExpr::Op::kLessEqual:
    case NestExpr::Op::kEqual:
    case NestExpr::Op::kAnd:
    case NestExpr::Op::kOr:
      return 2;
  }
  return 0;
}

bool Fits(const NestBody& body, size_t position) {
  const NestExpr& expr = body.exprs[position];
  const int count = NestOperandCount(expr.op);
  const int32_t operands[] = {expr.a, expr.b, expr.c};
  for (int k = 0; k < count; ++k) {
    if (!IsPosition(operands[k], position)) return false;
  }
  if (expr.op == NestExpr::Op::kTile) {
    return expr.value >= 0 && expr.value < body.tile_rank;
  }
  if (expr.op == NestExpr::Op::kVariable) {
    return expr.value >= 0 && expr.value < body.variable_count;
  }
  return true;
}

bool Fits(const NestBody& body, const NestStatement& statement) {
  if (statement.stores.size() != statement.code.stores.size() ||
      statement.loads.size() != statement.code.loads.size()) {
    return false;
  }
  if (statement.reduce &&
      (statement.stores.size() != 1 || statement.loads.size() > 1)) {
    return false;
  }
  const auto fits = [&body](const NestElement& element, ElementType type) {
    return IsPosition(element.block, body.blocks.size()) &&
           body.blocks[element.block].element == type;
  };
  for (size_t s = 0; s < statement.stores.size(); ++s) {
    if (!fits(statement.stores[s], statement.code.stores[s].element)) {
      return false;
    }
  }
  for (size_t l = 0; l < statement.loads.size(); ++l) {
    if (!fits(statement.loads[l], statement.code.loads[l].element)) {
      return false;
    }
  }
  return true;
}

// Each node has one parent, so that walks end.
bool FitNodes(const NestBody& body) {
  std::vector<bool> has_parent(body.nodes.size(), false);
  const size_t exprs = body.exprs.size();
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    const NestNode& node = body.nodes[n];
    for (const int32_t child : node.children) {
      if (!IsPosition(child, body.nodes.size())) return false;
      if (static_cast<size_t>(child) <= n || has_parent[child]) return false;
      has_parent[child] = true;
    }
    const auto children = node.children.size();
    switch (node.kind) {
      case NestNode::Kind::kSequence:
        break;
      case NestNode::Kind::kLoop:
        if (children != 1 || !IsPosition(node.first, exprs) ||
            !IsPosition(node.last, exprs) || node.step < 1 || node.number < 0 ||
            node.number >= body.variable_count) {
          return false;
        }
        break;
      case NestNode::Kind::kIf:
        if (children < 1 || children > 2 || !IsPosition(node.first, exprs)) {
          return false;
        }
        break;
      case NestNode::Kind::kPresent:
        if (children != 1 || !IsPosition(node.number, body.blocks.size())) {
          return false;
        }
        break;
      case NestNode::Kind::kCall: {
        if (!IsPosition(node.number, body.statements.size())) return false;
        const NestStatement& statement = body.statements[node.number];
        if (node.arguments.size() > kMaxIndices ||
            std::max<int64_t>(1, std::ssize(node.arguments)) !=
                statement.code.index_count) {
          return false;
        }
        for (const int32_t argument : node.arguments) {
          if (!IsPosition(argument, exprs)) return false;
        }
        break;
      }
    }
  }
  return true;
}

bool IsSound(const NestBody& body) {
  if (body.nodes.empty()) return false;
  int64_t elements = 0;
  for (const NestBlock& block : body.blocks) elements += block.Count();
  if (elements > kNestElementsMax) return false;
  for (size_t e = 0; e < body.exprs.size(); ++e) {
    if (!Fits(body, e)) return false;
  }
  return std::all_of(body.statements.begin(), body.statements.end(),
                     [&body](const NestStatement& statement) {
                       return Fits(body, statement);
                     }) &&
         FitNodes(body);
}

}  // namespace

int64_t NestBlock::Count() const {
  int64_t out = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || extent > kNestElementsMax) return -1;
    out *= extent;
    if (out > kNestElementsMax) return -1;
  }
  return out;
}

std::string NestBody::Encode() const {
  Encoder out;
  out.PutU8(kVersion);
  out.PutSigned(tile_rank);
  out.PutSigned(variable_count);
  out.PutVarint(blocks.size());
  for (const NestBlock& block : blocks) EncodeBlock(block, out);
  out.PutVarint(statements.size());
  for (const NestStatement& statement : statements) {
    statement.code.Encode(out);
    EncodeElements(statement.stores, out);
    EncodeElements(statement.loads, out);
    out.PutBool(statement.reduce.has_value());
    if (!statement.reduce) continue;
    out.PutU8(static_cast<uint8_t>(statement.reduce->step));
    out.PutU8(static_cast<uint8_t>(statement.reduce->kind));
    out.PutU8(static_cast<uint8_t>(statement.reduce->element));
  }
  out.PutVarint(exprs.size());
  for (const NestExpr& expr : exprs) {
    out.PutU8(static_cast<uint8_t>(expr.op));
    out.PutSigned(expr.a);
    out.PutSigned(expr.b);
    out.PutSigned(expr.c);
    out.PutSigned(expr.value);
  }
  out.PutVarint(nodes.size());
  for (const NestNode& node : nodes) {
    out.PutU8(static_cast<uint8_t>(node.kind));
    PutIntegers(out, node.children);
    out.PutSigned(node.number);
    out.PutSigned(node.first);
    out.PutSigned(node.last);
    out.PutSigned(node.step);
    out.PutBool(node.is_parallel);
    PutIntegers(out, node.arguments);
  }
  return out.Take();
}

absl::StatusOr<NestBody> NestBody::Decode(absl::string_view body) {
  Decoder in(body);
  NestBody out;
  if (in.GetU8() != kVersion) in.Fail();
  const int64_t tile_rank = in.GetSigned();
  const int64_t variables = in.GetSigned();
  if (tile_rank < 0 || tile_rank > kMaxIndices || variables < 0 ||
      variables > kVariablesMax) {
    in.Fail();
  }
  out.tile_rank = static_cast<int32_t>(tile_rank);
  out.variable_count = static_cast<int32_t>(variables);
  out.blocks.resize(in.GetCount(6));
  for (NestBlock& block : out.blocks) block = DecodeBlock(in);
  out.statements.resize(in.GetCount(4));
  for (NestStatement& statement : out.statements) {
    statement.code = CodeBlock::Decode(in);
    statement.stores = DecodeElements(in);
    statement.loads = DecodeElements(in);
    if (in.GetBool()) statement.reduce = DecodeReduce(in);
  }
  out.exprs.resize(in.GetCount(5));
  for (NestExpr& expr : out.exprs) {
    const uint8_t op = in.GetU8();
    if (op > static_cast<uint8_t>(NestExpr::Op::kSelect)) in.Fail();
    expr.op = static_cast<NestExpr::Op>(op);
    expr.a = static_cast<int32_t>(in.GetSigned());
    expr.b = static_cast<int32_t>(in.GetSigned());
    expr.c = static_cast<int32_t>(in.GetSigned());
    expr.value = in.GetSigned();
  }
  out.nodes.resize(in.GetCount(8));
  for (NestNode& node : out.nodes) {
    const uint8_t kind = in.GetU8();
    if (kind > static_cast<uint8_t>(NestNode::Kind::kPresent)) in.Fail();
    node.kind = static_cast<NestNode::Kind>(kind);
    node.children = GetIntegers<int32_t>(in);
    node.number = static_cast<int32_t>(in.GetSigned());
    node.first = static_cast<int32_t>(in.GetSigned());
    node.last = static_cast<int32_t>(in.GetSigned());
    node.step = in.GetSigned();
    node.is_parallel = in.GetBool();
    node.arguments = GetIntegers<int32_t>(in);
  }
  if (in.ok() && !IsSound(out)) in.Fail();
  DOGGED_RETURN_IF_ERROR(in.Finish("tile of a loop nest"));
  return out;
}

}  // namespace dogged::dsl
