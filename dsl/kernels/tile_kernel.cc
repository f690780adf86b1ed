#include "dsl/kernels/tile_kernel.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/kernels/tile_carry.h"
#include "dsl/kernels/tile_inputs.h"
#include "dsl/kernels/tile_outputs.h"
#include "dsl/kernels/tile_program.h"
#include "dsl/kernels/tile_sweep.h"
#include "dsl/kernels/tile_window.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

namespace {

bool Contains(const std::vector<int32_t>& list, size_t item) {
  return std::find(list.begin(), list.end(), static_cast<int32_t>(item)) !=
         list.end();
}

// TileRun: a single execution of a tile task.
class TileRun {
 public:
  TileRun(const TileProgram& program, const TileRole& role, KernelCall& call)
      : program_(program),
        plan_(program.plan),
        role_(role),
        call_(call),
        at_(plan_, role, call.task.index) {}

  absl::Status Run() {
    const std::vector<TileOutput> outputs = OutputsOf(program_, role_, at_);
    if (call_.outputs.size() != outputs.size() || !FitInputs()) {
      return absl::InvalidArgumentError(
          "the job's plan of tiles does not fit its tasks");
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      call_.outputs[o] = Value::Allocate(outputs[o].element, outputs[o].shape);
    }
    first_result_ = outputs.size() - role_.results.size();
    return role_.kind == TileRole::Kind::kStatic ? RunStatic() : RunTimeSteps();
  }

  // Memory that Run() takes beside inputs and outputs; neither need be there.
  int64_t ScratchBytes() {
    const int64_t bytes = SizeAll();
    return bytes + InputBytes(program_, BoxesOfInputs());
  }
  // Boxes of the job's inputs that Run() reads, by input of the plan.
  std::vector<Box> ReadsOfInputs() {
    (void)SizeAll();
    return BoxesOfInputs();
  }

 private:
  bool FitInputs() const;
  absl::Status RunStatic();
  absl::Status RunTimeSteps();
  // Sets up all windows, without memory; bytes of rings and gathered
  // coefficients.
  int64_t SizeAll() {
    if (role_.kind != TileRole::Kind::kStatic)
      return SizeRings() + SizeGathered();
    for (const TileField& field : plan_.fields) {
      fields_.emplace_back();
      fields_.back().ring = {DenseWindow(nullptr, plan_.Window(field, tile_))};
    }
    return SizeGathered();
  }
  std::vector<Box> BoxesOfInputs() const {
    if (!ReadsInputs(program_, role_)) return {};
    return InputBoxes(program_, role_, sweep_, first_, last_);
  }
  // Sets up the rings, without memory, and the static windows; how many bytes
  // the rings take.
  int64_t SizeRings();
  Value TakeScratch();
  // The window of a static field, the last one so far, that is an input.
  void TakeWindow(const TileField& field, size_t input);
  // Sets up windows of the gathered coefficients that this task reads, without
  // memory; returns their bytes.
  int64_t SizeGathered();
  void PlaceGathered(char* memory);
  static int64_t BytesOf(const TileField& field, const Box& box) {
    return (box.Count() * ElementBytes(field.element) + 63) / 64 * 64;
  }
  // True if no time step but the last is looked at when the sweep is through.
  bool IsSweptAway() const;
  void WriteResults(int64_t time_step);
  bool IsGivenAsComputed(size_t f) const;
  void WriteCarry();
  bool IsResultTimeStep(int64_t time_step) const;
  // Zeroes points that no piece stores, in the fields whose `time_step` goes to
  // the next task as computed, or in all others, which have come to time step
  // `newest`.
  void ZeroUncovered(int64_t time_step, int64_t newest, bool is_given);

