#include "dsl/lower/index_tables.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dsl/check/evaluate.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/text/print.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

using ast::Expr;

// Kind of the spec of a file that tables were read from.
constexpr char kIndexFile[] = "index-file";
// Points of a class that are looked at for one that reads by a place.
constexpr int64_t kReadersMax = 1'000'000;

// An input whose elements stand in indices: its labels, whose indices are the
// task's, each by itself, in any order, or numbers.
struct KnownInput {
  const CheckedTask* task = nullptr;
  Domain domain;
  AffineMap label;
  std::vector<int32_t> axis;       // by dimension of the file: of the domain
  std::vector<IndexRange> ranges;  // likewise
  const Value* file = nullptr;     // null: made by the task's code
};

// Dimensions that `expr` mentions.
void CollectDims(const Expr& expr, std::set<int32_t>& out) {
  if (expr.kind == Expr::Kind::kName &&
      expr.name_kind == ast::NameKind::kDimension) {
    out.insert(expr.index);
  }
  for (const Expr& arg : expr.args) CollectDims(arg, out);
}

// Arrays of which `expr` has elements.
void CollectArrays(const Expr& expr, std::map<int32_t, SourceRange>& out) {
  if (expr.kind == Expr::Kind::kFunction &&
      expr.name_kind == ast::NameKind::kArray) {
    out.try_emplace(expr.index, expr.range);
  }
  for (const Expr& arg : expr.args) CollectArrays(arg, out);
}

class TableMaker {
 public:
  TableMaker(const std::map<std::string, Value>& files, GivenBy given_by,
             CheckedProgram& program, Diagnostics& diagnostics)
      : files_(files),
        given_by_(given_by),
        program_(program),
        diagnostics_(diagnostics) {}

  void Fill() {
    if (diagnostics_.HasErrors()) return;
    for (CheckedTask& task : program_.tasks) {
      for (CheckedUse& use : task.uses) {
        if (!use.gather) continue;
        if (!AddInputs(*use.gather)) return;
        if (!FillUse(task, use)) return;
      }
    }
    LeaveOutInputs();
  }
  std::vector<std::string> TakeFiles() { return std::move(read_files_); }

 private:
  bool AddInputs(const CheckedGather& gather);
  bool AddInput(int32_t array, SourceRange read_at);
  bool FillUse(const CheckedTask& task, CheckedUse& use);
  std::optional<int64_t> Element(int32_t array,
                                 absl::Span<const int64_t> index);
  std::optional<int64_t> ElementOf(const KnownInput& input,
                                   absl::Span<const int64_t> index) const;
  std::optional<int64_t> Evaluate(const Expr& expr,
                                  const std::vector<int64_t>& dims) {
    return EvaluateInteger(
        expr, dims, program_,
        [this](int32_t array, absl::Span<const int64_t> index) {
          return Element(array, index);
        });
  }
  void ReportPlace(const CheckedTask& task, const CheckedUse& use,
                   const std::vector<int64_t>& dims);
  void LeaveOutInputs();

  const std::map<std::string, Value>& files_;
  const GivenBy given_by_;
  CheckedProgram& program_;
  Diagnostics& diagnostics_;
  absl::flat_hash_map<int32_t, std::vector<KnownInput>> inputs_;  // by array
  std::vector<std::string> read_files_;
  std::string lacking_;  // the element that was asked for last and is not there
  int64_t places_ = 0;   // of all tables
};

bool TableMaker::AddInputs(const CheckedGather& gather) {
  std::map<int32_t, SourceRange> arrays;
  for (const CheckedGather::Entry& entry : gather.entries) {
    CollectArrays(entry.value, arrays);
  }
  return std::all_of(arrays.begin(), arrays.end(), [this](const auto& one) {
    return AddInput(one.first, one.second);
  });
}

