// Makes up a FieldProgram: fields of one or two indices of space, of all types,
// that need one or two steps before them; each edge guarded, plain or
// periodic; tasks split by conditions that may never hold; integers beside each
// other that leave 32 bits and 64; reductions of them, in any order of indices,
// of nothing too, and of reductions; results that overlap.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/dsl/field_program.h"
#include "tests/dsl/random_expressions.h"

namespace dogged::dsl {
namespace {

enum class Edge : uint8_t { kGuarded, kPlain, kPeriodic };

}  // namespace

class FieldMaker {
 public:
  FieldMaker(uint64_t seed, FieldProgram& out)
      : out_(out), rng_(seed), make_(rng_) {}

  void Make() {
    order_ = 1 + rng_.Below(2);
    radius_ = 1 + (rng_.Chance(0.2) ? 1 : 0);
    has_tiles_ = rng_.Chance(0.6);
    MakeParameters();
    MakeFields();
    if (rng_.Chance(0.4)) MakeInput();
    if (rng_.Chance(0.5)) MakeTotals();
    for (size_t f = 0; f < fields_; ++f) {
      MakeStart(f);
      MakeBoundaries(f);
      MakeSteps(f);
    }
    if (rng_.Chance(0.5)) MakeBehind();
    for (int64_t r = rng_.Below(has_tiles_ ? 2 : 4); r > 0; --r) {
      MakeReduction();
    }
    MakeResults();
  }

