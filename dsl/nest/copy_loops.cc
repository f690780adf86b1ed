#include "dsl/nest/copy_loops.h"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/set.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// A linear form of the tile's indices, the element's, and divisions.
struct Form {
  std::vector<int64_t> tile;
  std::vector<int64_t> index;
  std::vector<int64_t> division;
  int64_t constant = 0;
};

// The whole quotient of a form and a positive number.
struct Division {
  Form form;
  int64_t divisor = 1;
  int level = -1;
};

// Form >= 0, or = 0.
struct Condition {
  Form form;
  bool is_equality = false;
  int level = -1;  // its last index, also within divisions; -1: none
};

// The whole quotient, at which an index begins or ends.
struct Bound {
  Form form;
  int64_t divisor = 1;
};

// The greatest of some, or the least.
class Bounds {
 public:
  explicit Bounds(bool is_greatest) : is_greatest_(is_greatest) {}
  // Of bounds that differ by a number, one counts.
  void Add(Bound bound);
  const std::vector<Bound>& all() const { return all_; }
  bool is_greatest() const { return is_greatest_; }

 private:
  bool is_greatest_;
  std::vector<Bound> all_;
};

void Bounds::Add(Bound bound) {
  for (Bound& known : all_) {
    Form& form = known.form;
    if (known.divisor != bound.divisor || form.tile != bound.form.tile ||
        form.index != bound.form.index ||
        form.division != bound.form.division) {
      continue;
    }
    form.constant = is_greatest_ ? std::max(form.constant, bound.form.constant)
                                 : std::min(form.constant, bound.form.constant);
    return;
  }
  all_.push_back(std::move(bound));
}

// Values of an index are `rest` and what is multiples of `step` apart from it;
// there are none unless 0 <= modulus < step.
struct Stride {
  const Condition* condition = nullptr;
  int64_t step = 1;
  Form rest;
  Form modulus;
};

Form Sum(Form a, const Form& b, int64_t factor) {
  const auto add = [factor](std::vector<int64_t>& to,
                            const std::vector<int64_t>& from) {
    for (size_t k = 0; k < to.size(); ++k) to[k] += factor * from[k];
  };
  add(a.tile, b.tile);
  add(a.index, b.index);
  add(a.division, b.division);
  a.constant += factor * b.constant;
  return a;
}

Form Times(const Form& a, int64_t factor) { return Sum(a, a, factor - 1); }

// The conditions of a piece.
class PieceReader {
 public:
  // `tile` has the positions of the tile's indices among the parameters; -1
  // where it is none of these.
  PieceReader(const isl::basic_set& piece, const std::vector<int>& tile)
      : piece_(piece), tile_(tile) {}
  // False if a division has no form.
  bool Read();
  const std::vector<Condition>& conditions() const { return conditions_; }
  const std::vector<Division>& divisions() const { return divisions_; }
  // The division by the last index of a condition, if it has one.
  std::optional<size_t> OwnDivision(const Condition& condition) const;
  // What such a condition tells of its last index, if that is a stride.
  std::optional<Stride> StrideOf(const Condition& condition) const;

 private:
  int LevelOf(const Form& form) const;
  void AddConstraint(isl_constraint* constraint);
  int64_t NumberOf(isl_val* value) {
    const auto number = TakeInteger(value);
    is_good_ &= number.has_value();
    return number.value_or(0);
  }
  // With the coefficients that `coefficient_of` has, without a constant.
  template <typename Function>
  Form FormOf(const Function& coefficient_of);

  isl::basic_set piece_;
  const std::vector<int>& tile_;
  std::vector<Division> divisions_;
  std::vector<Condition> conditions_;
  bool is_good_ = true;
};

template <typename Function>
Form PieceReader::FormOf(const Function& coefficient_of) {
  Form out;
  for (const int at : tile_) {
    out.tile.push_back(at < 0 ? 0
                              : NumberOf(coefficient_of(isl_dim_param, at)));
  }
  for (auto [type, to] : {std::pair(isl_dim_set, &out.index),
                          std::pair(isl_dim_div, &out.division)}) {
    const isl_size count = isl_basic_set_dim(piece_.get(), type);
    for (int d = 0; d < count; ++d) {
      to->push_back(NumberOf(coefficient_of(type, d)));
    }
  }
  return out;
}