bool TableMaker::AddInput(int32_t array, SourceRange read_at) {
  if (inputs_.contains(array)) return true;
  const std::string& name = program_.arrays[array].name;
  const auto fail = [&](absl::string_view why) -> Diagnostic& {
    return diagnostics_.Error(
        Code::kNoInput, read_at,
        absl::StrCat("indices are read from ", name, ", ", why));
  };
  std::vector<KnownInput> found;
  for (const CheckedTask& task : program_.tasks) {
    const bool is_made_here = std::any_of(
        task.creates.begin(), task.creates.end(),
        [array](const auto& create) { return create.ref.array == array; });
    if (!is_made_here) continue;
    if (task.origin != CheckedTask::Origin::kInput) {
      fail(absl::StrCat("which ", task.name, " makes as the program runs"))
          .Help("an input alone is known before");
      return false;
    }
    KnownInput input{.task = &task,
                     .domain = Instantiate(task.domain, program_),
                     .label = Instantiate(task.creates.front().ref, program_)};
    AffineMap indices;
    for (const AffineExpr& index : input.label) {
      const int d = index.LastIndex();
      if (d < 0) continue;
      if (!(index == AffineExpr::Index(d)) ||
          std::count(input.axis.begin(), input.axis.end(), d) > 0) {
        fail("whose indices are not each a name by itself")
            .Help(absl::StrCat("as in  input ", name, "(i) for i = 0:N-1"));
        return false;
      }
      input.axis.push_back(d);
      indices.push_back(AffineExpr::Index(d));
    }
    if (std::ssize(input.axis) < input.domain.size()) {
      fail("an index of which is not in its label");
      return false;
    }
    input.ranges = RangesOf(input.domain, indices);
    if (task.body == CheckedTask::Body::kCall) {
      fail("which a kernel makes as the program runs")
          .Help("give a file, or an expression behind 'else'");
      return false;
    }
    if (task.body == CheckedTask::Body::kFile) {
      const auto file = files_.find(name);
      if (file == files_.end()) {
        fail("which has no file here")
            .Help(absl::StrCat("give it:  ",
                               InputWords(given_by_, name, "FILE.npy")));
        return false;
      }
      input.file = &file->second;
      read_files_.push_back(name);
      Shape shape;
      for (const IndexRange& range : input.ranges) {
        shape.push_back(range.Count());
      }
      if (file->second.type() != ElementType::kInt64) {
        fail(
            absl::StrCat("whose file holds ", ElementName(file->second.type())))
            .Help(absl::StrCat("indices are int64: in Python  np.save(\"", name,
                               ".npy\", a.astype('<i8'))"));
        return false;
      }
      if (!(file->second.shape() == shape)) {
        fail(absl::StrCat("whose file has shape ",
                          ShapeText(file->second.shape()), "; declared is ",
                          ShapeText(shape)))
            .Help("change the range of its indices, or the file");
        return false;
      }
    }
    found.push_back(std::move(input));
  }
  inputs_[array] = std::move(found);
  return true;
}

std::optional<int64_t> TableMaker::ElementOf(
    const KnownInput& input, absl::Span<const int64_t> index) const {
  std::vector<int64_t> task(static_cast<size_t>(input.domain.size()));
  size_t dimension = 0;
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    if (input.label[i].IsConstant()) {
      if (index[i] != input.label[i].constant) return std::nullopt;
      continue;
    }
    const IndexRange& range = input.ranges[dimension];
    if (index[i] < range.lower || index[i] > range.upper ||
        (index[i] - range.lower) % range.step != 0) {
      return std::nullopt;
    }
    offset = offset * range.Count() + (index[i] - range.lower) / range.step;
    task[input.axis[dimension++]] = index[i];
  }
  if (!input.domain.Contains(IndexVector(task))) return std::nullopt;
  if (input.file != nullptr) return input.file->span<int64_t>()[offset];
  return EvaluateInteger(input.task->code.front().value, task, program_);
}