 private:
  bool IsPlain(size_t d) const { return edges_[d] == Edge::kPlain; }
  NameScope Scope(bool has_space, bool has_time) const {
    NameScope scope = parameters_;
    for (const NamedRange& x : out_.space_) {
      if (has_space) scope.integers.push_back(x.name);
    }
    if (has_time) scope.integers.push_back("t");
    return scope;
  }
  Kind AnyKind() { return static_cast<Kind>(rng_.Below(3)); }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[rng_.Below(static_cast<int64_t>(i))]);
    }
  }

  void Declare(const std::string& head, const std::string& name, Kind kind,
               const Node& value) {
    out_.parameters_.emplace_back(head, dsl::Text(value));
    out_.values_[name] = ConvertTo(kind, Evaluate(value, out_.values_));
    parameters_.Add(name, kind);
  }

  void MakeParameters() {
    static constexpr int64_t kBig[] = {
        70000, 46341, 2147483647, 4294967296, 1099511627775, 0, 1, 13};
    static constexpr double kReals[] = {0.1, 0.3, 0.7, 2.5, 1e-3, 3.0};
    const auto real = [&] { return Literal(kReals[rng_.Below(6)]); };
    dims_ = 1 + rng_.Below(2);
    sizes_ = {6 + rng_.Below(9), 6 + rng_.Below(5)};
    if (has_tiles_) {
      sizes_ = dims_ == 1 ? Point{20 + rng_.Below(60), 6}
                          : Point{14 + rng_.Below(14), 14 + rng_.Below(14)};
    }
    Declare("N", "N", Kind::kInteger, Literal(sizes_[0]));
    Declare("M", "M", Kind::kInteger, Literal(sizes_[1]));
    steps_ = order_ + rng_.Below(5);
    Declare("T", "T", Kind::kInteger, Literal(steps_));
    const Node big = Literal(kBig[rng_.Below(8)]);
    Declare("K", "K", Kind::kInteger, rng_.Chance(0.3) ? Of("neg", big) : big);
    Declare(
        "L", "L", Kind::kInteger,
        Both(rng_.Chance(0.5) ? "-" : "/",
             Both("*", Named("N", Kind::kInteger), Named("M", Kind::kInteger)),
             Literal(int64_t{7})));
    Declare("c : double", "c", Kind::kDouble, real());
    Declare("d : float", "d", Kind::kFloat, real());
    Declare("e : float", "e", Kind::kFloat,
            Both(rng_.Chance(0.5) ? "/" : "*", Named("d", Kind::kFloat),
                 rng_.Chance(0.5) ? real() : Named("N", Kind::kInteger)));
    Declare("g : double", "g", Kind::kDouble,
            Both("+", Named("d", Kind::kFloat), Named("c", Kind::kDouble)));
  }

  // From first to last, which may be beyond `size`.
  NamedRange Range(const std::string& name, const std::string& size,
                   int64_t first, int64_t last) {
    const int64_t beyond = last - std::get<int64_t>(out_.values_.at(size));
    return {name, first, last,
            absl::StrCat(first, ":", size, beyond < 0 ? "" : "+", beyond)};
  }

  void MakeFields() {
    for (int64_t d = 0; d < dims_; ++d) {
      out_.space_.push_back(
          Range(d == 0 ? "x" : "y", d == 0 ? "N" : "M", 0, sizes_[d] - 1));
      edges_.push_back(static_cast<Edge>(rng_.Below(3)));
    }
    std::vector<NamedRange> ranges = out_.space_;
    ranges.push_back(Range("t", "T", 0, steps_));
    fields_ = static_cast<size_t>(1 + rng_.Below(3));
    for (size_t f = 0; f < fields_; ++f) {
      out_.arrays_.push_back({absl::StrCat("f", f), AnyKind(), ranges});
    }
  }

  // Coefficients: of all of space, without time.
  void MakeInput() {
    FieldTask input;
    input.array = "q";
    input.is_input = true;
    for (const NamedRange& x : out_.space_) {
      input.creates.push_back({x.name, 0});
    }
    input.ranges = out_.space_;
    const Kind kind = AnyKind();
    input.value = make_.OfKind(kind, Scope(true, false), 2);
    out_.tasks_.push_back(std::move(input));
    out_.arrays_.push_back({"q", kind, out_.space_});
    has_input_ = true;
  }

  // Sums over all of space, which later steps read.
  void MakeTotals() {
    static constexpr const char* kKinds[] = {"sum", "min", "max"};
    FieldReduction total{.array = "m"};
    const FieldArray& source =
        out_.arrays_[rng_.Below(static_cast<int64_t>(fields_))];
    total.kind = kKinds[rng_.Below(3)];
    total.source = source.name;
    total.index = {{"t", 0}};
    for (const NamedRange& x : out_.space_)
      total.source_index.push_back({x.name, 0});
    total.source_index.push_back({"t", 0});
    total.kept = {source.ranges.back()};
    total.over = out_.space_;
    Shuffle(total.over);
    has_totals_ = true;
    out_.arrays_.push_back({"m", source.kind, total.kept, false});
    out_.reductions_.push_back(std::move(total));
  }

  std::vector<IndexForm> Here() const {
    std::vector<IndexForm> out;
    for (const NamedRange& x : out_.space_) out.push_back({x.name, 0});
    out.push_back({"t", 0});
    return out;
  }

  static Reading At(const std::string& name, const std::string& array,
                    const std::vector<IndexForm>& index) {
    return {.name = name,
            .array = array,
            .index = index,
            .where = {},
            .otherwise = {}};
  }

  // The first time steps: by a task over all of space, or by a boundary.
  void MakeStart(size_t f) {
    const FieldArray& array = out_.arrays_[f];
    for (int64_t t = 0; t < order_; ++t) {
      if (rng_.Chance(0.3)) {
        FieldBoundary start;
        start.array = array.name;
        start.index = Here();
        start.index.back() = {"", t};
        for (size_t d = 0; d < out_.space_.size(); ++d) {
          if (edges_[d] == Edge::kPeriodic && rng_.Chance(0.5)) continue;
          const int64_t margin = IsPlain(d) ? radius_ : 0;
          start.where.push_back({out_.space_[d].name, ">=", margin});
          start.where.push_back(
              {out_.space_[d].name, "<=", out_.space_[d].last - margin});
        }
        start.value = make_.OfKind(array.kind, Scope(true, false), 2);
        out_.boundaries_.push_back(std::move(start));
        continue;
      }
      FieldTask start;
      start.array = array.name;
      start.creates = Here();
      start.creates.back() = {"", t};
      start.ranges = out_.space_;
      Shuffle(start.ranges);
      start.value = make_.OfKind(array.kind, Scope(true, false), 3);
      out_.tasks_.push_back(std::move(start));
    }
  }

  void MakeBoundaries(size_t f) {
    const FieldArray& array = out_.arrays_[f];
    for (size_t d = 0; d < out_.space_.size(); ++d) {
      FieldBoundary edge;
      edge.array = array.name;
      edge.index = Here();
      if (edges_[d] == Edge::kPeriodic) {
        edge.periodic = static_cast<int>(d);
        out_.boundaries_.push_back(edge);
      }
      if (!IsPlain(d)) continue;
      // An earlier plain index has the corners.
      for (size_t c = 0; c < d; ++c) {
        if (!IsPlain(c)) continue;
        edge.where.push_back({out_.space_[c].name, ">=", radius_});
        edge.where.push_back(
            {out_.space_[c].name, "<=", out_.space_[c].last - radius_});
      }
      NameScope scope = parameters_;
      for (size_t c = 0; c < out_.space_.size(); ++c) {
        if (c != d) scope.integers.push_back(out_.space_[c].name);
      }
      scope.integers.push_back("t");
      for (int64_t k = 0; k < radius_; ++k) {
        for (const int64_t at : {k, out_.space_[d].last - k}) {
          edge.index[d] = {"", at};
          edge.value = make_.OfKind(array.kind, scope, 2);
          out_.boundaries_.push_back(edge);
        }
      }
    }
  }

  // Adds a reading of a field around a point of `task`, which creates the
  // labels at x + offset.
  void AddReading(size_t field, size_t of, const Point& offset,
                  FieldTask& task) {
    const FieldArray& array = out_.arrays_[of];
    Reading reading;
    reading.name = absl::StrCat("u", task.readings.size());
    reading.array = array.name;
    const int64_t lag =
        of < field && rng_.Chance(0.4) ? 0 : 1 + rng_.Below(order_);
    for (size_t d = 0; d < out_.space_.size(); ++d) {
      const NamedRange& x = out_.space_[d];
      const int64_t by = offset[d] + rng_.Below(2 * radius_ + 1) - radius_;
      reading.index.push_back({x.name, by});
      if (edges_[d] != Edge::kGuarded) continue;
      if (by < offset[d]) reading.where.push_back({x.name, ">=", -by});
      if (by > offset[d]) reading.where.push_back({x.name, "<=", x.last - by});
    }
    reading.index.push_back({"t", -lag});
    if (rng_.Chance(0.15)) {
      // Mostly or always, or never.
      static constexpr int64_t kBounds[] = {-100, 2, 100};
      reading.where.push_back(
          {rng_.Chance(0.3) ? "t" : out_.space_[0].name,
           rng_.Chance(0.5) ? ">" : "<=", kBounds[rng_.Below(3)]});
    }
    reading.otherwise = make_.OfKind(array.kind, Scope(true, true), 1);
    task.readings.push_back(std::move(reading));
  }

  // Sets the expression that the task makes of its readings.
  void SetValue(Kind kind, bool has_space, FieldTask& task) {
    NameScope scope = Scope(has_space, true);
    for (const Reading& reading : task.readings) {
      for (const FieldArray& array : out_.arrays_) {
        if (array.name == reading.array) scope.Add(reading.name, array.kind);
      }
    }
    task.locals.clear();
    if (rng_.Chance(0.5)) {
      Node value = rng_.Chance(0.5) ? make_.Constant(2)
                                    : make_.OfKind(AnyKind(), scope, 3);
      scope.Add("s", value.kind, value.is_literal);
      task.locals.emplace_back("s", std::move(value));
    }
    task.value = make_.OfKind(kind, scope, 3);
    for (const Reading& reading : task.readings) {
      for (const FieldArray& array : out_.arrays_) {
        if (array.name != reading.array) continue;
        if (kind == Kind::kInteger && array.kind != kind) continue;
        task.value = Both(rng_.Chance(0.7) ? "+" : "-", std::move(task.value),
                          make_.Scaled(scope, Named(reading.name, array.kind)));
      }
    }
    if (kind == Kind::kInteger || rng_.Chance(0.3)) return;
    // Bounds keep most programs finite; of some only the signs are left.
    task.value = Both("min", Both("max", std::move(task.value), Literal(-1e6)),
                      Literal(1e6));
    if (!rng_.Chance(0.15)) return;
    task.value = Both("*", std::move(task.value), Literal(0.0));
  }

  void MakeSteps(size_t f) {
    const FieldArray array = out_.arrays_[f];
    FieldTask step{.array = array.name};
    Point offset;
    for (size_t d = 0; d < out_.space_.size(); ++d) {
      offset.push_back(rng_.Chance(0.2) ? rng_.Below(3) - 1 : 0);
      const int64_t margin = IsPlain(d) ? radius_ : 0;
      step.creates.push_back({out_.space_[d].name, offset[d]});
      step.ranges.push_back(Range(out_.space_[d].name, d == 0 ? "N" : "M",
                                  margin - offset[d],
                                  out_.space_[d].last - margin - offset[d]));
    }
    step.creates.push_back({"t", 0});
    step.ranges.push_back(Range("t", "T", order_, steps_));
    Shuffle(step.ranges);
    for (int64_t r = rng_.Below(4); r >= 0; --r) {
      AddReading(f,
                 static_cast<size_t>(rng_.Below(static_cast<int64_t>(fields_))),
                 offset, step);
    }
    if (has_input_ && rng_.Chance(0.5)) {
      step.readings.push_back(At("v", "q", step.creates));
      step.readings.back().index.pop_back();
    }
    if (has_totals_ && !has_tiles_ && rng_.Chance(0.3)) {
      step.readings.push_back(At("total", "m", {{"t", -1}}));
    }
    if (rng_.Chance(0.3)) {
      // Two tasks share the points; one of them may have none.
      static constexpr int64_t kBounds[] = {-100, 1, 3, 5, 100};
      const std::string& x = out_.space_[0].name;
      const int64_t bound = kBounds[rng_.Below(5)];
      const bool is_even = rng_.Chance(0.3);
      FieldTask other = step;
      step.where = {is_even ? Bound{x, "even", 0} : Bound{x, "<", bound}};
      other.where = {is_even ? Bound{x, "even", 1} : Bound{x, ">=", bound}};
      SetValue(array.kind, true, other);
      out_.tasks_.push_back(std::move(other));
    }
    SetValue(array.kind, true, step);
    out_.tasks_.push_back(std::move(step));
  }

  // An array made of fields, of totals, or, where tiles end then, of both.
  void MakeBehind() {
    FieldTask task;
    task.array = "p";
    const bool has_fields = !has_tiles_ || !has_totals_;
    task.creates = has_fields ? Here() : std::vector<IndexForm>{{"t", 0}};
    task.ranges = out_.arrays_[0].ranges;
    if (!has_fields) task.ranges = {task.ranges.back()};
    const Kind kind = AnyKind();
    std::vector<NamedRange> ranges = task.ranges;
    Shuffle(task.ranges);
    for (size_t f = 0; has_fields && f < fields_; ++f) {
      task.readings.push_back(
          At(absl::StrCat("u", f), out_.arrays_[f].name, Here()));
    }
    if (has_totals_) {
      task.readings.push_back(At("total", "m", {{"t", 0}}));
    }
    SetValue(kind, has_fields, task);
    out_.tasks_.push_back(std::move(task));
    out_.arrays_.push_back({"p", kind, ranges});
  }

  void MakeReduction() {
    std::vector<size_t> sources;
    for (size_t a = 0; a < out_.arrays_.size(); ++a) {
      if (!out_.arrays_[a].ranges.empty()) sources.push_back(a);
    }
    const FieldArray source =
        out_.arrays_[sources[rng_.Below(std::ssize(sources))]];
    static constexpr const char* kKinds[] = {"sum", "min", "max", "norm2",
                                             "normmax"};
    FieldReduction out;
    out.array = absl::StrCat("r", out_.reductions_.size());
    out.kind = kKinds[rng_.Below(source.kind == Kind::kInteger ? 3 : 5)];
    out.source = source.name;
    static constexpr const char* kNames[] = {"i", "j", "k"};
    for (size_t d = 0; d < source.ranges.size(); ++d) {
      NamedRange range = source.ranges[d];
      range.name = kNames[d];
      const int64_t offset = rng_.Chance(0.2) ? rng_.Below(3) - 1 : 0;
      range.first -= offset;
      range.last -= offset;
      const bool is_time = source.ranges[d].name == "t";
      if (has_tiles_ && source.ranges.size() > 1) {
        range.text = absl::StrCat(range.first, ":", range.last);
        out.source_index.push_back({range.name, offset});
        (is_time && rng_.Chance(0.7) ? out.kept : out.over).push_back(range);
        continue;
      }
      if (range.step == 1 && rng_.Chance(0.3)) {
        range.first = std::min(range.first + 1, range.last);
      }
      const bool is_kept =
          out.kept.size() + 1 < source.ranges.size() && rng_.Chance(0.4);
      if (!is_kept && rng_.Chance(0.15)) range.last = range.first - 1;
      range.text = absl::StrCat(range.first, ":", range.last);
      if (range.step == 1 && rng_.Chance(0.2)) range.step = 1 + rng_.Below(3);
      if (range.step > 1) range.text += absl::StrCat(":", range.step);
      out.source_index.push_back({range.name, offset});
      (is_kept ? out.kept : out.over).push_back(range);
    }
    Shuffle(out.kept);
    Shuffle(out.over);
    for (const NamedRange& range : out.kept)
      out.index.push_back({range.name, 0});
    const std::vector<NamedRange> ranges = out.kept;
    Shuffle(out.kept);
    if (rng_.Chance(0.4)) {
      const std::string& name = kNames[rng_.Below(std::ssize(source.ranges))];
      static constexpr int64_t kBounds[] = {-100, 2, 4, 100};
      out.where.push_back(rng_.Chance(0.4)
                              ? Bound{name, "even", rng_.Below(2)}
                              : Bound{name, rng_.Chance(0.5) ? "<" : ">",
                                      kBounds[rng_.Below(4)]});
    }
    out_.arrays_.push_back({out.array, source.kind, ranges, false});
    out_.reductions_.push_back(std::move(out));
  }

  void AddResult(const FieldArray& array) {
    FieldResult result;
    result.array = array.name;
    result.text = array.name;
    const int64_t way = array.is_declared ? rng_.Below(4) : 0;
    std::string loops;
    for (size_t d = 0; d < array.ranges.size(); ++d) {
      NamedRange range = array.ranges[d];
      const bool is_time = range.name == "t";
      // Bare; slices; ranges in slices; with indices of its own.
      if (way == 1 && is_time) range.first = range.last;
      if (way >= 2) {
        range.first += rng_.Below(range.last - range.first + 1);
        range.last = range.first + rng_.Below(range.last - range.first + 1);
      }
      range.text = absl::StrCat(range.first, ":", range.last);
      if (way == 1) {
        result.text += is_time ? "(T)" : "(:)";
      } else if (way == 2) {
        absl::StrAppend(&result.text, "(", range.text, ")");
      } else if (way == 3) {
        absl::StrAppend(&result.text, "(", range.name, ")");
        if (!has_tiles_ && range.last > range.first && rng_.Chance(0.2)) {
          range.step = 2;
          range.text += ":2";
        }
        absl::StrAppend(&loops, " ", range.name, " = ", range.text);
      }
      result.index.push_back({range.name, 0});
      result.ranges.push_back(range);
    }
    if (way == 3) {
      absl::StrAppend(&result.text, " for", loops);
      const NamedRange& x = result.ranges[0];
      if (!has_tiles_ && x.last > x.first && x.step == 1 && rng_.Chance(0.4)) {
        result.has_gaps = true;
        result.where = {{x.name, "!=", x.first}};
        absl::StrAppend(&result.text, " where ", x.name, " != ", x.first);
      }
    }
    out_.results_.push_back(std::move(result));
  }

  void MakeResults() {
    for (int64_t r = rng_.Below(3); r >= 0; --r) {
      AddResult(out_.arrays_[rng_.Below(std::ssize(out_.arrays_))]);
    }
    for (const FieldArray& array : out_.arrays_) {
      if (rng_.Chance(0.4)) AddResult(array);
    }
  }

  FieldProgram& out_;
  Rng rng_;
  Expressions make_;
  NameScope parameters_;
  // Whether all is left out that makes a program run point by point.
  bool has_tiles_ = false;
  int64_t dims_ = 1;
  Point sizes_;
  std::vector<Edge> edges_;
  size_t fields_ = 0;
  int64_t order_ = 1;
  int64_t radius_ = 1;
  int64_t steps_ = 1;
  bool has_input_ = false;
  bool has_totals_ = false;
};

FieldProgram::FieldProgram(uint64_t seed) { FieldMaker(seed, *this).Make(); }

}  // namespace dogged::dsl