  const TileProgram& program_;
  const TilePlan& plan_;
  const TileRole& role_;
  KernelCall& call_;
  const TileAndBlock at_;
  const IndexVector& tile_ = at_.tile;
  // Time steps that are computed.
  const int64_t first_ = plan_.FirstTimeStepOf(at_.block);
  const int64_t last_ = plan_.LastTimeStepOf(at_.block);
  std::vector<FieldTimeSteps> fields_;
  std::vector<int64_t> offsets_;  // of the rings' windows, in order
  std::vector<Window> inputs_;
  TileSweep sweep_{program_, tile_, fields_, inputs_};
  size_t first_result_ = 0;                 // among the outputs
  std::vector<bool> is_given_as_computed_;  // by field
  bool is_swept_away_ = false;
  TileCarry carry_{program_, tile_, fields_, call_};
};

bool TileRun::FitInputs() const {
  const std::vector<int64_t> wanted = InputBytesOf(program_, role_, at_);
  bool fit = call_.inputs.size() >= wanted.size();
  for (size_t i = 0; fit && i < wanted.size(); ++i) {
    const Value& input = call_.inputs[i];
    fit = (input.IsNone() ? 0 : input.bytes()) >= wanted[i];
  }
  return fit;
}

absl::Status TileRun::RunStatic() {
  size_t input = 0;
  size_t output = 0;
  for (const TileField& field : plan_.fields) {
    fields_.emplace_back();
    if (IsTaken(field, role_)) TakeWindow(field, input++);
    if (!IsMadeBy(field, role_)) continue;
    const Box box = plan_.Window(field, tile_);
    Value& value = call_.outputs[output++];
    // Points that no task creates still have one value.
    std::memset(value.mutable_data(), 0, value.bytes());
    fields_.back().ring.push_back(DenseWindow(value.mutable_data(), box));
  }
  Value scratch = program_.scratch.Take(SizeGathered());
  PlaceGathered(static_cast<char*>(scratch.mutable_data()));
  DOGGED_ASSIGN_OR_RETURN(const Value inputs,
                          PlaceInputs(program_, BoxesOfInputs(), inputs_));
  sweep_.RunStatic(role_.stage);
  program_.scratch.Give(std::move(scratch));
  WriteResults(0);
  for (Value& value : call_.outputs) value.UnifyNans();
  return absl::OkStatus();
}

void TileRun::TakeWindow(const TileField& field, size_t input) {
  void* const data = input < call_.inputs.size()
                         ? const_cast<void*>(call_.inputs[input].data())
                         : nullptr;
  fields_.back().ring.push_back(DenseWindow(data, plan_.Window(field, tile_)));
}

int64_t TileRun::SizeGathered() {
  std::vector<Box> boxes = EmptyBoxes(plan_);
  const auto set_window = [&](size_t f) {
    fields_[f].ring = {DenseWindow(nullptr, boxes[f])};
  };
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (plan_.fields[f].is_gathered) set_window(f);
  }
  // Pieces that read a gathered coefficient stand behind the pieces that make
  // it.
  for (size_t p = plan_.pieces.size(); p-- > 0;) {
    const TilePiece& piece = plan_.pieces[p];
    const bool is_gathered = plan_.IsGathered(piece);
    if (is_gathered) set_window(static_cast<size_t>(piece.stores.front()));
    const bool reads_gathered = std::any_of(
        piece.loads.begin(), piece.loads.end(),
        [this](const TileLoad& load) { return plan_.IsGathered(load); });
    if (!reads_gathered) continue;
    const bool is_static_task = role_.kind == TileRole::Kind::kStatic;
    if (is_gathered || (piece.is_static && is_static_task &&
                        plan_.StageOf(piece) == role_.stage)) {
      AddReads(plan_, piece, sweep_.PieceBox(p, 0, 0), boxes);
    }
    if (piece.is_static || is_static_task) continue;
    for (int64_t time_step = first_; time_step <= last_; ++time_step) {
      AddReads(plan_, piece, sweep_.PieceBox(p, time_step, last_ - time_step),
               boxes);
    }
  }
  int64_t bytes = 0;
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (plan_.fields[f].is_gathered)
      bytes += BytesOf(plan_.fields[f], boxes[f]);
  }
  return bytes;
}

