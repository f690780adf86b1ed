#include "dsl/check/check.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/checker.h"
#include "dsl/check/evaluate.h"
#include "dsl/check/repeat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Formal;
using ast::NameKind;

// The names in an expression that are not in `scope`, in order, each once.
void CollectFree(const Expr& expr, Scope& scope,
                 std::vector<ast::Name>& names) {
  if (expr.kind == Expr::Kind::kName && scope.Find(expr.text) == nullptr) {
    for (const ast::Name& name : names) {
      if (name.text == expr.text) return;
    }
    names.push_back({expr.text, expr.range});
  }
  for (const Expr& arg : expr.args) CollectFree(arg, scope, names);
}

// More than anybody writes would keep the analysis, which looks at pairs, busy
// for hours.
constexpr size_t kDeclarationsMax = 1000;
constexpr size_t kStatementsMax = 10'000;

template <typename T>
bool AreTooMany(const std::vector<T>& items, size_t most,
                absl::string_view what, SourceRange range,
                Diagnostics& diagnostics) {
  if (items.size() <= most) return false;
  diagnostics
      .Error(Code::kTooLarge, range,
             absl::StrCat(items.size(), " ", what, "; at most ", most,
                          " are possible"))
      .Help("one task has many points:  for x = 0:N-1");
  return true;
}

bool IsTooLong(const ast::Program& program, Diagnostics& diagnostics) {
  const auto too_many = [&diagnostics](const auto& items,
                                       absl::string_view what) {
    return !items.empty() && AreTooMany(items, kDeclarationsMax, what,
                                        items.back().range, diagnostics);
  };
  bool out = too_many(program.parameters, "parameters");
  out |= too_many(program.arrays, "arrays");
  out |= too_many(program.inputs, "inputs");
  out |= too_many(program.kernels, "kernels");
  out |= too_many(program.boundaries, "boundaries");
  out |= too_many(program.tasks, "tasks");
  out |= too_many(program.reductions, "reductions");
  out |= too_many(program.results, "results");
  for (const ast::Task& task : program.tasks) {
    const SourceRange at = task.name.range;
    out |= AreTooMany(task.creates, kDeclarationsMax,
                      "labels that a task creates", at, diagnostics);
    out |= AreTooMany(task.uses, kDeclarationsMax, "labels that a task uses",
                      at, diagnostics);
    out |=
        AreTooMany(task.code, kStatementsMax, "lines of code", at, diagnostics);
    if (out) break;
  }
  return out;
}

std::string Counted(size_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string HelpWithoutInput(const ast::Program& program,
                             const std::string& name) {
  for (const ast::Task& task : program.tasks) {
    for (const ast::Create& create : task.creates) {
      if (create.ref.array.text != name) continue;
      return absl::StrCat("task ", task.name.text, " makes ", Print(create.ref),
                          "; what a file gives is declared as an input");
    }
  }
  return absl::StrCat("declare it:  input ", name, "(x) for x = 0:N-1");
}

}  // namespace

void Checker::DeclareArray(const ast::Array& declared) {
  if (program_.FindArray(declared.name.text) >= 0) {
    diagnostics_.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat("there is an array ", declared.name.text, " already"));
    return;
  }
  CheckedArray out;
  out.name = declared.name.text;
  out.rank = static_cast<int32_t>(declared.indices.size());
  out.element = declared.element;
  out.range = declared.name.range;
  Scope scope = ParameterScope();
  std::vector<ast::Dimension> indices = declared.indices;
  for (size_t i = 0; i < indices.size(); ++i) {
    // A name that no program can write.
    if (indices[i].name.text.empty()) {
      indices[i].name = {absl::StrCat("index ", i + 1), indices[i].range.range};
    }
  }
  out.declared = DomainOf(indices, scope);
  for (const Expr& extent : declared.block) {
    const auto value = ValueOf(extent, Type::kInt64, "an extent", scope);
    if (value) out.block.push_back(*value);
  }
  if (declared.block.size() > static_cast<size_t>(kMaxIndices)) {
    diagnostics_.Error(
        Code::kTooLarge, declared.range,
        absl::StrCat("at most ", kMaxIndices, " extents are possible"));
    out.block.clear();
  }
  for (const Expr& place : declared.place) {
    const auto value = ValueOf(place, Type::kInt64, "'place'", scope);
    if (value) out.place.push_back(*value);
  }
  program_.arrays.push_back(std::move(out));
}

void Checker::DeclareKernel(const ast::Kernel& declared) {
  for (const CheckedKernel& other : program_.kernels) {
    if (other.name != declared.name.text) continue;
    diagnostics_.Error(
        Code::kDefinedTwice, declared.name.range,
        absl::StrCat("there is a kernel ", other.name, " already, on line ",
                     diagnostics_.LineAndColumn(other.range.begin).first));
  }
  program_.kernels.push_back({.name = declared.name.text,
                              .formals = declared.formals,
                              .library = declared.library,
                              .elements = {},
                              .range = declared.name.range});
  if (declared.library.empty() && options_.kernels != nullptr) {
    MatchNative(declared);
  }
}