int PieceReader::LevelOf(const Form& form) const {
  int out = -1;
  for (size_t d = 0; d < form.index.size(); ++d) {
    if (form.index[d] != 0) out = static_cast<int>(d);
  }
  for (size_t j = 0; j < divisions_.size(); ++j) {
    if (form.division[j] != 0) out = std::max(out, divisions_[j].level);
  }
  return out;
}

void PieceReader::AddConstraint(isl_constraint* constraint) {
  // What says that a division is one.
  if (isl_constraint_is_div_constraint(constraint) == isl_bool_true) return;
  Condition out{.is_equality =
                    isl_constraint_is_equality(constraint) == isl_bool_true};
  out.form = FormOf([constraint](isl_dim_type type, int at) {
    return isl_constraint_get_coefficient_val(constraint, type, at);
  });
  out.form.constant = NumberOf(isl_constraint_get_constant_val(constraint));
  out.level = LevelOf(out.form);
  conditions_.push_back(std::move(out));
}

bool PieceReader::Read() {
  const isl_size count = isl_basic_set_dim(piece_.get(), isl_dim_div);
  for (int j = 0; j < count; ++j) {
    isl_aff* division = isl_basic_set_get_div(piece_.get(), j);
    if (division == nullptr) return false;
    isl_val* divisor = isl_aff_get_denominator_val(division);
    division = isl_aff_scale_val(division, isl_val_copy(divisor));
    Division out{.divisor = NumberOf(divisor)};
    out.form = FormOf([division](isl_dim_type type, int at) {
      return isl_aff_get_coefficient_val(
          division, type == isl_dim_set ? isl_dim_in : type, at);
    });
    out.form.constant = NumberOf(isl_aff_get_constant_val(division));
    isl_aff_free(division);
    out.level = LevelOf(out.form);
    divisions_.push_back(std::move(out));
  }
  const auto visit = [](isl_constraint* constraint, void* user) -> isl_stat {
    static_cast<PieceReader*>(user)->AddConstraint(constraint);
    isl_constraint_free(constraint);
    return isl_stat_ok;
  };
  isl_basic_set_foreach_constraint(piece_.get(), visit, this);
  return is_good_;
}

std::optional<size_t> PieceReader::OwnDivision(
    const Condition& condition) const {
  for (size_t j = 0; j < divisions_.size(); ++j) {
    if (condition.form.division[j] != 0 && condition.level >= 0 &&
        divisions_[j].level == condition.level) {
      return j;
    }
  }
  return std::nullopt;
}

// x - step * floor((x + a) / step) = b: x is b and multiples of the step, and
// (x + a) mod step is a + b.
std::optional<Stride> PieceReader::StrideOf(const Condition& condition) const {
  const auto own = static_cast<size_t>(condition.level);
  const std::optional<size_t> j = OwnDivision(condition);
  if (!j || !condition.is_equality) return std::nullopt;
  const Division& division = divisions_[*j];
  const int64_t sign = condition.form.index[own];
  const bool is_stride =
      std::abs(sign) == 1 && division.form.index[own] == 1 &&
      condition.form.division[*j] == -sign * division.divisor;
  if (!is_stride) return std::nullopt;
  Stride out{.condition = &condition,
             .step = division.divisor,
             .rest = condition.form,
             .modulus = {}};
  out.rest.index[own] = 0;
  out.rest.division[*j] = 0;
  out.rest = Times(out.rest, -sign);
  out.modulus = Sum(division.form, out.rest, 1);
  out.modulus.index[own] = 0;
  // Other divisions by this index.
  if (LevelOf(out.modulus) >= condition.level) return std::nullopt;
  return out;
}

// Writes loops of one piece to a body.
class PieceWriter {
 public:
  PieceWriter(const PieceReader& piece, const std::vector<LoopRange>& box,
              NestBody& body)
      : piece_(piece), box_(box), body_(body) {}
  void Write(int32_t statement, int32_t parent);

