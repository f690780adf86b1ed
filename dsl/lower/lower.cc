#include "dsl/lower/lower.h"

#include <algorithm>
#include <utility>

#include "dsl/check/evaluate.h"
#include "dsl/check/repeat.h"
#include "dsl/lower/code_lowering.h"
#include "dsl/lower/lower_result.h"
#include "runtime/graph/float_kernel.h"
#include "runtime/graph/index_range.h"
#include "runtime/graph/inverse_map.h"

namespace dogged::dsl {
namespace {

const CheckedArray& ArrayOf(const CheckedRef& ref,
                            const CheckedProgram& program) {
  return program.arrays[ref.array];
}

// A call hands values of float to a kernel over doubles: the check has seen
// that it has a variant.
bool CallsFloatVariant(const CheckedTask& task, const CheckedProgram& program) {
  const CheckedKernel& kernel = program.kernels[task.call.kernel];
  const auto takes = [&kernel](ElementType type) {
    return std::find(kernel.elements.begin(), kernel.elements.end(), type) !=
           kernel.elements.end();
  };
  if (!takes(ElementType::kDouble) || takes(ElementType::kFloat)) return false;
  const auto is_float = [&program](const auto& value) {
    return ArrayOf(value.ref, program).element == ElementType::kFloat;
  };
  for (const CheckedArgument& arg : task.call.args) {
    const bool is_in = arg.kind == ast::Formal::Kind::kIn;
    if (is_in && is_float(task.uses[arg.index])) return true;
    if (arg.kind == ast::Formal::Kind::kOut &&
        is_float(task.creates[arg.index])) {
      return true;
    }
  }
  return false;
}

// The declared extents of some of a task's labels.
class ShapeBuilder {
 public:
  ShapeBuilder(int dims, const CheckedProgram& program)
      : program_(program), builder_(code_.code) {
    code_.code.index_count = std::max(1, dims);
    for (int d = 0; d < dims; ++d) indices_.push_back(builder_.Index(d));
  }
  void Add(const CheckedRef& ref) {
    const CheckedArray& array = ArrayOf(ref, program_);
    CodeScope scope{.program = &program_,
                    .dimensions = {},
                    .uses = {},
                    .creates = {},
                    .locals = {}};
    for (const AffineExpr& expr : Instantiate(ref, program_)) {
      scope.dimensions.push_back(builder_.Affine(expr, indices_));
    }
    for (const ast::Expr& extent : array.block) {
      const int32_t node = LowerExpr(extent, scope, builder_);
      code_.code.stores.push_back(
          {.element = ElementType::kInt64, .step = Step::kNone, .node = node});
    }
    code_.ranks.push_back(static_cast<int32_t>(array.block.size()));
  }
  ShapeCode Take() { return std::move(code_); }

 private:
  const CheckedProgram& program_;
  ShapeCode code_;
  CodeBuilder builder_;
  std::vector<int32_t> indices_;
};

// Fills in the affinity blocks of a `place` clause, x/64, y. Returns the first
// expression of another form, if there is one.
const ast::Expr* PlaceOf(const CheckedArray& array,
                         const CheckedProgram& program,
                         std::vector<int64_t>& out) {
  out.assign(array.rank, 0);
  for (const ast::Expr& place : array.place) {
    const ast::Expr* expr = &place;
    int64_t block = 1;
    if (expr->kind == ast::Expr::Kind::kBinary &&
        expr->op == ast::Op::kDivide) {
      block = EvaluateInteger(expr->args[1], {}, program).value_or(0);
      expr = &expr->args[0];
    }
    if (expr->kind != ast::Expr::Kind::kName ||
        expr->name_kind != ast::NameKind::kDimension || block < 1 ||
        out[expr->index] != 0) {
      return &place;
    }
    out[expr->index] = block;
  }
  return nullptr;
}

class PointMaker {
 public:
  PointMaker(const CheckedProgram& program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics) {}
  PointProgram Make(const std::string& name);

 private:
  void AddArray(const CheckedArray& array);
  void AddTask(const CheckedTask& task);
  void AddReduction(const CheckedTask& task, Domain domain);
  bool IsOfOneTask(const CheckedRef& ref, const Domain& domain);
  AffineExpr TimeOfPoints(const CheckedTask& task);
  void AddResult(const CheckedResult& result);
  CodeBody MakeCode(const CheckedTask& task) const;
  NativeBody MakeNative(const CheckedTask& task) const;
  InputBody MakeInput(const CheckedTask& task);

