// Aim: bytes that are no plan of ours are refused: no run goes beyond its
// arrays, and little is allocated.
// Method: the plan of a program of its own; cut short, with bytes changed, with
// each number at its ends. A plan that is let through is worked out as before a
// run.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "dsl/ir/tile_plan_codec.h"
#include "dsl/kernels/tile_program.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

// Two fields, one of them static and from a file, two time steps back.
constexpr char kText[] = R"(
param N = 20
param T = 12
input c(x)(y) for x = 0:N  y = 0:N
boundary u(x)(y)(t) = periodic(x)
boundary u(x)(0)(t) = 1
boundary u(x)(N)(t) = t
boundary u(x)(y)(0) = x where y > 0 and y < N
boundary u(x)(y)(1) = y where y > 0 and y < N
task step
  creates u(x)(y)(t) as n
  for  x = 0:N  y = 1:N-1  t = 2:T
  using
    u(x-1)(y)(t-1) as a
    u(x)(y+1)(t-2) as b
    c(x)(y) as k
  code
    n = 0.5*(a + b)*k
  end code
end task
result u(:)(:)(T)
)";

std::string PlanBytes() {
  CompileOptions options = Options();
  options.inputs["c"] = Value::Allocate(ElementType::kDouble, {21, 21});
  options.shape = TileShape{.widths = {7, 9}, .depth = 4};
  const Job job = MustCompile(kText, options);
  return job.program.kernels.front().body;
}

// Does with a plan all that comes before a run; false if it is refused.
bool IsTaken(absl::string_view bytes) {
  Decoder in(bytes);
  TilePlan plan = DecodeTilePlan(in);
  if (!in.Finish("plan").ok()) return false;
  ComputeHalos(plan);
  FindSweepOrder(plan);
  plan.Directions();
  for (const TileField& field : plan.fields) {
    IndexVector tile;
    for (const int64_t count : plan.counts) tile.push_back(count - 1);
    plan.Core(field, tile).Count();
    plan.Window(field, tile).Count();
  }
  return true;
}

// The plan of `bytes`, changed.
bool IsTakenWith(absl::string_view bytes,
                 absl::FunctionRef<void(TilePlan&)> change) {
  Decoder in(bytes);
  TilePlan plan = DecodeTilePlan(in);
  change(plan);
  Encoder out;
  EncodeTilePlan(plan, out);
  return IsTaken(out.view());
}

TEST(TilePlanTest, WhatIsCutShortIsRefused) {
  const std::string bytes = PlanBytes();
  EXPECT_TRUE(IsTaken(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(IsTaken(absl::string_view(bytes).substr(0, size))) << size;
  }
}

TEST(TilePlanTest, OtherBytesDoNoHarm) {
  const std::string bytes = PlanBytes();
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::string changed = bytes;
    for (int64_t k = 1 + rng.Below(4); k > 0; --k) {
      const auto at = static_cast<size_t>(rng.Below(std::ssize(changed)));
      changed[at] = static_cast<char>(rng.Chance(0.3) ? 0xff : rng.Below(256));
    }
    IsTaken(changed);
    std::string garbage(static_cast<size_t>(rng.Below(200)), '\0');
    for (char& c : garbage) c = static_cast<char>(rng.Below(256));
    IsTaken(garbage);
  }
}

int32_t Near(int64_t n) {
  using Limits = std::numeric_limits<int32_t>;
  return static_cast<int32_t>(
      std::clamp<int64_t>(n, Limits::min(), Limits::max()));
}

TileLoad& InputLoad(TilePlan& plan) {
  for (TilePiece& piece : plan.pieces) {
    for (TileLoad& load : piece.loads) {
      if (load.is_input) return load;
    }
  }
  return plan.pieces.front().loads.front();
}

TEST(TilePlanTest, NumbersAtTheirEndsAreRefused) {
  const std::string bytes = PlanBytes();
  using Change = std::function<void(TilePlan&, int64_t)>;
  const auto last_piece = [](TilePlan& plan) -> TilePiece& {
    for (TilePiece& piece : plan.pieces) {
      if (piece.loads.size() == 3) return piece;
    }
    return plan.pieces.back();
  };
  const std::vector<std::pair<const char*, Change>> changes = {
      {"space", [](auto& p, int64_t n) { p.space.lower[0] = n; }},
      {"space's end", [](auto& p, int64_t n) { p.space.upper[1] = n; }},
      {"width", [](auto& p, int64_t n) { p.widths[0] = n; }},
      {"count", [](auto& p, int64_t n) { p.counts[1] = n; }},
      {"first time step", [](auto& p, int64_t n) { p.first_time_step = n; }},
      {"base time step", [](auto& p, int64_t n) { p.base_time_step = n; }},
      {"last time step", [](auto& p, int64_t n) { p.last_time_step = n; }},
      {"depth", [](auto& p, int64_t n) { p.depth = n; }},
      {"first round", [](auto& p, int64_t n) { p.round_first = n; }},
      {"step of rounds", [](auto& p, int64_t n) { p.round_step = n; }},
      {"slab", [](auto& p, int64_t n) { p.slab_points = n; }},
      {"carried", [](auto& p, int64_t n) { p.fields[0].carried = n; }},
      {"time", [](auto& p, int64_t n) { p.fields[0].time_position = Near(n); }},
      {"dimension", [](auto& p, int64_t n) { p.fields[0].dims[0] = Near(n); }},
      {"field", [](auto& p, int64_t n) { p.fields[0].box.lower[0] = n; }},
      {"field's end", [](auto& p, int64_t n) { p.fields[1].box.upper[0] = n; }},
      {"input", [](auto& p, int64_t n) { p.inputs[0].box.upper[0] = n; }},
      {"store", [&](auto& p, int64_t n) { last_piece(p).stores[0] = Near(n); }},
      {"source",
       [&](auto& p, int64_t n) { last_piece(p).loads[0].source = Near(n); }},
      {"lag",
       [&](auto& p, int64_t n) { last_piece(p).loads[1].lag = Near(n); }},
      {"coordinate",
       [&](auto& p, int64_t n) {
         last_piece(p).loads[0].coordinates[0] = Near(n);
       }},
      {"shift",
       [&](auto& p, int64_t n) { last_piece(p).loads[0].shifts[0] = n; }},
      {"factor",
       [](auto& p, int64_t n) { InputLoad(p).at[0].coefficients[1] = n; }},
      {"index", [](auto& p, int64_t n) { InputLoad(p).at[1].constant = n; }},
      {"maker",
       [&](auto& p, int64_t n) { last_piece(p).makers[0][0] = Near(n); }}};
  const std::vector<int64_t> ends = {
      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
      -(int64_t{1} << 41) - 99, (int64_t{1} << 42) + 99};
  for (const auto& [name, change] : changes) {
    for (const int64_t end : ends) {
      Decoder in(bytes);
      TilePlan plan = DecodeTilePlan(in);
      ASSERT_TRUE(in.ok());
      change(plan, end);
      Encoder out;
      EncodeTilePlan(plan, out);
      const std::string changed = out.Take();
      EXPECT_FALSE(IsTaken(changed)) << name << " is " << end;
    }
  }
}