void Checker::MatchNative(const ast::Kernel& declared) {
  const NativeKernel* native = options_.kernels->Find(declared.name.text);
  if (native == nullptr) {
    diagnostics_
        .Error(Code::kKernel, declared.name.range,
               absl::StrCat(
                   "no kernel is called ", declared.name.text,
                   DidYouMean(declared.name.text, options_.kernels->Names())))
        .Help(absl::StrCat("there are ",
                           absl::StrJoin(options_.kernels->Names(), ", "),
                           "; one of your own:  kernel ", declared.name.text,
                           "(...) from \"mine.so\""));
    return;
  }
  int in = 0;
  int out = 0;
  int scalars = 0;
  for (const Formal& formal : declared.formals) {
    switch (formal.kind) {
      case Formal::Kind::kIn:
        ++in;
        break;
      case Formal::Kind::kOut:
        ++out;
        break;
      case Formal::Kind::kScalar:
        ++scalars;
        break;
    }
  }
  if (in == native->in_count && out == native->out_count &&
      native->TakesScalars(scalars)) {
    program_.kernels.back().elements = native->elements;
    return;
  }
  diagnostics_.Error(
      Code::kKernel, declared.name.range,
      absl::StrCat("the kernel ", declared.name.text, " has ", native->in_count,
                   " in, ", native->out_count, " out and ",
                   Counted(static_cast<size_t>(native->scalar_count), "number"),
                   "; declared are ", in, " in, ", out, " out and ",
                   Counted(static_cast<size_t>(scalars), "number")));
}

void Checker::InputFiles(const ast::Program& program) {
  std::vector<std::string> names;
  for (const ast::Input& input : program.inputs) {
    names.push_back(input.ref.array.text);
  }
  for (const std::string& given : options_.input_files) {
    bool is_declared = false;
    for (const std::string& name : names) {
      is_declared = is_declared || name == given;
    }
    if (is_declared) continue;
    const std::string meant = DidYouMean(given, names);
    Diagnostic& error = diagnostics_.Error(
        Code::kNoInput, {},
        absl::StrCat("--input ", given, "=...: the program has no input ",
                     given, meant));
    if (meant.empty()) error.Help(HelpWithoutInput(program, given));
  }
}

// A file is an array, so the indices of an input are plain.
void Checker::FileIndices(const ast::Input& declared, const CheckedTask& task) {
  std::vector<int> seen(task.domain.dimensions.size());
  for (size_t i = 0; i < task.creates[0].ref.index.size(); ++i) {
    const LinearForm& form = task.creates[0].ref.index[i];
    int dims = 0;
    bool is_plain = true;
    for (size_t d = 0; d < form.dims.size(); ++d) {
      if (form.dims[d] == 0) continue;
      ++dims;
      is_plain = is_plain && form.dims[d] == 1 && ++seen[d] == 1;
    }
    if (dims > 1 || !is_plain) {
      diagnostics_.Error(
          Code::kNotSupported, declared.ref.index[i].range,
          "an input from a file has plain indices: each name once, by itself");
      return;
    }
  }
  for (size_t d = 0; d < seen.size(); ++d) {
    if (seen[d] > 0) continue;
    const ast::Name& index = declared.dimensions[d].name;
    diagnostics_
        .Error(Code::kNotSupported, index.range,
               absl::StrCat("an input from a file has no index ", index.text,
                            " that is not in ", Print(declared.ref)))
        .Help("leave it out, or let it stand in the label");
    return;
  }
}