 private:
  int32_t Put(const NestExpr& expr) {
    body_.exprs.push_back(expr);
    return static_cast<int32_t>(body_.exprs.size() - 1);
  }
  int32_t Number(int64_t value) {
    return Put({.op = NestExpr::Op::kNumber, .value = value});
  }
  int32_t Join(NestExpr::Op op, int32_t a, int32_t b) {
    return a < 0 ? b : Put({.op = op, .a = a, .b = b});
  }
  int32_t AddTerm(int32_t sum, int64_t factor, int32_t expr);
  int32_t ExprOf(const Form& form);
  int32_t ExprOf(const Bounds& bounds);
  // That of the tile's indices.
  Bound BoundOf(const AffineExpr& form) const;
  int32_t AddNode(NestNode node, int32_t parent);
  int32_t AddIf(int32_t condition, int32_t parent);
  int32_t AddIf(const Condition& condition, int32_t parent);
  // The bounds of its last index that a condition tells.
  void AddBounds(const Condition& condition, Bounds& first, Bounds& last) const;
  int32_t AddStride(const Stride& stride, NestNode& loop, int32_t parent);
  // The loop over index `level`: the node within which its values hold.
  int32_t AddLoop(int level, int32_t parent);

  const PieceReader& piece_;
  const std::vector<LoopRange>& box_;
  NestBody& body_;
};

int32_t PieceWriter::AddTerm(int32_t sum, int64_t factor, int32_t expr) {
  if (factor != 1) {
    expr = Join(NestExpr::Op::kMultiply, Number(factor), expr);
  }
  return Join(NestExpr::Op::kAdd, sum, expr);
}

int32_t PieceWriter::ExprOf(const Form& form) {
  int32_t out = -1;
  const auto add = [&](const std::vector<int64_t>& factors, NestExpr::Op op) {
    for (size_t k = 0; k < factors.size(); ++k) {
      if (factors[k] == 0) continue;
      out = AddTerm(out, factors[k],
                    Put({.op = op, .value = static_cast<int64_t>(k)}));
    }
  };
  add(form.tile, NestExpr::Op::kTile);
  add(form.index, NestExpr::Op::kVariable);
  for (size_t j = 0; j < form.division.size(); ++j) {
    if (form.division[j] == 0) continue;
    const Division& division = piece_.divisions()[j];
    const int32_t dividend = ExprOf(division.form);
    out = AddTerm(
        out, form.division[j],
        Join(NestExpr::Op::kFloorDivide, dividend, Number(division.divisor)));
  }
  if (out >= 0 && form.constant == 0) return out;
  return Join(NestExpr::Op::kAdd, out, Number(form.constant));
}

int32_t PieceWriter::ExprOf(const Bounds& bounds) {
  int32_t out = -1;
  for (const Bound& bound : bounds.all()) {
    int32_t one = ExprOf(bound.form);
    if (bound.divisor != 1) {
      one = Join(NestExpr::Op::kFloorDivide, one, Number(bound.divisor));
    }
    out = Join(
        bounds.is_greatest() ? NestExpr::Op::kMaximum : NestExpr::Op::kMinimum,
        out, one);
  }
  return out;
}

Bound PieceWriter::BoundOf(const AffineExpr& form) const {
  Bound out;
  out.form.tile.assign(form.coefficients.begin(),
                       form.coefficients.begin() + body_.tile_rank);
  out.form.index.resize(box_.size());
  out.form.division.resize(piece_.divisions().size());
  out.form.constant = form.constant;
  return out;
}

int32_t PieceWriter::AddNode(NestNode node, int32_t parent) {
  body_.nodes.push_back(std::move(node));
  const auto out = static_cast<int32_t>(body_.nodes.size() - 1);
  body_.nodes[parent].children.push_back(out);
  return out;
}

int32_t PieceWriter::AddIf(int32_t condition, int32_t parent) {
  return AddNode({.kind = NestNode::Kind::kIf, .first = condition}, parent);
}

// factor * x + rest >= 0, or = 0: lower bounds are rounded up, upper ones down.
void PieceWriter::AddBounds(const Condition& condition, Bounds& first,
                            Bounds& last) const {
  Form rest = condition.form;
  const int64_t factor =
      std::exchange(rest.index[static_cast<size_t>(condition.level)], 0);
  const int64_t size = std::abs(factor);
  const Form negated = Times(rest, -1);
  const auto quotient = [&](Form form, int64_t add) {
    form.constant += add;
    return Bound{.form = std::move(form), .divisor = size};
  };
  if (factor > 0 || condition.is_equality) {
    first.Add(quotient(factor > 0 ? negated : rest, size - 1));
  }
  if (factor < 0 || condition.is_equality) {
    last.Add(quotient(factor > 0 ? negated : rest, 0));
  }
}