void TileRun::PlaceGathered(char* memory) {
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    if (!field.is_gathered) continue;
    Window& window = fields_[f].ring.front();
    window.data = memory;
    memory += BytesOf(field, window.box);
  }
}

int64_t TileRun::SizeRings() {
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    is_given_as_computed_.push_back(role_.gives_carry && IsGivenAsComputed(f));
  }
  is_swept_away_ = IsSweptAway();
  const int64_t time_steps = last_ - first_ + 1;
  int64_t bytes = 0;
  size_t input = 0;
  for (const TileField& field : plan_.fields) {
    fields_.emplace_back();
    if (IsTaken(field, role_)) TakeWindow(field, input++);
    if (field.is_static) continue;  // a gathered coefficient has no window
    const Box box = plan_.Window(field, tile_);
    Window window = DenseWindow(nullptr, box);
    int64_t points = box.Count();
    // A coefficient may have its dimensions in another order.
    const bool has_planes = field.dims.size() > 1 && field.dims.front() == 0;
    if (is_swept_away_ && !plan_.IsAhead(field) && has_planes && points > 0) {
      const int64_t row = points / box.Extents()[0];
      const int64_t span = program_.order.Span(time_steps, sweep_.SlabOf(row));
      if (span < box.Extents()[0]) {
        window.planes = span;
        points = span * row;
      }
    }
    const int64_t computed = plan_.IsAhead(field) ? time_steps : 1;
    for (int64_t i = 0; i < std::max<int64_t>(1, computed) + field.carried;
         ++i) {
      fields_.back().ring.push_back(window);
      offsets_.push_back(bytes);
      // A spare line between windows, so that the rows of two time steps don't
      // compete for the same sets of the cache.
      bytes += (points * ElementBytes(field.element) + 63) / 64 * 64 + 192;
    }
  }
  return bytes;
}

Value TileRun::TakeScratch() {
  const int64_t bytes = SizeRings();
  Value scratch = program_.scratch.Take(bytes + SizeGathered());
  if (program_.has_masks) {
    std::memset(scratch.mutable_data(), 0, bytes);
  }
  PlaceGathered(static_cast<char*>(scratch.mutable_data()) + bytes);
  size_t next = 0;
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (plan_.fields[f].is_static) continue;
    for (Window& window : fields_[f].ring) {
      window.data =
          static_cast<char*>(scratch.mutable_data()) + offsets_[next++];
    }
  }
  return scratch;
}

// Points of a label that no task creates still go out with their tile, and a
// value has one digest.
void TileRun::ZeroUncovered(int64_t time_step, int64_t newest, bool is_given) {
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    const FieldTimeSteps& time_steps = fields_[f];
    const bool is_here =
        time_steps.given.has_value() && time_step == time_steps.given_time_step;
    // A field that carries less has newer time steps in its ring.
    if (field.is_static || is_here != is_given ||
        time_step < newest - field.carried ||
        time_steps.At(time_step).planes != Window::kAll) {
      continue;
    }
    std::vector<Box> open = {plan_.Core(field, tile_)};
    for (size_t p = 0; p < plan_.pieces.size() && !open.empty(); ++p) {
      const TilePiece& piece = plan_.pieces[p];
      if (piece.is_static || !Contains(piece.stores, f)) continue;
      const Box box = sweep_.PieceBox(p, time_step, 0);
      if (box.IsEmpty()) continue;
      std::vector<int32_t> coordinates;
      for (const int32_t d : field.dims) coordinates.push_back(d + 1);
      open = Without(open, Project(box, coordinates));
    }
    for (const Box& box : open) {
      ZeroBox(fields_[f].At(time_step), box, ElementBytes(field.element));
    }
  }
}

bool TileRun::IsResultTimeStep(int64_t time_step) const {
  return std::any_of(role_.results.begin(), role_.results.end(),
                     [time_step](const TileResult& result) {
                       return result.IsWanted(time_step);
                     });
}