void Checker::Input(const ast::Input& declared) {
  CheckedTask task;
  task.name = absl::StrCat("input ", Print(declared.ref));
  task.origin = CheckedTask::Origin::kInput;
  task.range = declared.ref.range;
  Scope scope = ParameterScope();
  task.domain = DomainOf(declared.dimensions, scope);
  if (declared.dimensions.empty()) {
    scope.unknown_help = "give the index a range, as in  for i = 0:N-1";
  }
  const auto ref = RefOf(declared.ref, scope,
                         static_cast<int>(task.domain.dimensions.size()));
  if (!ref) return;
  const CheckedArray& array = ArrayAt(ref->array);
  const std::string name = array.name;
  task.creates.push_back({.ref = *ref, .name = name});
  const bool must_have = !declared.else_call && !declared.else_value;
  const bool has_file = options_.assume_input_files ||
                        options_.input_files.count(name) > 0 ||
                        (options_.may_lack_inputs && must_have);
  if (declared.else_call) {
    Call(*declared.else_call, scope, task);
  } else if (declared.else_value) {
    if (!array.block.empty()) {
      diagnostics_
          .Error(Code::kType, declared.else_value->range,
                 absl::StrCat(name,
                              " is a block of values, which code can't "
                              "compute"))
          .Help(absl::StrCat("else call name(", name, ", ...)"));
      return;
    }
    auto value = ValueOf(*declared.else_value, TypeOf(array.element),
                         "the value behind 'else'", scope);
    if (!value) return;
    task.code.push_back({.target = NameKind::kCreate,
                         .index = 0,
                         .name = name,
                         .value = *std::move(value)});
  } else if (!has_file) {
    diagnostics_
        .Error(Code::kNoInput, declared.ref.range,
               absl::StrCat("input ", name, " has no file and no 'else'"))
        .Help(absl::StrCat("give it one:  --input ", name, "=FILE.npy"));
    return;
  }
  if (has_file) {
    FileIndices(declared, task);
    task.body = CheckedTask::Body::kFile;
  }
  program_.tasks.push_back(std::move(task));
}

// Finds the index that periodic(x) names. False after an error.
bool Checker::Periodic(const ast::Boundary& declared, CheckedBoundary& out) {
  const ast::Name& name = declared.periodic;
  for (size_t i = 0; i < out.free.size(); ++i) {
    if (out.free[i] == name.text) out.periodic_free = static_cast<int32_t>(i);
  }
  int mentioned = 0;
  bool is_plain = false;
  for (size_t i = 0; i < declared.ref.index.size(); ++i) {
    const LinearForm& form = out.ref.index[i];
    if (out.periodic_free < 0) break;
    if (form.dims[static_cast<size_t>(out.periodic_free)] == 0) continue;
    ++mentioned;
    out.periodic_index = static_cast<int32_t>(i);
    is_plain = declared.ref.index[i].kind == Expr::Kind::kName;
  }
  if (mentioned == 1 && is_plain) return true;
  diagnostics_
      .Error(Code::kBoundary, name.range,
             absl::StrCat("a periodic index stands by itself in ",
                          Print(declared.ref), DidYouMean(name.text, out.free)))
      .Help("as in  boundary phi(x)(t) = periodic(x)");
  return false;
}

void Checker::Boundary(const ast::Boundary& declared) {
  CheckedBoundary out;
  out.name = absl::StrCat("boundary ", Print(declared.ref));
  out.range = declared.ref.range;
  Scope scope = ParameterScope();
  std::vector<ast::Name> names;
  for (const Expr& index : declared.ref.index) {
    CollectFree(index, scope, names);
  }
  if (names.size() > static_cast<size_t>(kMaxIndices)) {
    diagnostics_.Error(
        Code::kTooLarge, declared.ref.range,
        absl::StrCat("at most ", kMaxIndices, " indices are possible"));
    return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    AddName(names[i], NameKind::kDimension, static_cast<int32_t>(i),
            Type::kInt64, false, scope);
    out.free.push_back(names[i].text);
  }
  const int dim_count = static_cast<int>(names.size());
  const auto ref = RefOf(declared.ref, scope, dim_count);
  if (!ref) return;
  out.ref = *ref;
  const CheckedArray& array = ArrayAt(ref->array);
  if (!array.block.empty()) {
    diagnostics_
        .Error(Code::kNotSupported, declared.range,
               "boundaries of block values are not supported yet")
        .Help("write a task that calls a kernel");
    return;
  }
  if (!declared.periodic.text.empty()) {
    if (!Periodic(declared, out)) return;
  } else {
    const auto value = ValueOf(declared.value, TypeOf(array.element),
                               "the value of a boundary", scope);
    if (!value) return;
    out.value = *value;
  }
  Restrict(declared.where, scope, dim_count, out.where);
  program_.boundaries.push_back(std::move(out));
}

// u(5:20) is u(x) for x = 5:20, where no program can write this name for x.
void Checker::NameRanges(ast::Ref& ref,
                         std::vector<ast::Dimension>& dimensions) {
  for (size_t i = 0; i < ref.last.size(); ++i) {
    if (!ref.last[i]) continue;
    ast::Expr& index = ref.index[i];
    const SourceRange range = Join(index.range, ref.last[i]->range);
    const std::string name = absl::StrCat("index ", i + 1);
    dimensions.push_back(
        {.name = {.text = name, .range = range},
         .range = {.lower = index, .upper = *ref.last[i], .range = range}});
    index = {.kind = ast::Expr::Kind::kName, .range = range, .text = name};
  }
}

