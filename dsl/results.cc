#include "dsl/results.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/rounds.h"

namespace dogged::dsl {
namespace {

// Smaller pieces would be looked up too often.
constexpr int64_t kPieceBytesMin = 4 << 20;

// Adds the elements of `piece` at the places `held` of its array, in order.
void AddHeld(const Domain& held, const DensePiece& piece,
             DigestStream& stream) {
  const Value& value = piece.value;
  const auto bytes = static_cast<size_t>(ElementBytes(value.type()));
  const auto* const elements = static_cast<const char*>(value.data());
  held.ForEach([&](const IndexVector& place) {
    int64_t at = 0;
    for (int d = 0; d < place.size(); ++d) {
      const int64_t x = place[d] - piece.first[d];
      if (x < 0 || x >= value.shape()[d]) return true;
      at = at * value.shape()[d] + x;
    }
    stream.Add({elements + static_cast<size_t>(at) * bytes, bytes});
    return true;
  });
}

}  // namespace

absl::StatusOr<Digest> ResultDigest(const Program& program,
                                    ResultLookup lookup) {
  return ResultViews(program, lookup).DigestOfAll();
}

absl::StatusOr<const DenseView*> ResultViews::Dense(size_t view) {
  if (dense_ == nullptr || last_view_ != view) {
    Forget();  // before there is another one
    dense_.reset();
    DOGGED_ASSIGN_OR_RETURN(
        DenseView dense,
        DenseView::Of(program_, program_.views[view], lookup_));
    dense_ = std::make_unique<DenseView>(std::move(dense));
    last_view_ = view;
  }
  return dense_.get();
}

int64_t ResultViews::piece_bytes() const {
  return std::max(kPieceBytesMin, bytes_max_ / 4);
}

absl::StatusOr<Value> ResultViews::Assembled(size_t view) {
  DOGGED_ASSIGN_OR_RETURN(const DenseView* const dense, Dense(view));
  if (last_.IsNone()) {
    DOGGED_ASSIGN_OR_RETURN(last_, dense->Assemble(lookup_));
  }
  return last_;
}

absl::Status ResultViews::ForEachPiece(
    size_t view, absl::FunctionRef<absl::Status(const DensePiece&)> visit) {
  DOGGED_ASSIGN_OR_RETURN(const DenseView* const dense, Dense(view));
  if (dense->bytes() > bytes_max_) {
    return dense->ForEachPiece(piece_bytes(), lookup_, visit);
  }
  DOGGED_ASSIGN_OR_RETURN(Value value, Assembled(view));
  IndexVector first = value.shape();
  for (int d = 0; d < first.size(); ++d) first[d] = 0;
  return visit({.first = first, .value = std::move(value)});
}

absl::Status ResultViews::ForEachValue(
    size_t view,
    absl::FunctionRef<void(const Label* label, const DensePiece& piece)>
        visit) {
  const ResultView& wanted = program_.views[view];
  if (HasTiles(wanted)) {
    // User labels run across tiles: only the dense array has their order.
    return ForEachPiece(view, [&visit](const DensePiece& piece) {
      visit(nullptr, piece);
      return absl::OkStatus();
    });
  }
  for (const Label& label : LabelsOf(program_, wanted)) {
    DOGGED_ASSIGN_OR_RETURN(Value value, lookup_(label));
    visit(&label, {.first = {}, .value = std::move(value)});
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> ResultViews::DigestOfAll(
    absl::FunctionRef<void(size_t view, const Label* label,
                           const DensePiece& piece)>
        visit) {
  DigestStream stream;
  for (size_t v = 0; v < program_.views.size(); ++v) {
    const std::optional<Domain>& held = program_.views[v].held;
    DOGGED_RETURN_IF_ERROR(
        ForEachValue(v, [&](const Label* label, const DensePiece& piece) {
          if (held.has_value()) {
            AddHeld(*held, piece, stream);
          } else {
            stream.Add(piece.value.view());
          }
          visit(v, label, piece);
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
    const TaskClass& task_class = program_.classes[task.task_class];
    std::vector<Value> inputs(task_class.uses.size());
    relations_.ForEachRequired(task, [&](int use, const Label& label) {
      auto it = bound_.find(label);
      inputs[use] = it->second.value;
      if (--it->second.readers_left == 0) bound_.erase(it);
    });
    std::vector<Value> outputs(task_class.creates.size());
    KernelCall call{.task = task,
                    .inputs = absl::MakeSpan(inputs),
                    .outputs = absl::MakeSpan(outputs)};
    const Kernel& kernel = *kernels_[task_class.kernel];
    if (const absl::Status s = kernel.Run(call); !s.ok()) {
      return Annotate(s, absl::StrCat("task ", program_.TaskText(task)));
    }
    done_.insert(task);
    if (progress_) {
      progress_(std::ssize(done_), tasks_needed_);
    }
    absl::Status status;
    relations_.ForEachCreated(task, [&](int create, const Label& label) {
      Value& value = outputs[create];
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