  const CheckedProgram& program_;
  Diagnostics& diagnostics_;
  PointProgram out_;
};

void PointMaker::AddArray(const CheckedArray& array) {
  PointArray point{.name = array.name,
                   .rank = array.rank,
                   .element = array.element,
                   .block_rank = static_cast<int32_t>(array.block.size()),
                   .box = {},
                   .place = {}};
  const ast::Expr* wrong = nullptr;
  if (!array.place.empty()) wrong = PlaceOf(array, program_, point.place);
  if (static_cast<int32_t>(array.lower.size()) == array.rank) {
    point.box = {IndexVector(array.lower), IndexVector(array.upper)};
  }
  for (const ast::Expr& extent : array.block) {
    point.elements *= std::max<int64_t>(
        1, EvaluateInteger(extent,
                           {point.box.lower.begin(),
                            static_cast<size_t>(point.box.lower.size())},
                           program_)
               .value_or(1));
  }
  if (wrong != nullptr) {
    diagnostics_
        .Error(Code::kNotSupported, wrong->range,
               "`place` takes indices, each once, by itself or divided by a "
               "number")
        .Help("as in  place x/64, y/64");
  }
  out_.arrays.push_back(std::move(point));
}

CodeBody PointMaker::MakeCode(const CheckedTask& task) const {
  CodeBody out;
  ShapeBuilder shapes(static_cast<int>(task.domain.dimensions.size()),
                      program_);
  for (const CheckedCreate& create : task.creates) {
    out.has_elements |= !ArrayOf(create.ref, program_).block.empty();
    shapes.Add(create.ref);
  }
  out.code = LowerCode(task, program_, out.has_elements);
  out.shapes = shapes.Take();
  return out;
}

NativeBody PointMaker::MakeNative(const CheckedTask& task) const {
  const CheckedKernel& kernel = program_.kernels[task.call.kernel];
  NativeBody out;
  out.kernel = CallsFloatVariant(task, program_) ? FloatVariantOf(kernel.name)
                                                 : kernel.name;
  out.library = kernel.library;
  const auto dims = static_cast<int>(task.domain.dimensions.size());
  ShapeBuilder in_shapes(dims, program_);
  ShapeBuilder out_shapes(dims, program_);
  out.scalars.index_count = std::max(1, dims);
  CodeBuilder builder(out.scalars);
  CodeScope scope{.program = &program_,
                  .dimensions = {},
                  .uses = {},
                  .creates = {},
                  .locals = {}};
  for (int d = 0; d < dims; ++d) scope.dimensions.push_back(builder.Index(d));
  const auto add_scalar = [&](const ast::Expr& expr) {
    const int32_t node = LowerExpr(expr, scope, builder);
    out.scalars.stores.push_back(
        {.element = ElementType::kDouble,
         .step = Step::kNone,
         .node = builder.Convert(node, IrType::kDouble)});
  };
  for (size_t a = 0; a < task.call.args.size(); ++a) {
    const CheckedArgument& argument = task.call.args[a];
    const std::string& name = kernel.formals[a].name.text;
    const int64_t i = argument.index;
    switch (argument.kind) {
      case ast::Formal::Kind::kIn:
        out.in.push_back(argument.index);
        out.names.insert(
            out.names.begin() + static_cast<ptrdiff_t>(out.in.size()) - 1,
            name);
        in_shapes.Add(task.uses[i].ref);
        break;
      case ast::Formal::Kind::kOut:
        out.out.push_back(argument.index);
        out.names.push_back(name);
        out.out_elements.push_back(
            ArrayOf(task.creates[i].ref, program_).element);
        out_shapes.Add(task.creates[i].ref);
        break;
      case ast::Formal::Kind::kScalar:
        add_scalar(argument.scalar);
        break;
    }
  }
  out.has_cost = task.cost.has_value();
  if (out.has_cost) add_scalar(*task.cost);
  out.in_shapes = in_shapes.Take();
  out.out_shapes = out_shapes.Take();
  return out;
}

InputBody PointMaker::MakeInput(const CheckedTask& task) {
  const CheckedRef& ref = task.creates.front().ref;
  const CheckedArray& array = ArrayOf(ref, program_);
  InputBody out;
  out.position = static_cast<int32_t>(out_.inputs.size());
  out.element = array.element;
  const Domain domain = Instantiate(task.domain, program_);
  const AffineMap label = Instantiate(ref, program_);
  // Each name stands in the label once, by itself.
  for (const AffineExpr& index : label) {
    if (index.LastIndex() >= 0) out.axis.push_back(index.LastIndex());
  }
  AffineMap indices;
  for (const int32_t d : out.axis) indices.push_back(AffineExpr::Index(d));
  for (const IndexRange& range : RangesOf(domain, indices)) {
    out.box.lower.push_back(range.lower);
    out.box.upper.push_back(range.upper);
    out.step.push_back(range.step);
  }
  ShapeBuilder shapes(static_cast<int>(task.domain.dimensions.size()),
                      program_);
  shapes.Add(ref);
  out.shapes = shapes.Take();
  // The extents of a full block, which are those of the first label.
  IndexVector first;
  const IndexVector first_task = out.TaskIndex(out.box.lower);
  for (const AffineExpr& expr : label) {
    first.push_back(expr.Evaluate(first_task));
  }
  for (const ast::Expr& extent : array.block) {
    out.block.push_back(
        EvaluateInteger(extent,
                        {first.begin(), static_cast<size_t>(first.size())},
                        program_)
            .value_or(0));
  }
  out_.inputs.push_back(array.name);
  return out;
}

AffineExpr PointMaker::TimeOfPoints(const CheckedTask& task) {
  const std::optional<AffineExpr> time = TimeOf(task.domain, program_);
  if (!time) {
    diagnostics_
        .Error(Code::kRepeat, task.range,
               "what 'repeat' finds may end one range here, by itself or plus "
               "a number")
        .Help("as in  for t = 1:T");
  }
  return time.value_or(AffineExpr());
}

void PointMaker::AddResult(const CheckedResult& result) {
  std::optional<PointResult> made = ResultOf(result, program_);
  const bool is_injective =
      made && InverseMap(made->map, made->domain).IsInjective();
  if (is_injective) {
    made->range = result.range;
    made->file = result.file;
    out_.results.push_back(*std::move(made));
    return;
  }
  if (!made || made->time.is_exact) {
    diagnostics_
        .Error(Code::kRepeat, result.range,
               "the rounds of these results can't be told apart")
        .Help("as in  result u(:)(T),  and one more for each  u(:)(T-1)");
    return;
  }
  diagnostics_
      .Error(Code::kResult, result.range,
             "these results may name a label twice")
      .Help("give each index under  for  a place of its own");
}

void PointMaker::AddReduction(const CheckedTask& task, Domain domain) {
  const CheckedUse& use = task.uses.front();
  const CheckedRef& created = task.creates.front().ref;
  PointReduction out{.name = task.name,
                     .kind = task.reduce,
                     .array = created.array,
                     .domain = std::move(domain),
                     .needed = std::nullopt,
                     .is_all_needed = task.is_all_needed,
                     .map = Instantiate(created, program_),
                     .source = use.ref.array,
                     .over = Instantiate(*use.over, program_),
                     .source_map = Instantiate(use.ref, program_)};
  out.time = TimeOfPoints(task);
  if (task.needed) out.needed = Instantiate(*task.needed, program_);
  out_.reductions.push_back(std::move(out));
}

// The analysis has shown that no two tasks create one label. That is not all:
// the task has to be found from the label, by equations.
bool PointMaker::IsOfOneTask(const CheckedRef& ref, const Domain& domain) {
  if (InverseMap(Instantiate(ref, program_), domain).IsInjective()) return true;
  diagnostics_
      .Error(Code::kNotSupported, ref.range,
             "this label does not tell all indices of its task")
      .Help(
          "let each stand in it, or have one value:  k = 5:5  or  where k == "
          "5");
  return false;
}

void PointMaker::AddTask(const CheckedTask& task) {
  const Domain domain = Instantiate(task.domain, program_);
  if (domain.size() > kMaxIndices - 1) {
    diagnostics_.Error(Code::kTooLarge, task.range,
                       "a task has at most 5 indices");
    return;
  }
  if (HullOf(domain).IsEmpty()) return;
  for (const CheckedCreate& create : task.creates) {
    if (!IsOfOneTask(create.ref, domain)) return;
  }
  if (task.body == CheckedTask::Body::kReduce) {
    AddReduction(task, domain);
    return;
  }
  PointClass out;
  out.name = task.name;
  out.domain = domain;
  out.time = TimeOfPoints(task);
  if (task.priority) out.priority = Instantiate(*task.priority, program_);
  if (task.needed) out.needed = Instantiate(*task.needed, program_);
  for (const CheckedCreate& create : task.creates) {
    out.creates.push_back(
        {.array = create.ref.array, .map = Instantiate(create.ref, program_)});
  }
  for (const CheckedUse& use : task.uses) {
    out.uses.push_back({.array = use.ref.array,
                        .map = Instantiate(use.ref, program_),
                        .guard = Instantiate(use.guard, program_),
                        .gather = use.gather ? use.gather->tables : nullptr});
  }
  switch (task.body) {
    case CheckedTask::Body::kCode:
      out.body = PointClass::Body::kCode;
      out.code = MakeCode(task);
      break;
    case CheckedTask::Body::kCall:
      out.body = PointClass::Body::kNative;
      out.native = MakeNative(task);
      break;
    case CheckedTask::Body::kFile:
      out.body = PointClass::Body::kInput;
      out.input = MakeInput(task);
      break;
    case CheckedTask::Body::kReduce:
      break;  // not here
  }
  out_.classes.push_back(std::move(out));
}

PointProgram PointMaker::Make(const std::string& name) {
  out_.name = name;
  out_.every_task_needed = program_.every_task_needed;
  if (program_.repeat) {
    const CheckedParameter& parameter =
        program_.parameters[program_.repeat->parameter];
    out_.repeat = Repeat{.parameter = parameter.name,
                         .first = program_.repeat->first,
                         .last = parameter.integer,
                         .step = program_.repeat->step,
                         .array = program_.FindArray(kConditionArray)};
  }
  for (const CheckedArray& array : program_.arrays) AddArray(array);
  for (const CheckedTask& task : program_.tasks) AddTask(task);
  for (const CheckedResult& result : program_.results) {
    // The condition of a loop is no result.
    if (out_.repeat && result.ref.array == out_.repeat->array) continue;
    AddResult(result);
  }
  return std::move(out_);
}

}  // namespace

PointProgram MakePointProgram(const CheckedProgram& program,
                              const std::string& name,
                              Diagnostics& diagnostics) {
  return PointMaker(program, diagnostics).Make(name);
}
}  // namespace dogged::dsl