// Every array that something reads or wants has something that creates it.
void Checker::Creators(const ast::Program& program) {
  std::vector<bool> is_created(program_.arrays.size());
  std::vector<std::string> names;
  const auto create = [&](const ast::Ref& ref) {
    const int32_t array = program_.FindArray(ref.array.text);
    if (array < 0 || is_created[static_cast<size_t>(array)]) return;
    is_created[static_cast<size_t>(array)] = true;
    names.push_back(ref.array.text);
  };
  for (const ast::Input& input : program.inputs) create(input.ref);
  for (const ast::Boundary& boundary : program.boundaries) {
    create(boundary.ref);
  }
  for (const ast::Reduction& r : program.reductions) create(r.ref);
  for (const ast::Task& task : program.tasks) {
    for (const ast::Create& c : task.creates) create(c.ref);
  }
  std::vector<bool> is_wanted(program_.arrays.size());
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedUse& use : task.uses) {
      is_wanted[static_cast<size_t>(use.ref.array)] = true;
    }
  }
  for (const CheckedResult& result : program_.results) {
    is_wanted[static_cast<size_t>(result.ref.array)] = true;
  }
  for (size_t a = 0; a < program_.arrays.size(); ++a) {
    if (is_created[a]) continue;
    const CheckedArray& array = program_.arrays[a];
    if (!is_wanted[a]) {
      diagnostics_.Warning(Code::kUnused, array.range,
                           absl::StrCat("nothing uses the array ", array.name));
      continue;
    }
    diagnostics_
        .Error(Code::kNoProducer, array.range,
               absl::StrCat("nothing creates ", array.name,
                            DidYouMean(array.name, names)))
        .Help("a task, an input or a boundary must");
  }
}

CheckedProgram Checker::Run(const ast::Program& program) {
  if (IsTooLong(program, diagnostics_)) return {};
  const std::set<std::string> arrays = ArrayNames(program);
  array_names_.assign(arrays.begin(), arrays.end());
  mentions_ = MentionsOf(program);
  Parameters(program);
  if (!program.repeats.empty()) Repeat(program.repeats.front());
  for (const ast::Array& array : program.arrays) DeclareArray(array);
  for (const ast::Kernel& kernel : program.kernels) DeclareKernel(kernel);
  for (const ast::Input& input : program.inputs) Input(input);
  InputFiles(program);
  // Reductions come first, for they have the element types of their sources.
  for (const ast::Reduction& r : program.reductions) Reduction(r);
  if (!diagnostics_.HasErrors()) TypeReductions();
  for (const ast::Task& task : program.tasks) Task(task);
  for (const ast::Boundary& boundary : program.boundaries) Boundary(boundary);
  for (const ast::Result& result : program.results) Result(result);
  if (!diagnostics_.HasErrors()) Creators(program);
  if (program_.tasks.empty() && !diagnostics_.HasErrors()) {
    diagnostics_.Error(Code::kResult, {}, "the program has no task");
  }
  return std::move(program_);
}

// Fills in CheckedProgram::repeat, and moves the loop's parameter to its last
// round.
void Checker::Repeat(const ast::Repeat& declared) {
  Scope scope = ParameterScope();
  const auto first = ValueOf(declared.rounds.lower, Type::kInt64,
                             "the first value of a loop", scope);
  if (!first || diagnostics_.HasErrors()) return;
  CheckedRepeat out;
  out.parameter = static_cast<int32_t>(program_.parameters.size()) - 1;
  out.first = EvaluateInteger(*first, {}, program_).value_or(0);
  out.step = declared.rounds.step;
  out.range = declared.range;
  CheckedParameter& parameter = program_.parameters.back();
  if (parameter.integer >= out.first) {
    parameter.integer -= (parameter.integer - out.first) % out.step;
    parameter.real = static_cast<double>(parameter.integer);
  } else {
    diagnostics_
        .Error(Code::kRepeat, declared.rounds.range,
               absl::StrCat("the loop has no round: ", declared.name.text,
                            " begins at ", out.first))
        .Help("as in  repeat T = 100:2000:100 until change(T) < 1.0e-6");
  }
  program_.repeat = out;
}

CheckedProgram Check(const ast::Program& program, const CheckOptions& options,
                     Diagnostics& diagnostics) {
  if (!program.repeats.empty()) {
    bool is_given = false;
    for (const auto& [name, text] : options.parameters) {
      is_given |= name == program.repeats.front().name.text;
    }
    const ast::Program written = WriteOutRepeat(program, is_given, diagnostics);
    if (diagnostics.HasErrors()) return {};
    CheckedProgram out = Checker(options, diagnostics).Run(written);
    NameRounds(out);
    if (!is_given) return out;
    for (const std::string& name : ArraysOfCondition(program)) {
      const int32_t array = out.FindArray(name);
      if (array >= 0) out.condition_arrays.push_back(array);
    }
    return out;
  }
  return Checker(options, diagnostics).Run(program);
}

}  // namespace dogged::dsl