// True if the last time step of field f may be computed where it is given away:
// nothing of it beyond the tile is needed, and all of it is stored.
bool TileRun::IsGivenAsComputed(size_t f) const {
  const TileField& field = plan_.fields[f];
  if (program_.has_masks || plan_.IsAhead(field) || field.carried != 1 ||
      last_ < first_ || plan_.Core(field, tile_).IsEmpty()) {
    return false;
  }
  for (size_t p = 0; p < plan_.pieces.size(); ++p) {
    if (!Contains(plan_.pieces[p].stores, f)) continue;
    for (const auto* widths : {&program_.halos.below, &program_.halos.above}) {
      for (const int64_t points : (*widths)[p].front()) {
        if (points > 0) return false;
      }
    }
  }
  return true;
}

bool TileRun::IsSweptAway() const {
  if (!role_.gives_carry || !sweep_.GoesBySlabs()) return false;
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    if (field.is_static || plan_.IsAhead(field) || is_given_as_computed_[f]) {
      continue;
    }
    const bool is_wanted = std::any_of(
        role_.results.begin(), role_.results.end(), [&](const auto& result) {
          return result.field == static_cast<int32_t>(f) &&
                 result.IsWanted(last_);
        });
    if (field.carried > 0 || is_wanted) return false;
  }
  for (int64_t time_step = first_; time_step < last_; ++time_step) {
    if (IsResultTimeStep(time_step)) return false;
  }
  return true;
}

absl::Status TileRun::RunTimeSteps() {
  Value scratch = TakeScratch();
  DOGGED_ASSIGN_OR_RETURN(const Value inputs,
                          PlaceInputs(program_, BoxesOfInputs(), inputs_));
  if (role_.kind == TileRole::Kind::kStep) {
    carry_.ListReads(first_ - 1);
    carry_.ReadCoefficients();
  }
  sweep_.RunStatic(std::nullopt);
  if (role_.gives_carry) {
    carry_.ListGiven(last_, is_given_as_computed_);
    ZeroUncovered(last_, last_, /*is_given=*/true);
  }
  // A time step that a result takes is whole before the next one begins.
  for (int64_t time_step = first_; time_step <= last_;) {
    int64_t to = time_step;
    while (to < last_ && !IsResultTimeStep(to)) ++to;
    sweep_.RunTimeSteps(
        time_step, to, last_, [this](int64_t plane) { carry_.Read(plane); },
        [this, to](int64_t plane) {
          if (to == last_) carry_.Give(plane);
        });
    if (!is_swept_away_) carry_.Read(INT64_MAX);
    if (!program_.has_masks) ZeroUncovered(to, to, /*is_given=*/false);
    WriteResults(to);
    time_step = to + 1;
  }
  for (size_t r = 0; r < role_.results.size(); ++r) {
    call_.outputs[first_result_ + r].UnifyNans();
  }
  if (role_.gives_carry) {
    if (!is_swept_away_) carry_.Read(INT64_MAX);
    WriteCarry();
  }
  program_.scratch.Give(std::move(scratch));
  return absl::OkStatus();
}

void TileRun::WriteCarry() {
  if (!program_.has_masks) {
    int64_t carried = 0;
    for (const TileField& field : plan_.fields) {
      carried = std::max(carried, field.carried);
    }
    // The last one is done.
    for (int64_t time_step = std::max(first_, last_ - carried + 1);
         time_step < last_; ++time_step) {
      ZeroUncovered(time_step, last_, /*is_given=*/false);
    }
  }
  carry_.GiveAll();
}

