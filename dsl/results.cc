#include "dsl/results.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "dsl/tiling/skewed_results.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/rounds.h"

namespace dogged::dsl {
namespace {

// True if the values of a view hold several of the user's labels each.
bool IsTiled(const ResultView& view) {
  return view.skewed.has_value() ||
         std::any_of(view.extent.begin(), view.extent.end(),
                     [](int64_t extent) { return extent > 1; });
}

// The labels of a view, in lexicographic order. A view without tiles may be
// narrower than its result set.
std::vector<Label> LabelsOf(const Program& program, const ResultView& view) {
  const ResultSet& set = program.results[static_cast<size_t>(view.result_set)];
  std::vector<Label> labels;
  const bool has_user_indices =
      program.arrays[static_cast<size_t>(set.array)].name == view.array;
  set.domain.ForEach([&](const IndexVector& point) {
    const IndexVector index = Apply(set.map, point);
    bool is_inside = true;
    for (int d = 0; has_user_indices && d < index.size(); ++d) {
      is_inside = is_inside && index[d] >= view.lower[static_cast<size_t>(d)] &&
                  index[d] <= view.upper[static_cast<size_t>(d)];
    }
    if (is_inside) labels.push_back({.array = set.array, .index = index});
    return true;
  });
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

// Copies a dense block to where it stands in a dense array.
void CopyBlock(const Value& block, const IndexVector& extents,
               const IndexVector& first, const IndexVector& whole,
               Value& array) {
  DOGGED_CHECK(block.type() == array.type())
      << "a block of " << ElementName(block.type()) << " in an array of "
      << ElementName(array.type());
  auto* target = static_cast<char*>(array.mutable_data());
  const int64_t bytes = ElementBytes(block.type());
  const auto* from = static_cast<const char*>(block.data());
  const int last = whole.size() - 1;
  const auto row = static_cast<size_t>((last < 0 ? 1 : extents[last]) * bytes);
  if (block.bytes() == 0) return;
  IndexVector at = first;
  while (true) {
    int64_t offset = 0;
    for (int d = 0; d <= last; ++d) offset = offset * whole[d] + at[d];
    std::memcpy(target + offset * bytes, from, row);
    from += row;
    int d = last - 1;
    while (d >= 0 && at[d] + 1 == first[d] + extents[d]) {
      at[d] = first[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

// Where each label's value goes in the dense array.
struct Placed {
  Value value;
  IndexVector first;
  IndexVector extents;
};

// The part of a tiled view that one label holds.
Placed PlaceTile(const ResultView& view, const Label& label, Value value) {
  Placed out{.value = std::move(value), .first = {}, .extents = {}};
  for (size_t d = 0; d < view.lower.size(); ++d) {
    if (view.tile_index[d] < 0) continue;
    const int64_t begin =
        view.origin[d] + label.index[view.tile_index[d]] * view.extent[d];
    const int64_t end = std::min(begin + view.extent[d] - 1, view.upper[d]);
    const int64_t first =
        CeilDiv(std::max(begin, view.lower[d]) - view.lower[d], view.step[d]);
    const int64_t last = FloorDiv(end - view.lower[d], view.step[d]);
    out.first.push_back(first);
    out.extents.push_back(std::max<int64_t>(0, last - first + 1));
  }
  return out;
}

absl::Status CheckShape(const Program& program, const Label& label,
                        const Placed& placed) {
  if (placed.value.element_count() == ElementCount(placed.extents)) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat("result ", program.LabelText(label), " has shape ",
                   placed.value.shape().ToString(), ", expected ",
                   placed.extents.ToString()));
}

// Places labels whose values are one user label each.
std::vector<Placed> PlaceBlocks(const ResultView& view,
                                const std::vector<Label>& labels,
                                std::vector<Value> values) {
  int varying = 0;
  for (const int32_t index : view.tile_index) varying += index >= 0;
  IndexVector full;  // the largest block
  for (const Value& value : values) {
    for (int d = 0; d < value.shape().size(); ++d) {
      if (full.size() <= d) full.push_back(0);
      full[d] = std::max(full[d], value.shape()[d]);
    }
  }
  const bool is_product = full.size() == varying;
  std::vector<Placed> out;
  for (size_t i = 0; i < labels.size(); ++i) {
    Placed placed{.value = std::move(values[i]), .first = {}, .extents = {}};
    const Shape& shape = placed.value.shape();
    for (size_t d = 0; d < view.lower.size(); ++d) {
      if (view.tile_index[d] < 0) continue;
      const int64_t position =
          (labels[i].index[view.tile_index[d]] - view.lower[d]) / view.step[d];
      const int v = placed.first.size();
      placed.first.push_back(is_product ? position * full[v] : position);
      placed.extents.push_back(is_product ? shape[v] : 1);
    }
    for (int d = 0; !is_product && d < shape.size(); ++d) {
      placed.first.push_back(0);
      placed.extents.push_back(shape[d]);
    }
    out.push_back(std::move(placed));
  }
  return out;
}

}  // namespace

absl::StatusOr<Value> AssembleView(const Program& program,
                                   const ResultView& view,
                                   ResultLookup lookup) {
  const std::vector<Label> labels = LabelsOf(program, view);
  std::vector<Value> values;
  for (const Label& label : labels) {
    DOGGED_ASSIGN_OR_RETURN(Value value, lookup(label));
    values.push_back(std::move(value));
  }
  const ElementType element =
      program
          .arrays[static_cast<size_t>(
              program.results[static_cast<size_t>(view.result_set)].array)]
          .element;
  std::vector<Placed> placed;
  // A tile one wide has an entry of its own in the shape, a user label not.
  const bool is_tiled =
      IsTiled(view) || (!values.empty() && [&] {
        return program.arrays[static_cast<size_t>(labels[0].array)].name !=
               view.array;
      }());
  if (is_tiled) {
    const ResultView held = view.skewed.has_value() ? HeldView(view) : view;
    for (size_t i = 0; i < labels.size(); ++i) {
      placed.push_back(PlaceTile(held, labels[i], std::move(values[i])));
      DOGGED_RETURN_IF_ERROR(CheckShape(program, labels[i], placed.back()));
    }
  } else {
    placed = PlaceBlocks(view, labels, std::move(values));
  }
  Shape whole;
  const bool is_scalar = std::all_of(
      placed.begin(), placed.end(),
      [](const Placed& part) { return part.value.shape().size() == 0; });
  if (is_tiled || is_scalar) {
    for (size_t d = 0; d < view.lower.size(); ++d) {
      if (view.tile_index[d] >= 0) {
        whole.push_back(view.Count(d));
      }
    }
  }
  for (const Placed& part : placed) {
    if (view.skewed.has_value()) break;  // its parts have other indices
    for (int d = 0; d < part.first.size(); ++d) {
      if (whole.size() <= d) whole.push_back(0);
      whole[d] = std::max(whole[d], part.first[d] + part.extents[d]);
    }
  }
  Value out = Value::Allocate(element, whole);
  std::memset(out.mutable_data(), 0, static_cast<size_t>(out.bytes()));
  for (const Placed& part : placed) {
    if (view.skewed.has_value()) {
      CopySkewed(view, part.value, part.first, part.extents, out);
    } else {
      CopyBlock(part.value, part.extents, part.first, whole, out);
    }
  }
  out.Seal();
  return out;
}

absl::StatusOr<Digest> ResultDigest(const Program& program,
                                    ResultLookup lookup) {
  return ResultViews(program, lookup).DigestOfAll();
}

absl::StatusOr<Value> ResultViews::Assembled(size_t view) {
  if (last_.IsNone() || last_view_ != view) {
    Forget();  // before there is another one
    DOGGED_ASSIGN_OR_RETURN(
        last_, AssembleView(program_, program_.views[view], lookup_));
    last_view_ = view;
  }
  return last_;
}

absl::Status ResultViews::ForEachValue(
    size_t view,
    absl::FunctionRef<void(const Label* label, const Value& value)> visit) {
  const ResultView& wanted = program_.views[view];
  if (IsTiled(wanted)) {
    // User labels run across tiles: only the dense array has their order.
    DOGGED_ASSIGN_OR_RETURN(const Value dense, Assembled(view));
    visit(nullptr, dense);
    return absl::OkStatus();
  }
  for (const Label& label : LabelsOf(program_, wanted)) {
    DOGGED_ASSIGN_OR_RETURN(const Value value, lookup_(label));
    visit(&label, value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> ResultViews::DigestOfAll() {
  DigestStream stream;
  for (size_t v = 0; v < program_.views.size(); ++v) {
    DOGGED_RETURN_IF_ERROR(
        ForEachValue(v, [&stream](const Label*, const Value& value) {
          stream.Add(value.view());
        }));
  }
  return stream.Finish();
}

namespace {

// Runs the tasks that labels need, depth first, and keeps values that further
// tasks read.
class SerialRunner {
 public:
  SerialRunner(
      const Relations& relations, const KernelTable& kernels,
      absl::FunctionRef<absl::Status(const Label&, const Value&)> deliver,
      const SerialProgress& progress)
      : relations_(relations),
        program_(relations.program()),
        kernels_(kernels),
        deliver_(deliver),
        progress_(progress),
        rounds_(relations) {
    const bool is_known = program_.every_task_needed && !rounds_.IsLoop();
    if (is_known) tasks_needed_ = rounds_.TaskCount();
  }

  absl::StatusOr<int64_t> Run() {
    while (const std::optional<Label> condition = rounds_.Condition()) {
      DOGGED_RETURN_IF_ERROR(Solve(*condition));
    }
    absl::Status status;
    rounds_.ForEachDemanded([&](const Label& result) {
      const auto it = kept_.find(result);
      status = it == kept_.end() ? Solve(result) : deliver_(result, it->second);
      return status.ok();
    });
    DOGGED_RETURN_IF_ERROR(status);
    return rounds_.time();
  }

 private:
  struct Bound {
    Value value;
    int64_t readers_left = 0;
  };

  absl::Status Solve(const Label& wanted) {
    std::vector<Label> stack = {wanted};
    while (!stack.empty()) {
      const std::optional<Task> task = relations_.ProducerOf(stack.back());
      if (!task.has_value()) {
        return absl::InternalError(
            absl::StrCat("nothing creates ", program_.LabelText(stack.back())));
      }
      if (done_.contains(*task)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      relations_.ForEachRequired(*task, [&](int, const Label& label) {
        if (!bound_.contains(label)) stack.push_back(label);
      });
      if (stack.size() > before) continue;
      DOGGED_RETURN_IF_ERROR(RunTask(*task));
      stack.pop_back();
    }
    return absl::OkStatus();
  }

  absl::Status RunTask(const Task& task) {
    const TaskClass& task_class =
        program_.classes[static_cast<size_t>(task.task_class)];
    std::vector<Value> inputs(task_class.uses.size());
    relations_.ForEachRequired(task, [&](int use, const Label& label) {
      auto it = bound_.find(label);
      inputs[static_cast<size_t>(use)] = it->second.value;
      if (--it->second.readers_left == 0) bound_.erase(it);
    });
    std::vector<Value> outputs(task_class.creates.size());
    KernelCall call{.task = task,
                    .inputs = absl::MakeSpan(inputs),
                    .outputs = absl::MakeSpan(outputs)};
    const Kernel& kernel = *kernels_[static_cast<size_t>(task_class.kernel)];
    if (const absl::Status s = kernel.Run(call); !s.ok()) {
      return Annotate(s, absl::StrCat("task ", program_.TaskText(task)));
    }
    done_.insert(task);
    if (progress_) {
      progress_(static_cast<int64_t>(done_.size()), tasks_needed_);
    }
    absl::Status status;
    relations_.ForEachCreated(task, [&](int create, const Label& label) {
      Value& value = outputs[static_cast<size_t>(create)];
      value.Seal();
      if (rounds_.Note(label, value)) ForgetResults();
      if (rounds_.ResultsAt(label) > 0) {
        status.Update(deliver_(label, value));
      } else if (rounds_.IsResult(label)) {
        kept_[label] = value;
      }
      const int64_t readers = relations_.ConsumerCount(label);
      if (readers > 0) {
        bound_[label] = {.value = std::move(value), .readers_left = readers};
      }
    });
    return status;
  }

  // Drops labels that would be results if the loop had ended before: another
  // round has begun.
  void ForgetResults() {
    absl::erase_if(kept_, [this](const auto& kept) {
      return !rounds_.IsResult(kept.first);
    });
  }

  const Relations& relations_;
  const Program& program_;
  const KernelTable& kernels_;
  const absl::FunctionRef<absl::Status(const Label&, const Value&)> deliver_;
  const SerialProgress& progress_;
  int64_t tasks_needed_ = 0;
  Rounds rounds_;
  absl::flat_hash_map<Label, Bound> bound_;
  absl::flat_hash_map<Label, Value> kept_;  // results, if the loop ends soon
  absl::flat_hash_set<Task> done_;
};

}  // namespace

absl::StatusOr<int64_t> RunSerially(
    const Relations& relations, const KernelTable& kernels,
    absl::FunctionRef<absl::Status(const Label&, const Value&)> deliver,
    const SerialProgress& progress) {
  return SerialRunner(relations, kernels, deliver, progress).Run();
}

}  // namespace dogged::dsl
