#include "runtime/graph/program.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/index_range.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

absl::Status Invalid(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

bool InRange(int64_t position, size_t size) {
  return position >= 0 && position < static_cast<int64_t>(size);
}

// The map must give the array's rank and mention only the domain's indices.
absl::Status CheckMap(const Program& program, int32_t array,
                      const AffineMap& map, int domain_size,
                      absl::string_view where) {
  if (!InRange(array, program.arrays.size())) {
    return Invalid(where, absl::StrCat("no array ", array));
  }
  const Array& target = program.arrays[array];
  if (std::ssize(map) != target.rank) {
    return Invalid(where, absl::StrCat(target.name, " has ", target.rank,
                                       " indices, not ", map.size()));
  }
  for (const AffineExpr& expr : map) {
    if (expr.LastIndex() >= domain_size) {
      return Invalid(where, "an index that the domain does not have");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDomain(const Domain& domain, absl::string_view where) {
  if (domain.size() > kMaxIndices) return Invalid(where, "too many indices");
  for (int d = 0; d < domain.size(); ++d) {
    const Dimension& dimension = domain.dimensions[d];
    for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
      if (bounds->empty()) return Invalid(where, "an index without a bound");
      for (const AffineBound& bound : *bounds) {
        if (bound.divisor < 1 || bound.expr.LastIndex() >= d) {
          return Invalid(where, "a bound that mentions an inner index");
        }
      }
    }
  }
  return absl::OkStatus();
}

// Every task of the domain has a place in the tables.
absl::Status CheckGather(const Use& use, const Domain& domain,
                         absl::string_view where) {
  if (use.gather == nullptr) return absl::OkStatus();
  const Gather& gather = *use.gather;
  AffineMap dims;
  int32_t last = -1;
  for (const int32_t d : gather.dims) {
    if (d <= last || d >= domain.size()) {
      return Invalid(where, "a table of an index that the task does not have");
    }
    last = d;
    dims.push_back(AffineExpr::Index(d));
  }
  const int64_t places = gather.PlaceCount();
  if (gather.tables.empty() || places > Gather::kPlacesMax ||
      !UseInverse::Fits(use, domain)) {
    return Invalid(where, "a table that is too large");
  }
  last = -1;
  for (const Gather::Table& table : gather.tables) {
    if (table.position <= last || table.position >= std::ssize(use.map) ||
        std::ssize(table.values) != places) {
      return Invalid(where, "a table that does not fit its label");
    }
    last = table.position;
  }
  const std::vector<IndexRange> ranges = RangesOf(domain, dims);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto d = static_cast<int>(i);
    if (ranges[i].Count() > 0 &&
        (ranges[i].lower < gather.lower[d] ||
         ranges[i].upper >= gather.lower[d] + gather.extents[d])) {
      return Invalid(where, "a task beyond its table");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckClass(const Program& program, const TaskClass& c) {
  const std::string where = absl::StrCat("task ", c.name);
  DOGGED_RETURN_IF_ERROR(CheckDomain(c.domain, where));
  if (c.creates.empty()) return Invalid(where, "creates nothing");
  if (!InRange(c.kernel, program.kernels.size())) {
    return Invalid(where, absl::StrCat("no kernel ", c.kernel));
  }
  for (const Create& create : c.creates) {
    DOGGED_RETURN_IF_ERROR(
        CheckMap(program, create.array, create.map, c.domain.size(), where));
    if (!InverseMap(create.map, c.domain).IsInjective()) {
      return Invalid(where, "two tasks create one label");
    }
  }
  for (const Use& use : c.uses) {
    DOGGED_RETURN_IF_ERROR(
        CheckMap(program, use.array, use.map, c.domain.size(), where));
    DOGGED_RETURN_IF_ERROR(CheckGather(use, c.domain, where));
  }
  return absl::OkStatus();
}

absl::Status CheckView(const Program& program, const ResultView& view) {
  const std::string where = absl::StrCat("view of ", view.array);
  if (!InRange(view.result_set, program.results.size())) {
    return Invalid(where, "no such result set");
  }
  const size_t size = view.lower.size();
  if (view.upper.size() != size || view.step.size() != size ||
      view.tile_index.size() != size || view.origin.size() != size ||
      view.extent.size() != size) {
    return Invalid(where, "lists of different lengths");
  }
  const ResultSet& set = program.results[view.result_set];
  const int32_t rank = program.arrays[set.array].rank;
  for (size_t d = 0; d < size; ++d) {
    if (view.tile_index[d] < -1 || view.tile_index[d] >= rank ||
        view.extent[d] < 1 || view.step[d] < 1) {
      return Invalid(where, "a tile index, extent or step out of range");
    }
  }
  if (view.held.has_value()) {
    DOGGED_RETURN_IF_ERROR(CheckDomain(*view.held, where));
    int varying = 0;
    for (const int32_t index : view.tile_index) varying += index >= 0 ? 1 : 0;
    if (view.held->size() != varying) {
      return Invalid(where, "places of another number of indices");
    }
  }
  return absl::OkStatus();
}

template <typename T>
void EncodeInts(const std::vector<T>& values, Encoder& out) {
  out.PutVarint(values.size());
  for (T value : values) out.PutSigned(value);
}

template <typename T>
std::vector<T> DecodeInts(Decoder& in) {
  std::vector<T> out;
  const int64_t count = in.GetCount();
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.push_back(static_cast<T>(in.GetSigned()));
  }
  return out;
}

void EncodeMap(const AffineMap& map, Encoder& out) {
  out.PutVarint(map.size());
  for (const AffineExpr& expr : map) expr.Encode(out);
}

AffineMap DecodeMap(Decoder& in) {
  AffineMap out;
  const int64_t count = in.GetCount(2);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.push_back(AffineExpr::Decode(in));
  }
  return out;
}

void EncodeArray(const Array& array, Encoder& out) {
  out.PutString(array.name);
  out.PutSigned(array.rank);
  out.PutU8(static_cast<uint8_t>(array.element));
  EncodeInts(array.affinity_block, out);
  out.PutSigned(array.affinity_group);
  out.PutSigned(array.version_index);
}

Array DecodeArray(Decoder& in) {
  Array out;
  out.name = std::string(in.GetString());
  out.rank = static_cast<int32_t>(in.GetSigned());
  const uint8_t element = in.GetU8();
  if (element > 2) in.Fail();
  out.element = static_cast<ElementType>(element);
  out.affinity_block = DecodeInts<int64_t>(in);
  out.affinity_group = static_cast<int32_t>(in.GetSigned());
  out.version_index = static_cast<int32_t>(in.GetSigned());
  return out;
}

void EncodeClass(const TaskClass& c, Encoder& out) {
  out.PutString(c.name);
  c.domain.Encode(out);
  out.PutVarint(c.creates.size());
  for (const Create& create : c.creates) {
    out.PutSigned(create.array);
    EncodeMap(create.map, out);
  }
  out.PutVarint(c.uses.size());
  for (const Use& use : c.uses) {
    out.PutSigned(use.array);
    EncodeMap(use.map, out);
    use.guard.Encode(out);
  }
  out.PutSigned(c.kernel);
  c.priority.Encode(out);
}

TaskClass DecodeClass(Decoder& in) {
  TaskClass out;
  out.name = std::string(in.GetString());
  out.domain = Domain::Decode(in);
  const int64_t creates = in.GetCount(2);
  for (int64_t i = 0; i < creates && in.ok(); ++i) {
    Create create{.array = static_cast<int32_t>(in.GetSigned())};
    create.map = DecodeMap(in);
    out.creates.push_back(std::move(create));
  }
  const int64_t uses = in.GetCount(3);
  for (int64_t i = 0; i < uses && in.ok(); ++i) {
    Use use{.array = static_cast<int32_t>(in.GetSigned())};
    use.map = DecodeMap(in);
    use.guard = Guard::Decode(in);
    out.uses.push_back(std::move(use));
  }
  out.kernel = static_cast<int32_t>(in.GetSigned());
  out.priority = AffineExpr::Decode(in);
  return out;
}

void EncodeView(const ResultView& view, Encoder& out) {
  out.PutString(view.array);
  out.PutSigned(view.result_set);
  EncodeInts(view.lower, out);
  EncodeInts(view.upper, out);
  EncodeInts(view.step, out);
  EncodeInts(view.tile_index, out);
  EncodeInts(view.origin, out);
  EncodeInts(view.extent, out);
  out.PutBool(view.held.has_value());
  if (view.held.has_value()) view.held->Encode(out);
  out.PutBool(false);  // once a box askew in its tiles
}

ResultView DecodeView(Decoder& in) {
  ResultView out;
  out.array = std::string(in.GetString());
  out.result_set = static_cast<int32_t>(in.GetSigned());
  out.lower = DecodeInts<int64_t>(in);
  out.upper = DecodeInts<int64_t>(in);
  out.step = DecodeInts<int64_t>(in);
  out.tile_index = DecodeInts<int32_t>(in);
  out.origin = DecodeInts<int64_t>(in);
  out.extent = DecodeInts<int64_t>(in);
  if (in.GetBool()) out.held = Domain::Decode(in);
  if (in.GetBool()) in.Fail();
  return out;
}

absl::Status CheckRepeat(const Program& program, const Repeat& repeat) {
  if (repeat.step < 1 || repeat.last < repeat.first ||
      (repeat.last - repeat.first) % repeat.step != 0 ||
      repeat.last >= (int64_t{1} << 50) ||
      repeat.first <= -(int64_t{1} << 50)) {
    return Invalid("repeat", "no such rounds");
  }
  if (!InRange(repeat.array, program.arrays.size()) ||
      program.arrays[repeat.array].rank != 1 ||
      program.arrays[repeat.array].element != ElementType::kInt64) {
    return Invalid("repeat", "its condition is no int64 with one index");
  }
  if (repeat.class_time.size() != program.classes.size() ||
      repeat.result_time.size() != program.results.size()) {
    return Invalid("repeat", "lists of different lengths");
  }
  for (size_t c = 0; c < program.classes.size(); ++c) {
    if (repeat.class_time[c].LastIndex() >= program.classes[c].domain.size()) {
      return Invalid("repeat", "a time of an index that there is not");
    }
  }
  for (size_t r = 0; r < program.results.size(); ++r) {
    if (repeat.result_time[r].time.LastIndex() >=
        program.results[r].domain.size()) {
      return Invalid("repeat", "a time of an index that there is not");
    }
  }
  return absl::OkStatus();
}

void EncodeRepeat(const Repeat& repeat, Encoder& out) {
  out.PutString(repeat.parameter);
  out.PutSigned(repeat.first);
  out.PutSigned(repeat.last);
  out.PutSigned(repeat.step);
  out.PutSigned(repeat.array);
  out.PutVarint(repeat.class_time.size());
  for (const AffineExpr& time : repeat.class_time) time.Encode(out);
  out.PutVarint(repeat.result_time.size());
  for (const Repeat::ResultTime& result : repeat.result_time) {
    result.time.Encode(out);
    out.PutBool(result.is_exact);
  }
}

Repeat DecodeRepeat(Decoder& in) {
  Repeat out;
  out.parameter = std::string(in.GetString());
  out.first = in.GetSigned();
  out.last = in.GetSigned();
  out.step = in.GetSigned();
  out.array = static_cast<int32_t>(in.GetSigned());
  const int64_t classes = in.GetCount(2);
  for (int64_t i = 0; i < classes && in.ok(); ++i) {
    out.class_time.push_back(AffineExpr::Decode(in));
  }
  const int64_t results = in.GetCount(3);
  for (int64_t i = 0; i < results && in.ok(); ++i) {
    Repeat::ResultTime result{.time = AffineExpr::Decode(in)};
    result.is_exact = in.GetBool();
    out.result_time.push_back(result);
  }
  return out;
}

}  // namespace

absl::Status Program::Validate() const {
  for (const Array& array : arrays) {
    if (array.rank < 0 || array.rank > kMaxIndices ||
        std::ssize(array.affinity_block) != array.rank ||
        array.version_index < -1 || array.version_index >= array.rank) {
      return Invalid(absl::StrCat("array ", array.name),
                     "rank, affinity or version index out of range");
    }
    for (int64_t block : array.affinity_block) {
      if (block < 0) return Invalid(array.name, "a negative affinity block");
    }
  }
  for (const TaskClass& c : classes) {
    DOGGED_RETURN_IF_ERROR(CheckClass(*this, c));
  }
  for (const ResultSet& set : results) {
    DOGGED_RETURN_IF_ERROR(CheckDomain(set.domain, "result"));
    DOGGED_RETURN_IF_ERROR(
        CheckMap(*this, set.array, set.map, set.domain.size(), "result"));
    if (!InverseMap(set.map, set.domain).IsInjective()) {
      return Invalid("result", "names one label twice");
    }
  }
  for (const ResultView& view : views) {
    DOGGED_RETURN_IF_ERROR(CheckView(*this, view));
  }
  return repeat.has_value() ? CheckRepeat(*this, *repeat) : absl::OkStatus();
}

int64_t Program::TaskCount() const {
  int64_t count = 0;
  for (const TaskClass& c : classes) {
    if (__builtin_add_overflow(count, c.domain.Count(), &count)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return count;
}

int64_t Program::ResultCount() const {
  int64_t count = 0;
  for (const ResultSet& set : results) {
    if (__builtin_add_overflow(count, set.domain.Count(), &count)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return count;
}

std::optional<int32_t> Program::FindArray(absl::string_view array_name) const {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name == array_name) return static_cast<int32_t>(i);
  }
  return std::nullopt;
}

std::string Program::LabelText(const Label& label) const {
  if (!InRange(label.array, arrays.size())) {
    return label.ToString(absl::StrCat("array", label.array));
  }
  return label.ToString(ArrayOf(label).name);
}

std::string Program::TaskText(const Task& task) const {
  if (!InRange(task.task_class, classes.size())) {
    return absl::StrCat("class", task.task_class, task.index.ToString());
  }
  return absl::StrCat(ClassOf(task).name, task.index.ToString());
}

IndexVector Use::IndexOf(const IndexVector& task) const {
  IndexVector out = Apply(map, task);
  if (gather == nullptr) return out;
  const int64_t place = gather->PlaceOf(task);
  DOGGED_CHECK(place >= 0) << "a task beyond its table";
  for (const Gather::Table& table : gather->tables) {
    const int64_t value = table.values[place];
    // Only a damaged job reads there: as little as any label that is not made.
    if (value == Gather::kNone) {
      out[table.position] = 2 * Gather::kValueMax;
    } else {
      out[table.position] += value;
    }
  }
  return out;
}

bool Program::HasGathers() const {
  return std::any_of(classes.begin(), classes.end(), [](const TaskClass& c) {
    return std::any_of(c.uses.begin(), c.uses.end(),
                       [](const Use& use) { return use.gather != nullptr; });
  });
}

// A list of class, use and tables, and -1 at its end.
void Program::EncodeGathers(Encoder& out) const {
  for (size_t c = 0; c < classes.size(); ++c) {
    for (size_t u = 0; u < classes[c].uses.size(); ++u) {
      const auto& gather = classes[c].uses[u].gather;
      if (gather == nullptr) continue;
      out.PutSigned(static_cast<int64_t>(c));
      out.PutSigned(static_cast<int64_t>(u));
      gather->Encode(out);
    }
  }
  out.PutSigned(-1);
}

absl::Status Program::DecodeGathers(Decoder& in) {
  while (in.ok()) {
    const int64_t c = in.GetSigned();
    if (c == -1) break;
    const int64_t u = in.GetSigned();
    if (!InRange(c, classes.size()) || !InRange(u, classes[c].uses.size())) {
      in.Fail();
      break;
    }
    Use& use = classes[c].uses[u];
    if (use.gather != nullptr) in.Fail();
    use.gather = std::make_shared<const Gather>(Gather::Decode(in));
  }
  DOGGED_RETURN_IF_ERROR(in.status("program"));
  return Validate();
}

void Program::Encode(Encoder& out) const {
  out.PutString(name);
  out.PutVarint(arrays.size());
  for (const Array& array : arrays) EncodeArray(array, out);
  out.PutVarint(classes.size());
  for (const TaskClass& c : classes) EncodeClass(c, out);
  out.PutVarint(kernels.size());
  for (const KernelSpec& kernel : kernels) {
    out.PutString(kernel.name);
    out.PutString(kernel.kind);
    out.PutString(kernel.body);
  }
  out.PutVarint(results.size());
  for (const ResultSet& set : results) {
    out.PutSigned(set.array);
    set.domain.Encode(out);
    EncodeMap(set.map, out);
  }
  out.PutVarint(views.size());
  for (const ResultView& view : views) EncodeView(view, out);
  out.PutBool(every_task_needed);
  out.PutBool(repeat.has_value());
  if (repeat.has_value()) EncodeRepeat(*repeat, out);
}

absl::StatusOr<Program> Program::Decode(Decoder& in) {
  Program out;
  out.name = std::string(in.GetString());
  const int64_t arrays = in.GetCount(5);
  for (int64_t i = 0; i < arrays && in.ok(); ++i) {
    out.arrays.push_back(DecodeArray(in));
  }
  const int64_t classes = in.GetCount(6);
  for (int64_t i = 0; i < classes && in.ok(); ++i) {
    out.classes.push_back(DecodeClass(in));
  }
  const int64_t kernels = in.GetCount(3);
  for (int64_t i = 0; i < kernels && in.ok(); ++i) {
    KernelSpec kernel;
    kernel.name = std::string(in.GetString());
    kernel.kind = std::string(in.GetString());
    kernel.body = std::string(in.GetString());
    out.kernels.push_back(std::move(kernel));
  }
  const int64_t results = in.GetCount(3);
  for (int64_t i = 0; i < results && in.ok(); ++i) {
    ResultSet set{.array = static_cast<int32_t>(in.GetSigned())};
    set.domain = Domain::Decode(in);
    set.map = DecodeMap(in);
    out.results.push_back(std::move(set));
  }
  const int64_t views = in.GetCount(7);
  for (int64_t i = 0; i < views && in.ok(); ++i) {
    out.views.push_back(DecodeView(in));
  }
  out.every_task_needed = in.GetBool();
  if (in.GetBool()) out.repeat = DecodeRepeat(in);
  DOGGED_RETURN_IF_ERROR(in.status("program"));
  DOGGED_RETURN_IF_ERROR(out.Validate());
  return out;
}

}  // namespace dogged