std::optional<int64_t> TableMaker::Element(int32_t array,
                                           absl::Span<const int64_t> index) {
  for (const KnownInput& input : inputs_[array]) {
    if (const auto value = ElementOf(input, index)) return value;
  }
  lacking_ =
      absl::StrCat(program_.arrays[array].name, IndexVector(index).ToString());
  return std::nullopt;
}

// True if a task of `task` with these values of `dims` reads by `use`.
bool IsReadAt(const Domain& domain, const Guard& guard,
              const std::vector<int32_t>& dims, const IndexVector& at) {
  Domain there = domain;
  for (size_t i = 0; i < dims.size(); ++i) {
    const AffineExpr value = AffineExpr::Constant(at[static_cast<int>(i)]);
    there.Narrow({.expr = AffineExpr::Index(dims[i]) - value,
                  .kind = Constraint::Kind::kZero});
  }
  bool is_read = false;
  int64_t left = kReadersMax;
  there.ForEach([&](const IndexVector& index) {
    is_read = guard.Holds(index);
    return !is_read && --left > 0;
  });
  return is_read || left == 0;
}

bool TableMaker::FillUse(const CheckedTask& task, CheckedUse& use) {
  CheckedGather& gather = *use.gather;
  std::set<int32_t> mentioned;
  for (const CheckedGather::Entry& entry : gather.entries) {
    CollectDims(entry.value, mentioned);
  }
  auto tables = std::make_shared<Gather>();
  tables->dims.assign(mentioned.begin(), mentioned.end());
  const Domain domain = Instantiate(task.domain, program_);
  const Guard guard = Instantiate(use.guard, program_);
  AffineMap map;
  for (const int32_t d : tables->dims) map.push_back(AffineExpr::Index(d));
  for (const IndexRange& range : RangesOf(domain, map)) {
    tables->lower.push_back(range.lower);
    tables->extents.push_back(
        std::max<int64_t>(0, range.upper - range.lower + 1));
  }
  const int64_t count = tables->PlaceCount();
  places_ += count;
  if (count > Gather::kPlacesMax || places_ > Gather::kPlacesMax) {
    diagnostics_
        .Error(Code::kTooLarge, use.ref.range,
               absl::StrCat("tables of indices have more than ",
                            Gather::kPlacesMax, " places"))
        .Help(
            "a table is as large as the ranges of the indices that stand in "
            "it; what is affine may stand outside of it, as x in  x + d(k)");
    return false;
  }
  for (const CheckedGather::Entry& entry : gather.entries) {
    tables->tables.push_back({.position = entry.position});
    tables->tables.back().values.resize(count);
  }
  std::vector<int64_t> dims(task.domain.dimensions.size());
  for (int64_t place = 0; place < count; ++place) {
    const IndexVector at = tables->At(place);
    for (size_t i = 0; i < tables->dims.size(); ++i) {
      dims[tables->dims[i]] = at[static_cast<int>(i)];
    }
    bool is_known = true;
    for (size_t t = 0; t < gather.entries.size(); ++t) {
      const auto value = Evaluate(gather.entries[t].value, dims);
      is_known = is_known && value && *value <= Gather::kValueMax &&
                 *value >= -Gather::kValueMax;
      tables->tables[t].values[place] = is_known ? *value : Gather::kNone;
    }
    if (is_known) continue;
    for (Gather::Table& table : tables->tables) {
      table.values[place] = Gather::kNone;
    }
    if (!IsReadAt(domain, guard, tables->dims, at)) continue;
    ReportPlace(task, use, dims);
    return false;
  }
  gather.tables = std::move(tables);
  return true;
}