int32_t PieceWriter::AddIf(const Condition& condition, int32_t parent) {
  const NestExpr::Op op =
      condition.is_equality ? NestExpr::Op::kEqual : NestExpr::Op::kLessEqual;
  return AddIf(Join(op, Number(0), ExprOf(condition.form)), parent);
}

// Goes from the first of the values that the bounds leave on by steps.
int32_t PieceWriter::AddStride(const Stride& stride, NestNode& loop,
                               int32_t parent) {
  const int32_t step = Number(stride.step);
  const int32_t modulus = ExprOf(stride.modulus);
  const int32_t is_some = Join(
      NestExpr::Op::kAnd, Join(NestExpr::Op::kLessEqual, Number(0), modulus),
      Join(NestExpr::Op::kLess, modulus, step));
  const int32_t off =
      Join(NestExpr::Op::kSubtract, ExprOf(stride.rest), loop.first);
  loop.first = Join(NestExpr::Op::kAdd, loop.first,
                    Join(NestExpr::Op::kRemainder, off, step));
  loop.step = stride.step;
  return AddIf(is_some, parent);
}

int32_t PieceWriter::AddLoop(int level, int32_t parent) {
  const LoopRange& range = box_[static_cast<size_t>(level)];
  Bounds first(/*is_greatest=*/true);
  Bounds last(/*is_greatest=*/false);
  first.Add(BoundOf(range.first));
  last.Add(BoundOf(range.last));
  std::optional<Stride> stride;
  std::vector<const Condition*> others;
  for (const Condition& condition : piece_.conditions()) {
    if (condition.level != level) continue;
    if (!piece_.OwnDivision(condition)) {
      AddBounds(condition, first, last);
      continue;
    }
    if (!stride) stride = piece_.StrideOf(condition);
    if (!stride || stride->condition != &condition) {
      others.push_back(&condition);
    }
  }
  NestNode loop{.kind = NestNode::Kind::kLoop,
                .number = level,
                .first = ExprOf(first),
                .last = ExprOf(last)};
  if (stride) parent = AddStride(*stride, loop, parent);
  loop.is_parallel = static_cast<size_t>(level) + 1 == box_.size();
  body_.variable_count = std::max(body_.variable_count, level + 1);
  int32_t out = AddNode(std::move(loop), parent);
  for (const Condition* condition : others) out = AddIf(*condition, out);
  return out;
}

void PieceWriter::Write(int32_t statement, int32_t parent) {
  for (const Condition& condition : piece_.conditions()) {
    if (condition.level < 0) parent = AddIf(condition, parent);
  }
  NestNode call{.kind = NestNode::Kind::kCall, .number = statement};
  for (int level = 0; level < std::ssize(box_); ++level) {
    parent = AddLoop(level, parent);
    call.arguments.push_back(
        Put({.op = NestExpr::Op::kVariable, .value = level}));
  }
  AddNode(std::move(call), parent);
}

}  // namespace

bool AddCopyLoops(const isl::set& elements, const std::vector<LoopRange>& box,
                  int32_t statement, int32_t parent, NestBody& body) {
  const isl::set told = isl::manage(isl_set_compute_divs(elements.copy()));
  std::vector<int> tile;
  for (int32_t k = 0; k < body.tile_rank; ++k) {
    tile.push_back(isl_set_find_dim_by_name(told.get(), isl_dim_param,
                                            absl::StrCat("T", k).c_str()));
  }
  std::vector<PieceReader> pieces;
  bool is_good = true;
  told.foreach_basic_set([&](const isl::basic_set& piece) {
    is_good = is_good && pieces.emplace_back(piece, tile).Read();
  });
  for (const PieceReader& piece : pieces) {
    if (is_good) PieceWriter(piece, box, body).Write(statement, parent);
  }
  return is_good;
}

}  // namespace dogged::dsl