// Each time step of a block takes memory, whoever asks for it.
TEST(TilePlanTest, BlocksHaveSoManyTimeSteps) {
  const std::string bytes = PlanBytes();
  Decoder in(bytes);
  TilePlan plan = DecodeTilePlan(in);
  plan.depth = int64_t{1} << 39;
  Encoder out;
  EncodeTilePlan(plan, out);
  EXPECT_FALSE(IsTaken(out.view()));
}

// Scalar inputs are computed by no piece, and pieces computed before all others
// read none.
TEST(TilePlanTest, ScalarInputsComeFromElsewhere) {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {9}, .depth = 2};
  const Job job = MustCompile(R"(
input k(x) for x = 0:20 else x
reduce total = sum(k(x)) over x = 0:20
boundary scale = 0.25
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for x = 0:20  t = 1:4
  using
    u(x)(t-1) as c
    total     as m
    scale     as s
  code
    n = c*s + m
  end code
end task
result u(:)(4)
)",
                              options);
  const std::string& bytes = job.program.kernels.front().body;
  ASSERT_TRUE(IsTaken(bytes)) << job.lowering;
  const auto is_taken_with = [&bytes](auto change) {
    return IsTakenWith(bytes, change);
  };
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TileField& field : plan.fields) {
      if (field.name == "scale") field.scalar_input = IndexVector();
    }
  }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TilePiece& piece : plan.pieces) piece.is_static = true;
  }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TileField& field : plan.fields) field.is_static = false;
  }));
}

// A task makes what it reads of a gathered coefficient, backwards from those
// who read it.
TEST(TilePlanTest, TablesAreMadeBeforeTheyAreRead) {
  CompileOptions options = Options();
  options.shape = TileShape{.widths = {9}, .depth = 2};
  const Job job = MustCompile(R"(
task first
  creates a(i) as n
  for i = 0:60
  code
    n = i
  end code
end task
task second
  creates b(i) as n
  for i = 0:30
  using a(2*i) as v
  code
    n = v + 1
  end code
end task
boundary u(x)(0) = x
task step
  creates u(x)(t) as n
  for x = 0:20  t = 1:4
  using
    u(x)(t-1) as c
    b(x+t)    as s
  code
    n = c + s
  end code
end task
result u(:)(4)
)",
                              options);
  const std::string& bytes = job.program.kernels.front().body;
  ASSERT_TRUE(IsTaken(bytes)) << job.lowering;
  const auto is_taken_with = [&bytes](auto change) {
    return IsTakenWith(bytes, change);
  };
  EXPECT_TRUE(is_taken_with([](TilePlan&) {}));
  EXPECT_FALSE(is_taken_with(
      [](TilePlan& plan) { std::swap(plan.pieces[0], plan.pieces[1]); }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TileField& field : plan.fields) field.is_gathered = false;
  }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TileField& field : plan.fields) field.is_gathered = true;
  }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TilePiece& piece : plan.pieces) piece.is_static = false;
  }));
  EXPECT_FALSE(is_taken_with([](TilePlan& plan) {
    for (TilePiece& piece : plan.pieces) {
      for (TileLoad& load : piece.loads) load.at.clear();
    }
  }));
}

// A time step beyond those that are kept is refused: the sweep would divide by
// zero.
TEST(TilePlanTest, WhatIsNotKeptCannotBeRead) {
  const std::string bytes = PlanBytes();
  Decoder in(bytes);
  TilePlan plan = DecodeTilePlan(in);
  for (TilePiece& piece : plan.pieces) {
    for (TileLoad& load : piece.loads) {
      if (load.is_input) continue;
      const int64_t kept = plan.fields[load.source].carried;
      load.lag = static_cast<int32_t>(kept) + 1;
    }
  }
  Encoder out;
  EncodeTilePlan(plan, out);
  EXPECT_FALSE(IsTaken(out.view()));
}

}  // namespace
}  // namespace dogged::dsl