void TableMaker::ReportPlace(const CheckedTask& task, const CheckedUse& use,
                             const std::vector<int64_t>& dims) {
  std::string where;
  for (const CheckedGather::Entry& entry : use.gather->entries) {
    std::set<int32_t> mentioned;
    CollectDims(entry.value, mentioned);
    lacking_.clear();
    const auto value = Evaluate(entry.value, dims);
    if (value && *value <= Gather::kValueMax && *value >= -Gather::kValueMax) {
      continue;
    }
    for (const int32_t d : mentioned) {
      absl::StrAppend(&where, where.empty() ? " at " : ", ",
                      task.domain.dimensions[d].name, " = ", dims[d]);
    }
    diagnostics_
        .Error(Code::kOutOfRange, entry.value.range,
               value ? absl::StrCat(Print(entry.value), " is ", *value, where,
                                    ", which is no index: it is beyond 2^40")
               : lacking_.empty()
                   ? absl::StrCat(Print(entry.value), where,
                                  " is no number: it divides by zero, or is "
                                  "beyond int64")
                   : absl::StrCat("there is no ", lacking_, ", which ",
                                  task.name, " reads an index from", where))
        .Help(lacking_.empty()
                  ? ""
                  : "widen the input, or leave the point out:  where ...");
    return;
  }
}

// Elements in indices are in the tables: nobody needs their labels.
void TableMaker::LeaveOutInputs() {
  std::vector<bool> is_needed(program_.arrays.size(), false);
  for (const CheckedTask& task : program_.tasks) {
    for (const CheckedUse& use : task.uses) is_needed[use.ref.array] = true;
  }
  for (const CheckedResult& result : program_.results) {
    is_needed[result.ref.array] = true;
  }
  std::erase_if(program_.tasks, [&](const CheckedTask& task) {
    const int32_t array = task.creates.front().ref.array;
    return inputs_.contains(array) && !is_needed[array];
  });
}

}  // namespace

std::vector<std::string> FillTables(const std::map<std::string, Value>& files,
                                    GivenBy given_by, CheckedProgram& program,
                                    Diagnostics& diagnostics) {
  TableMaker maker(files, given_by, program, diagnostics);
  maker.Fill();
  return maker.TakeFiles();
}

std::vector<std::string> LackingIndexFiles(
    const std::map<std::string, Value>& files, const CheckedProgram& program) {
  std::map<int32_t, SourceRange> arrays;
  for (const CheckedTask& task : program.tasks) {
    for (const CheckedUse& use : task.uses) {
      if (!use.gather) continue;
      for (const CheckedGather::Entry& entry : use.gather->entries) {
        CollectArrays(entry.value, arrays);
      }
    }
  }
  std::vector<std::string> out;
  for (const CheckedTask& task : program.tasks) {
    const int32_t array = task.creates.front().ref.array;
    const std::string& name = program.arrays[array].name;
    if (task.body == CheckedTask::Body::kFile && arrays.contains(array) &&
        !files.contains(name)) {
      out.push_back(name);
    }
  }
  return out;
}

// Neighbours mostly name neighbours: differences are short.
KernelSpec IndexFileSpec(const std::string& array, const Value& content) {
  Encoder out;
  content.shape().Encode(out);
  uint64_t before = 0;
  for (const int64_t value : content.span<int64_t>()) {
    out.PutSigned(static_cast<int64_t>(static_cast<uint64_t>(value) - before));
    before = static_cast<uint64_t>(value);
  }
  return {.name = array, .kind = kIndexFile, .body = out.Take()};
}

std::map<std::string, Value> IndexFilesOf(const Program& program) {
  std::map<std::string, Value> out;
  for (const KernelSpec& spec : program.kernels) {
    if (spec.kind != kIndexFile) continue;
    Decoder in(spec.body);
    const Shape shape = Shape::Decode(in);
    const int64_t count = in.ok() ? ElementCount(shape) : 0;
    if (count < 0 || count > in.remaining()) continue;
    Value content = Value::Allocate(ElementType::kInt64, shape);
    uint64_t before = 0;
    for (int64_t& value : content.mutable_span<int64_t>()) {
      before += static_cast<uint64_t>(in.GetSigned());
      value = static_cast<int64_t>(before);
    }
    if (in.Finish("an index file").ok()) out[spec.name] = std::move(content);
  }
  return out;
}

}  // namespace dogged::dsl