void TileRun::WriteResults(int64_t time_step) {
  for (size_t r = 0; r < role_.results.size(); ++r) {
    const TileResult& result = role_.results[r];
    const int64_t f = result.field;
    const TileField& field = plan_.fields[f];
    if (!field.is_static && !result.IsWanted(time_step)) continue;
    Value& value = call_.outputs[first_result_ + r];
    const IndexVector strides = RowMajor(value.shape());
    const int time = result.has_time ? field.time_position : -1;
    const int64_t bytes = ElementBytes(field.element);
    const Box wanted = result.WantedOf(plan_.Core(field, tile_));
    if (wanted.IsEmpty()) continue;
    const Window from =
        EveryOf(fields_[f].At(time_step), wanted, result.step, bytes);
    Window to{.data = static_cast<char*>(value.mutable_data()),
              .box = from.box,
              .strides = {}};
    for (int d = 0; d < strides.size(); ++d) {
      if (d != time) to.strides.push_back(strides[d]);
    }
    if (time >= 0) {
      const int64_t at =
          (time_step - result.FirstWanted(first_)) / result.time_interval;
      to.data += at * strides[time] * bytes;
    }
    CopyBox(from, to, from.box, bytes);
  }
}

class TileKernel : public Kernel {
 public:
  TileKernel(std::shared_ptr<const TileProgram> program, TileRole role)
      : program_(std::move(program)),
        role_(std::move(role)),
        reads_inputs_(dsl::ReadsInputs(*program_, role_)) {}
  absl::Status Run(KernelCall& call) const override {
    return TileRun(*program_, role_, call).Run();
  }
  bool Fits(const TaskClass& c) const override {
    const bool has_block = role_.kind == TileRole::Kind::kStep;
    return c.domain.size() >= program_->plan.dim_count() + (has_block ? 1 : 0);
  }
  ByteCounts OutputBytes(const Task& task) const override {
    const TileAndBlock at(program_->plan, role_, task.index);
    ByteCounts out;
    for (const TileOutput& output : OutputsOf(*program_, role_, at)) {
      out.push_back(output.bytes());
    }
    return out;
  }
  int64_t ScratchBytes(const Task& task) const override {
    KernelCall call{.task = task, .inputs = {}, .outputs = {}};
    return TileRun(*program_, role_, call).ScratchBytes();
  }
  bool ReadsInputs() const override { return reads_inputs_; }
  void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t, const DenseBox&)> f) const override {
    KernelCall call{.task = task, .inputs = {}, .outputs = {}};
    const std::vector<Box> boxes =
        TileRun(*program_, role_, call).ReadsOfInputs();
    for (size_t i = 0; i < boxes.size(); ++i) {
      const TileInput& input = program_->plan.inputs[i];
      const DenseBox box = InArray(input, boxes[i]);
      if (box.first.size() == input.box.size()) f(input.position, box);
    }
  }

 private:
  std::shared_ptr<const TileProgram> program_;
  TileRole role_;
  bool reads_inputs_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const TileProgram>> MakeTileProgram(
    TilePlan plan, std::vector<std::unique_ptr<BoxFunction>> functions,
    std::vector<InputArray> inputs) {
  DOGGED_CHECK(functions.size() == plan.pieces.size()) << functions.size();
  DOGGED_CHECK(inputs.size() == plan.inputs.size()) << inputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() != plan.inputs[i].element ||
        inputs[i].shape() != plan.inputs[i].box.Extents()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " has the wrong type or shape"));
    }
  }
  auto out = std::make_shared<TileProgram>();
  out->halos = ComputeHalos(plan);
  out->order = FindSweepOrder(plan);
  for (const TilePiece& piece : plan.pieces) {
    out->has_masks |= !piece.is_static && piece.code.mask >= 0;
  }
  out->directions = plan.Directions();
  out->plan = std::move(plan);
  out->functions = std::move(functions);
  out->inputs = std::move(inputs);
  return std::shared_ptr<const TileProgram>(std::move(out));
}

std::unique_ptr<Kernel> MakeTileKernel(
    std::shared_ptr<const TileProgram> program, TileRole role) {
  return std::make_unique<TileKernel>(std::move(program), std::move(role));
}

}  // namespace dogged::dsl
