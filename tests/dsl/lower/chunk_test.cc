// Aim: programs that read by tables give the same values in chunks as point by
// point, whatever the tables, the size of a chunk and the agents that die; and
// those that chunks can't take are told why.
// Method: programs of each shape and drawn ones in chunks of several sizes,
// beside the same program by points; simulated agents with crashes; damaged
// bodies.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dsl/ir/chunk_body.h"
#include "gmock/gmock.h"
#include "runtime/graph/keys/traffic.h"
#include "runtime/sim/cluster.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/lower/table_programs.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CompileOptions InChunks(int64_t points) {
  CompileOptions options = Options();
  options.chunk_points = points;
  return options;
}

CompileOptions ByPoints() {
  CompileOptions options = Options();
  options.coalesce = false;
  return options;
}

// Diffusion on a mesh; cells have three neighbours, and a number per step.
std::string Mesh(int64_t cells) {
  return absl::StrCat("param N = ", cells, R"(
param T = 7
array side(c = 0:N-1)(k = 0:2) : int64
input side(c)(k) for c = 0:N-1  k = 0:2 else (c*(2*k + 5) + 3*k + 1) % N
input u(c)(0) for c = 0:N-1 else sqrt(c)
input dt(t) for t = 1:T else 0.1/t
task diffuse
  creates u(c)(t) as n
  for c = 0:N-1  t = 1:T
  using
    u(c)(t-1)          as own
    u(side(c)(0))(t-1) as first
    u(side(c)(1))(t-1) as second where t > 2 else 3
    u(side(c)(2))(t-1) as third
    dt(t)              as h
  code
    n = own + h*(first + second + third - 3*own) + c
  end code
end task
result u(:)(T)
result u(:)(:)
)");
}

// Two arrays that are made of one another, one of them step by step within a
// step.
constexpr char kSparse[] = R"(
param N = 60
param K = 4
param T = 5
array col(i = 0:N-1)(k = 0:K-1) : int64
input col(i)(k) for i = 0:N-1  k = 0:K-1 else (i*i + 7*k*i + k) % N
input w(i)(k) for i = 0:N-1  k = 0:K-1 else 1.0/(1 + i + k)
input x(i)(0) for i = 0:N-1 else 1 + i % 3
task multiply
  creates part(i)(k)(t) as s
  for i = 0:N-1  k = 0:K-1  t = 1:T
  using
    part(i)(k-1)(t) as before where k > 0 else 0
    x(col(i)(k))(t-1) as b
    w(i)(k) as f
  code
    s = before + b*f
  end code
end task
task next
  creates x(i)(t) as n
  for i = 0:N-1  t = 1:T
  using part(i)(K-1)(t) as p
  code
    n = 0.125*p
  end code
end task
result x(:)(T)
)";

// Labels with other origins than 0, an int64 array, one value that all read and
// one that reads of a chunked array by a number.
constexpr char kShifted[] = R"(
param N = 301
array p(i = 3:N+2) : int64
array m(i = 10:N+9) : int64
input p(i) for i = 3:N+2 else 10 + (7*i + 3) % N
input m(i) for i = 10:N+9 else 5*i
task first
  creates scale as s
  using m(12) as a
  code
    s = a + 1
  end code
end task
task take
  creates b(i) as o
  for i = 3:N+2
  using
    m(p(i)) as v
    scale   as s
  code
    o = v*s + i
  end code
end task
result b(:)
result scale
)";

// Rows read of one another in an order that no index tells by a number.
constexpr char kFolded[] = R"(
param N = 301
array p(i = 0:N-1) : int64
input p(i) for i = 0:N-1 else (7*i + 3) % N
task fold
  creates a(i)(k) as o
  for i = 0:N-1  k = 0:3
  using a(p(i))(3-k) as v where k > 1 else i
  code
    o = 2*v + k
  end code
end task
result a(:)(:)
)";

// Rows of a sparse matrix summed up, and what of each step says when to end.
constexpr char kLoop[] = R"(
param N = 70
param K = 3
repeat T = 2:40:2 until change(T) < 0.05
array col(i = 1:N)(k = 0:K-1) : int64
input col(i)(k) for i = 1:N  k = 0:K-1 else 1 + (i*i + 7*k*i + k) % N
input w(i)(k) for i = 1:N  k = 0:K-1 else 1.0/(2 + i + k)
input b(i) for i = 1:N else 1 + i % 3
input x(i)(0) for i = 1:N else 0
task multiply
  creates part(i)(k)(t) as s
  for i = 1:N  k = 0:K-1  t = 1:T
  using
    x(col(i)(k))(t-1) as b
    w(i)(k) as f
  code
    s = b*f
  end code
end task
reduce ax(i)(t) = sum(part(i)(k)(t)) for i = 1:N  t = 1:T over k = 0:K-1
task next
  creates x(i)(t) as n
  for i = 1:N  t = 1:T
  using
    ax(i)(t) as a
    b(i) as right
  code
    n = right + 0.5*a
  end code
end task
task move
  creates d(i)(t) as m
  for i = 1:N  t = 2:T:2
  using
    x(i)(t) as now
    x(i)(t-1) as before
  code
    m = now - before
  end code
end task
reduce change(t) = normmax(d(i)(t)) for t = 2:T:2 over i = 1:N
result x(:)(T)
result x(3:40)(T)
result x(7)(t) for t = 1:T
result change(t) for t = 2:T:2
)";

// Reductions of each kind and type, of parts of what lies in blocks, of rows
// that not all steps have, of what another one makes, and of nothing.
constexpr char kReductions[] = R"(
param N = 83
param T = 4
array p(i = 0:N-1) : int64
array c(i = -2:N-3) : int64
array g(k = 0:4)(i = 3:N+2) : float
input p(i) for i = 0:N-1 else (7*i + 3) % N
input c(i) for i = -2:N-3 else 5*i - 90
input g(k)(i) for k = 0:4  i = 3:N+2 else float(sin(i*k))
input u(i)(0) for i = 0:N-1 else cos(i)
task step
  creates u(i)(t) as n
  for i = 0:N-1  t = 1:T
  using
    u(p(i))(t-1) as x
    mean(t-1) as m
  code
    n = 1.5*x - m/83
  end code
end task
reduce mean(t) = sum(u(i)(t)) for t = 0:T over i = 0:N-1
reduce least = min(u(i)(T)) over i = 5:N-9
reduce size(t) = norm2(u(i)(t)) for t = 0:T over i = 1:1
reduce far = normmax(u(i)(t)) over t = 1:T  i = 2:N-1 where t % 2 == 0
reduce all = sum(c(i)) over i = -1:N-3
reduce top = max(c(i)) over i = 7:70
reduce column(i) = sum(g(k)(i)) for i = 3:N+2 over k = 1:4 where k != 2
reduce highest(i) = max(g(k)(i)) for i = 3:N+2 over k = 0:4 where k > 0
reduce rows(k) = sum(g(k)(i)) for k = 0:4 over i = 4:N
reduce total = sum(column(i)) over i = 3:N+2
reduce means = sum(mean(t)) over t = 0:T
result u(:)(T)
result u(3)(:)
result u(4:N-1)(2:T)
result u(2:N-1:3)(T)
result mean
result least
result size
result far
result all
result top
result column
result highest
result rows
result total
result means
)";

// Boundaries on all sides, a step that depends on a number of all points before
// it, and a second array that a task makes together with the first one, with
// boundaries of its own.
constexpr char kFeedback[] = R"(
param N = 19
param M = 11
param T = 4
boundary u(0)(y)(t) = 1
boundary u(N)(y)(t) = y
boundary u(x)(0)(t) = 0.5 where x > 0 and x < N
boundary u(x)(M)(t) = x where x > 0 and x < N
boundary u(x)(y)(0) = x*y where x > 0 and x < N and y > 0 and y < M
boundary w(x)(y)(t) = 2*x where x == 0 or x == N
boundary w(x)(0)(t) = t where x > 0 and x < N
boundary w(x)(M)(t) = x - t where x > 0 and x < N
task step
  creates u(x)(y)(t) as n
          w(x)(y)(t) as m
  for x = 1:N-1 y = 1:M-1 t = 1:T
  using
    u(x-1)(y)(t-1) as a
    u(x+1)(y)(t-1) as b
    u(x)(y-1)(t-1) as c
    u(x)(y+1)(t-1) as d
    peak(t-1) as p
    w(x)(y)(t-1) as o where t > 1 else x
  code
    n = 0.25*(a+b+c+d)/p
    m = 0.5*o + x*p*a
  end code
end task
reduce peak(t) = max(u(x)(y)(t)) for t = 0:T over x = 1:N-1 y = 1:M-1
reduce row(x) = sum(u(x)(y)(T)) for x = 0:N over y = 0:M
reduce rest(t) = norm2(w(x)(y)(t)) for t = 1:T over x = 1:N-1 y = 2:M
result u(:)(:)(T)
result u(2:N-2)(3)(1:T)
result w(:)(:)(T)
result peak
result row
result rest
)";

// Conjugate gradients of a stencil: Poisson's equation on a square.
constexpr char kPoisson[] = R"(
param N = 12
repeat T = 1:60 until rr(T) < 1e-6
task start
  creates r(x)(y)(0) as r0
  for x = 1:N y = 1:N
  code
    r0 = x + 2*y
  end code
end task
boundary u(x)(y)(0) = 0 where x > 0 and y > 0 and x <= N and y <= N
boundary p(x)(y)(0) = x + 2*y where x > 0 and x <= N and y > 0 and y <= N
boundary p(0)(y)(t) = 0
boundary p(N+1)(y)(t) = 0
boundary p(x)(0)(t) = 0 where x > 0 and x <= N
boundary p(x)(N+1)(t) = 0 where x > 0 and x <= N
task apply
  creates q(x)(y)(t) as v
          pq(x)(y)(t) as vp
  for x = 1:N y = 1:N t = 1:T
  using
    p(x)(y)(t-1) as o
    p(x-1)(y)(t-1) as a
    p(x+1)(y)(t-1) as b
    p(x)(y-1)(t-1) as c
    p(x)(y+1)(t-1) as d
  code
    v = 4*o - a - b - c - d
    vp = (4*o - a - b - c - d)*o
  end code
end task
reduce curvature(t) = sum(pq(x)(y)(t)) for t = 1:T over x = 1:N y = 1:N
task ahead
  creates u(x)(y)(t) as un
          r(x)(y)(t) as rn
  for x = 1:N y = 1:N t = 1:T
  using
    u(x)(y)(t-1) as uo
    r(x)(y)(t-1) as ro
    p(x)(y)(t-1) as po
    q(x)(y)(t) as qo
    rr(t-1) as old
    curvature(t) as c
  code
    un = uo + old/c*po
    rn = ro - old/c*qo
  end code
end task
task square
  creates r2(x)(y)(t) as s
  for x = 1:N y = 1:N t = 0:T
  using r(x)(y)(t) as v
  code
    s = v*v
  end code
end task
reduce rr(t) = sum(r2(x)(y)(t)) for t = 0:T over x = 1:N y = 1:N
task turn
  creates p(x)(y)(t) as n
  for x = 1:N y = 1:N t = 1:T
  using
    r(x)(y)(t) as ro
    p(x)(y)(t-1) as po
    rr(t) as now
    rr(t-1) as old
  code
    n = ro + now/old*po
  end code
end task
result u(:)(:)(T)
result rr(t) for t = 0:T
)";

// Classes that make parts of rows at offsets from their own indices, with
// tables of these, code that takes them, a second array, and parts as results.
constexpr char kOffsets[] = R"(
param N = 71
param T = 5
array p(c = 2:N-1)(k = 0:1) : int64
input p(c)(k) for c = 2:N-1  k = 0:1 else (c*(2*k + 5) + 3*k + 1) % (N+3)
boundary u(0)(t) = 1 + t
boundary u(1)(t) = 2*t
boundary u(2)(t) = 3*t
boundary u(N+2)(t) = 4*t
boundary u(c)(0) = sqrt(c) where c > 2 and c < N+2
boundary u(c)(t) = 0.5 + t where c == N+3
input dt(t) for t = 1:T else 0.1/t
task most
  creates u(c+1)(t) as n
          v(c+1)(t) as m
  for c = 2:N  t = 1:T
  where c < N
  using
    u(c)(t-1)            as own
    u(p(c)(0))(t-1)      as first
    u(p(c)(1))(t-1)      as second where t > 2 else 3
    u(c+p(c)(1)-c)(t-1)  as third
    dt(t)                as h
  code
    n = own + h*(first + second + third - 3*own) + (c % 3 == 0 ? c : 0.5)
    m = first*c - second
  end code
end task
task last
  creates u(c-4)(t) as n
  for c = N+5:N+5  t = 1:T
  using u(c-3)(t-1) as a
  code
    n = 0.5*a + c
  end code
end task
reduce top(t) = max(u(c)(t)) for t = 0:T over c = 0:N+3
reduce part = sum(v(c)(T)) over c = 3:N-1
result u(:)(:)
result u(5:40)(3:T)
result v(7:N-9:3)(T)
result v(7)(:)
result top
result part
)";

// Offsets along all indices, of a step that depends on a number of all points
// before it, and a hole that another task fills.
constexpr char kOffsetGrid[] = R"(
param N = 40
param M = 6
param T = 4
boundary u(0)(y)(t) = 1 + t
boundary u(N)(y)(t) = y
boundary u(x)(0)(t) = 0.5 where x > 0 and x < N
boundary u(x)(M)(t) = x where x > 0 and x < N
boundary u(x)(y)(0) = x*y where x > 0 and x < N and y > 0 and y < M
task step
  creates u(x+2)(y-1)(t+1) as n
          w(x+2)(y-1)(t+1) as m
  for x = -1:N-3  y = 2:M  t = 0:T-1
  where x < 10 or y > 3 or x >= 20
  using
    u(x+1)(y-1)(t) as a
    u(x+3)(y-1)(t) as b
    u(x+2)(y-2)(t) as c where y > 3 else x
    u(x+2)(y)(t)   as d where t != 2 else y
    peak(t)        as p
    w(x+2)(y-1)(t) as o where t > 0 else x
  code
    n = 0.25*(a+b+c+d)/p + 0.001*x*y
    m = 0.5*o + x*p*a + y - t
  end code
end task
task hole
  creates u(x)(y)(t) as n
          w(x)(y)(t) as m
  for x = 12:21  y = 1:2  t = 1:T
  using u(x)(y)(t-1) as o
  code
    n = 0.5*o
    m = x - y
  end code
end task
reduce peak(t) = max(u(x)(y)(t)) for t = 0:T over x = 1:N-1  y = 1:M-1
result u(:)(:)(T)
result u(2:N-2)(3)(1:T)
result w(:)(:)(T)
result peak
)";

// A loop that ends by what is made at offsets, in its rounds' index as well.
constexpr char kOffsetLoop[] = R"(
param N = 70
param K = 3
repeat T = 2:40:2 until change(T) < 0.05
array col(i = 3:N+1)(k = 0:K-1) : int64
input col(i)(k) for i = 3:N+1  k = 0:K-1 else 1 + (i*i + 7*k*i + k) % N
input w(i)(k) for i = 1:N  k = 0:K-1 else 1.0/(2 + i + k)
input b(i) for i = 1:N else 1 + i % 3
boundary x(1)(t) = 1 + 1.0/(1 + t)
boundary x(i)(0) = 0 where i > 1 and i <= N
task multiply
  creates part(i-1)(k)(t) as s
  for i = 3:N+1  k = 0:K-1  t = 1:T
  using
    x(col(i)(k))(t-1) as b
    w(i-1)(k) as f
  code
    s = b*f + 0.001*i
  end code
end task
reduce ax(i)(t) = sum(part(i)(k)(t)) for i = 2:N  t = 1:T over k = 0:K-1
task next
  creates x(i+2)(t+1) as n
          d(i+2)(t+1) as m
  for i = 0:N-2  t = 0:T-1
  using
    ax(i+2)(t+1) as a
    b(i+2) as right
    x(i+2)(t) as before
  code
    n = right + 0.5*a
    m = right + 0.5*a - before
  end code
end task
reduce change(t) = normmax(d(i)(t)) for t = 2:T:2 over i = 2:N
result x(:)(T)
result x(3:40)(T)
result x(7)(t) for t = 1:T
result change(t) for t = 2:T:2
)";

// A ring that three tasks make, each at an offset of its own or at a number.
constexpr char kOffsetRing[] = R"(
param N = 50
param T = 4
boundary u(x)(t) = periodic(x)
task start
  creates u(x-2)(0) as n
  for x = 3:N+2
  code
    n = sin(x)
  end code
end task
task first
  creates u(x+1)(t) as n
  for x = 0:1  t = 1:T
  using
    u(x)(t-1)   as w
    u(x+3)(t-1) as e
    s(t-1)      as g
  code
    n = 0.5*(w + e) + x/(1 + g)
  end code
end task
task third
  creates u(3)(t) as n
  for t = 1:T
  using u(0)(t-1) as w
  code
    n = w*t
  end code
end task
task others
  creates u(x+5)(t) as n
  for x = -1:N-5  t = 1:T
  using
    u(x+3)(t-1) as w
    u(x+6)(t-1) as e
    s(t-1)      as g
  code
    n = 0.25*(w + e) + x/(1 + g)
  end code
end task
reduce s(t) = norm2(u(x)(t)) for t = 0:T over x = 1:N
result u(:)(T)
result u(1:7)(:)
)";

std::vector<std::string> Programs() {
  std::string with_boundary = Mesh(64);
  const std::string made = "task diffuse\n  creates u(c)(t) as n\n  for c = 0";
  with_boundary.replace(with_boundary.find(made), made.size(),
                        "boundary u(0)(t) = 1 where t > 0\ntask diffuse\n"
                        "  creates u(c)(t) as n\n  for c = 1");
  return {Mesh(64), Mesh(97),    Mesh(5),     with_boundary,
          kSparse,  kButterfly,  kShifted,    kFolded,
          kLoop,    kReductions, kFeedback,   kPoisson,
          kOffsets, kOffsetGrid, kOffsetLoop, kOffsetRing};
}

TEST(Chunks, GiveTheValuesOfPoints) {
  const KernelCache cache;
  for (const std::string& text : Programs()) {
    const Job points = MustCompile(text, ByPoints());
    ASSERT_THAT(points.lowering, StartsWith("point by point"));
    const std::string expected = MustDigest(points, cache.Source());
    for (const int64_t size : {1, 2, 8, 32}) {
      const Job job = MustCompile(text, InChunks(size));
      if (size <= 2) {
        EXPECT_THAT(job.lowering, StartsWith("chunks of")) << text;
      }
      const auto back = Job::Decode(job.Encode());
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(MustDigest(*back, cache.Source()), expected) << size << "\n"
                                                             << text;
      EXPECT_EQ(MustDigest(*back, nullptr), expected) << size << "\n" << text;
    }
  }
}

TEST(Chunks, AreAsManyTasksAsBlocks) {
  const Job job = MustCompile(Mesh(97), InChunks(16));
  EXPECT_THAT(job.lowering, StartsWith("chunks of 16 points"));
  // 7 blocks of u at 8 steps, and one of dt.
  EXPECT_EQ(job.program.TaskCount(), 7 * 8 + 1);
  CompileOptions many = Options();
  EXPECT_THAT(MustCompile(Mesh(40'000), many).lowering,
              StartsWith("chunks of 4096 points"));
  many.target = {.agents = 8, .workers = 4};
  EXPECT_THAT(MustCompile(Mesh(40'000), many).lowering,
              StartsWith("chunks of 1024 points"));
  const Job small = MustCompile(Mesh(300), Options());
  EXPECT_THAT(small.lowering, HasSubstr("no chunks: it is small"));
}

TEST(Chunks, AgentsThatDieLoseNothing) {
  for (const std::string& text :
       {Mesh(97), std::string(kSparse), std::string(kLoop),
        std::string(kReductions), std::string(kFeedback), std::string(kPoisson),
        std::string(kOffsets), std::string(kOffsetGrid),
        std::string(kOffsetLoop)}) {
    CompileOptions options = InChunks(8);
    options.target = {.agents = 4, .workers = 1};
    const Job job = MustCompile(text, options);
    const auto load = [](const Job& of) -> absl::StatusOr<LoadedKernels> {
      auto table = LoadKernels(of, KernelRegistry(), nullptr);
      if (!table.ok()) return table.status();
      return LoadedKernels(*std::move(table));
    };
    const std::map<Label, Digest> expected = SerialResults(job, load);
    const auto [first, last] = SeedRange(12);
    for (int64_t seed = first; seed <= last; ++seed) {
      SimOptions sim{.agents = 4,
                     .gathers_first = true,
                     .seed = static_cast<uint64_t>(seed),
                     .faults = {.crash = 2, .join = 1}};
      const SimOutcome out = Cluster(sim, job.Encode(), load).Run();
      EXPECT_TRUE(out.status.ok()) << "seed " << seed << ": " << out.status;
      EXPECT_EQ(out.results, expected) << "seed " << seed;
    }
  }
}

// A program of some arrays that are made step by step of one another and of a
// file, by drawn tables and offsets.
std::string Drawn(Rng& rng) {
  const auto draw = [&rng](int64_t least, int64_t most) {
    return least + rng.Below(most - least + 1);
  };
  const int64_t n = draw(2, 90);
  const int64_t origin = draw(-5, 5);
  const std::string range = absl::StrCat(origin, ":", origin + n - 1);
  std::string out = absl::StrCat("param T = ", draw(1, 4), "\n");
  for (const char* name : {"p", "q"}) {
    absl::StrAppend(&out, "array ", name, "(i = ", range, ") : int64\ninput ",
                    name, "(i) for i = ", range, " else ", origin, " + (",
                    draw(1, 50), "*i*i + ", draw(0, 50), "*i + ", draw(0, 9),
                    ") % ", draw(1, n), "\n");
  }
  absl::StrAppend(&out, "input f(k)(i) for k = 0:2  i = ", range,
                  " else sin(i + k)\n");
  for (const char* name : {"u", "v"}) {
    absl::StrAppend(&out, "input ", name, "(i)(0) for i = ", range,
                    " else 1.0*i\n");
  }
  const auto read = [&](const char* name, int64_t back) {
    const char* const at[] = {"i", "p(i)", "q(i)", "p(i)"};
    return absl::StrCat(name, "(", at[rng.Below(4)], ")(t-", back, ")");
  };
  absl::StrAppend(&out, "task a\n  creates u(i)(t) as n\n  for i = ", range,
                  "  t = 1:T\n  using\n    ", read("u", 1), " as x\n    ",
                  read("v", 1), " as y\n    f(", draw(0, 2), ")(",
                  rng.Below(2) == 0 ? "q(i)" : "i",
                  ") as z\n  code\n    n = x - 0.5*y + z*t\n  end code\n"
                  "end task\n");
  absl::StrAppend(&out, "task b\n  creates v(i)(t) as n\n  for i = ", range,
                  "  t = 1:T\n  using\n    ", read("u", rng.Below(2)),
                  " as x where t > 1 else i\n    ", read("v", 1),
                  " as y\n  code\n    n = x + 0.25*y\n  end code\nend task\n"
                  "result u(:)(T)\nresult v(:)(:)\n");
  return out;
}

// Most programs of `draw`, of which each seed gives one, are in chunks, and all
// have the values of points.
void CheckDrawn(std::string (*draw)(Rng&), int most_of) {
  const auto [first, last] = SeedRange(60);
  int in_chunks = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const std::string text = draw(rng);
    CompileOptions options = InChunks(1 + rng.Below(20));
    options.target = {.agents = 1 + rng.Below(3), .workers = 1};
    const Job job = MustCompile(text, options);
    in_chunks += absl::StartsWith(job.lowering, "chunks of") ? 1 : 0;
    EXPECT_EQ(MustDigest(job, nullptr),
              MustDigest(MustCompile(text, ByPoints()), nullptr))
        << "seed " << seed << ", " << job.lowering << "\n"
        << text;
  }
  EXPECT_GT(most_of * in_chunks, (most_of - 1) * (last - first + 1));
}

TEST(Chunks, DrawnProgramsGiveTheValuesOfPoints) { CheckDrawn(Drawn, 2); }

// Two arrays on a grid with boundaries of drawn forms, of which each step needs
// a number of the one before it, so that they have no tiles.
std::string DrawnGrid(Rng& rng) {
  const auto draw = [&rng](int64_t least, int64_t most) {
    return least + rng.Below(most - least + 1);
  };
  std::string out =
      absl::StrCat("param N = ", draw(16, 30), "\nparam M = ", draw(2, 12),
                   "\nparam T = ", draw(1, 4), "\n");
  const std::string inside = "x > 0 and x < N and y > 0 and y < M";
  for (const char* name : {"u", "v"}) {
    const auto add = [&](const std::string& rest) {
      absl::StrAppend(&out, "boundary ", name, rest, "\n");
    };
    const int64_t form = rng.Below(3);
    if (form == 0) {
      add("(0)(y)(t) = y + t");
      add("(N)(y)(t) = 1");
      add("(x)(0)(t) = x where x > 0 and x < N");
      add("(x)(M)(t) = 2 where x > 0 and x < N");
    } else if (form == 1) {
      add("(x)(y)(t) = x - y where x == 0 or x == N or y == 0 or y == M");
    } else {
      add("(x)(y)(t) = periodic(x)");
      add("(x)(y)(t) = periodic(y)");
    }
    if (rng.Below(2) == 0) {
      add("(x)(y)(0) = 0.5*x + y where " + inside);
    } else {
      add("(x)(y)(0) = y where y < 2 and " + inside);
      add("(x)(y)(0) = sin(x) where y >= 2 and " + inside);
    }
  }
  const auto at = [&](const char* index) {
    const int64_t offset = draw(-1, 1);
    return offset == 0 ? std::string(index)
                       : absl::StrCat(index, offset < 0 ? "" : "+", offset);
  };
  const auto read = [&](const char* name, int64_t back) {
    return absl::StrCat(name, "(", at("x"), ")(", at("y"), ")(t-", back, ")");
  };
  const std::string loop = "  for x = 1:N-1  y = 1:M-1  t = 1:T\n  using\n    ";
  const bool makes_more = rng.Below(2) == 0;
  absl::StrAppend(&out, "task a\n  creates u(x)(y)(t) as n\n",
                  makes_more ? "          w(x)(y)(t) as m\n" : "", loop,
                  read("u", 1), " as p\n    ", read("u", 1), " as q\n    ",
                  read("v", 1), " as r where y != ", draw(0, 3),
                  " else 1\n    s(t-1) as g\n  code\n",
                  makes_more ? "    m = p*q + x\n" : "",
                  "    n = 0.5*p - 0.25*q + 0.1*r + y/(3 + abs(g))\n",
                  "  end code\nend task\n");
  absl::StrAppend(&out, "task b\n  creates v(x)(y)(t) as n\n", loop,
                  read("u", rng.Below(2)), " as p\n    ", read("v", 1),
                  " as q\n  code\n    n = p + 0.25*q\n  end code\nend task\n");
  const char* const kinds[] = {"sum", "max", "norm2"};
  absl::StrAppend(&out, "reduce s(t) = ", kinds[rng.Below(3)],
                  "(u(x)(y)(t)) for t = 0:T over x = ", draw(0, 1),
                  ":N-1  y = ", draw(0, 1), ":M\n");
  absl::StrAppend(&out, "reduce line(", rng.Below(2) == 0 ? "x" : "y",
                  ") = sum(v(x)(y)(T)) for ");
  const bool of_x = out[out.rfind("line(") + 5] == 'x';
  absl::StrAppend(
      &out, of_x ? "x = 1:N over y = 1:M-1" : "y = 1:M over x = 1:N-1",
      "\nresult line\nresult u(:)(:)(T)\nresult v(:)(1)(:)\n",
      "result v(1)(:)(T)\nresult s\n", makes_more ? "result w(:)(:)(T)\n" : "");
  return out;
}

TEST(Chunks, DrawnGridsGiveTheValuesOfPoints) { CheckDrawn(DrawnGrid, 3); }

// "x+2" for index x and 2.
std::string Plus(const std::string& index, int64_t offset) {
  if (offset == 0) return index;
  return absl::StrCat(index, offset < 0 ? "" : "+", offset);
}

// A task of u(x)(y)(t) and w at x from `first` to `last`, counted by indices
// that are drawn numbers less; some of them have a table of these.
std::string DrawnPart(Rng& rng, const std::string& name, int64_t first,
                      int64_t last) {
  const auto draw = [&rng](int64_t least, int64_t most) {
    return least + rng.Below(most - least + 1);
  };
  const int64_t by_x = draw(-3, 3);
  const int64_t by_y = draw(-2, 2);
  const int64_t by_t = draw(-1, 1);
  const std::string y = Plus("y", by_y);
  const std::string before = Plus("t", by_t - 1);
  const std::string xs = absl::StrCat(first - by_x, ":", last - by_x);
  const std::string ys = absl::StrCat(-by_y, ":", Plus("M", -by_y));
  const auto near = [&] { return Plus("x", by_x + draw(-1, 1)); };
  const auto read = [&](const std::string& array, const std::string& x) {
    return absl::StrCat(array, "(", x, ")(", y, ")(", before, ")");
  };
  std::string out;
  std::string far = near();
  if (rng.Below(3) > 0) {
    const std::string table = absl::StrCat("p", name);
    absl::StrAppend(&out, "array ", table, "(i = ", xs, ")(j = ", ys,
                    ") : int64\ninput ", table, "(i)(j) for i = ", xs,
                    "  j = ", ys, " else (", draw(1, 9), "*i*i + ", draw(0, 9),
                    "*(j + 5) + ", draw(0, 9), ") % (N+1)\n");
    const std::string of = rng.Below(2) == 0 ? "y" : absl::StrCat(-by_y);
    far = absl::StrCat(table, "(x)(", of, ")");
  }
  const std::string own =
      absl::StrCat("(", Plus("x", by_x), ")(", y, ")(", Plus("t", by_t), ")");
  absl::StrAppend(
      &out, "task ", name, "\n  creates u", own, " as n\n          w", own,
      " as m\n  for x = ", xs, "  y = ", ys, "  t = ", 1 - by_t, ":",
      Plus("T", -by_t), "\n  using\n    ", read("u", near()), " as a\n    ",
      read("u", far), " as b where ", rng.Below(2) == 0 ? "y" : "t",
      " != ", draw(0, 2), " else x\n    ", read("w", near()), " as c\n    s(",
      before, ") as g\n  code\n    n = 0.5*a - 0.25*b + x/(3 + g)\n",
      "    m = 0.5*c + a + (x % 3 == 0 ? y : t)\n", "  end code\nend task\n");
  return out;
}

// Two arrays of which boundaries and a few tasks make parts, each at offsets,
// for some steps or until something holds.
std::string DrawnOffsets(Rng& rng) {
  const auto draw = [&rng](int64_t least, int64_t most) {
    return least + rng.Below(most - least + 1);
  };
  const int64_t n = draw(16, 60);
  const bool is_loop = rng.Below(3) == 0;
  std::string out = absl::StrCat(
      "param N = ", n, "\nparam M = ", draw(1, 4), "\n",
      is_loop ? absl::StrCat("repeat T = 1:7 until s(T) > ", draw(2, 40))
              : absl::StrCat("param T = ", draw(1, 4)),
      "\n");
  for (const char* name : {"u", "w"}) {
    absl::StrAppend(&out, "boundary ", name, "(0)(y)(t) = y + t\nboundary ",
                    name, "(N)(y)(t) = 1\nboundary ", name,
                    "(x)(y)(0) = sin(x + y) where x > 0 and x < N\n");
  }
  int64_t first = 1;
  for (const int64_t last : {draw(1, 4), draw(5, n - 2), n - 1}) {
    out += DrawnPart(rng, absl::StrCat("part", first), first, last);
    first = last + 1;
  }
  const char* const kinds[] = {"max", "norm2"};
  // A loop that may end early has no boundary of its last step.
  const std::string all = is_loop ? "1:N-1" : ":";
  return absl::StrCat(out, "reduce s(t) = ", kinds[rng.Below(2)],
                      "(u(x)(y)(t)) for t = 0:T over x = ", draw(1, 3),
                      ":N-1  y = 0:M\nresult u(", all, ")(:)(T)\nresult u(",
                      draw(1, 5), ":N-2)(1)(", is_loop ? "T" : ":",
                      ")\nresult w(", all,
                      ")(:)(T)\nresult s(t) for t = 1:T\n");
}

TEST(Chunks, DrawnOffsetsGiveTheValuesOfPoints) {
  CheckDrawn(DrawnOffsets, 10);
}

TEST(Chunks, WhatTheyCannotTakeRunsByPointsAndIsSaid) {
  const auto changed = [](std::string text, const std::string& from,
                          const std::string& to) {
    EXPECT_TRUE(absl::StrContains(text, from)) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string mesh = Mesh(64);
  const std::map<std::string, std::string> reasons = {
      {changed(mesh, "result u(:)(T)",
               "reduce all = sum(u(c)(T)) over c = 0:N-1 where c != 3\n"
               "result all"),
       "reduce all has a range, a condition or an index that depends on index "
       "1 "
       "of u"},
      {changed(changed(mesh,
                       "task diffuse\n  creates u(c)(t) as n\n"
                       "  for c = 0:N-1",
                       "boundary u(0)(t) = 1 where t > 0\ntask diffuse\n"
                       "  creates u(c)(t) as n\n  for c = 1:N-1"),
               "u(c)(t-1)          as own", "u(c-1)(t) as own"),
       "rows of u may wait for themselves"},
      {changed(kOffsets, "u(c)(t-1)            as own", "u(c)(t) as own"),
       "rows of u may wait for themselves"},
      {changed(kOffsets, "v(c+1)(t) as m", "v(c)(t) as m"),
       "task most has a range, a condition or an index that depends on index 1 "
       "of u"},
      {changed(mesh, "    dt(t)              as h\n",
               "    dt(t) as h where c > 4 else 0\n"),
       "task diffuse has a range, a condition or an index that depends on "
       "index 1 "
       "of u"}};
  for (const auto& [text, reason] : reasons) {
    const Job job = MustCompile(text, InChunks(1));
    EXPECT_THAT(job.lowering, HasSubstr(reason)) << text;
    EXPECT_EQ(MustDigest(job, nullptr),
              MustDigest(MustCompile(text, ByPoints()), nullptr));
  }
}

// Each number is made of all of the step before.
TEST(Chunks, AReductionOfRowsOfItselfStaysInPoints) {
  const Job job = MustCompile(R"(
param N = 40
boundary s(i)(0) = i
reduce s(i)(j) = sum(s(k)(j-1)) for i = 0:N  j = 1:N over k = 0:N
result s(:)(N)
)",
                              InChunks(4));
  EXPECT_THAT(job.lowering,
              HasSubstr("no chunks: reduce s(i)(j) has a range, a condition or "
                        "an index that depends on index 1 of s, by which"));
}

// Which blocks are read would have to be looked up at each step.
TEST(Chunks, WhatIsTooMuchToListRunsByPoints) {
  std::string text = Mesh(2048);
  const auto change = [&text](const std::string& from, const std::string& to) {
    ASSERT_TRUE(absl::StrContains(text, from)) << from;
    text.replace(text.find(from), from.size(), to);
  };
  change("T = 7", "T = 1000000");
  change("input dt(t) for t = 1:T else 0.1/t",
         "input dt(x) for x = 0:N+T else 0.1*x");
  change("dt(t) ", "dt(c+t) ");
  change("result u(:)(:)", "");
  EXPECT_THAT(MustCompile(text, Options()).lowering,
              HasSubstr("no chunks: what task diffuse reads is too much to "
                        "list"));
}

// Parents stand before their children, which only the table says.
TEST(Chunks, AnArrayThatIsMadeOfItselfByATableStaysInPoints) {
  const std::string text = R"(
param N = 500
array parent(i = 0:N-1) : int64
input parent(i) for i = 0:N-1 else max(0, (i - 1)/2)
input depth(0)(i) for i = 0:N-1 else i
task go
  creates up(i) as d
  for i = 0:N-1
  using
    up(parent(i)) as above where i > 0 else 0
    depth(0)(i)   as own
  code
    d = above + own
  end code
end task
result up(:)
)";
  const Job job = MustCompile(text, InChunks(4));
  EXPECT_THAT(job.lowering, StartsWith("point by point"));
}

TEST(Chunks, ADamagedBodyIsRefusedOrFails) {
  const Job jobs[] = {MustCompile(Mesh(40), InChunks(8)),
                      MustCompile(kReductions, InChunks(8))};
  const auto [first, last] = SeedRange(600);
  int refused = 0;
  for (int64_t seed = first; seed <= last; ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    Job damaged = jobs[seed % 2];
    for (KernelSpec& spec : damaged.program.kernels) {
      if (!absl::StartsWith(spec.kind, "chunk") || rng.Below(2) == 0) continue;
      const auto at = static_cast<size_t>(rng.Below(std::ssize(spec.body)));
      spec.body[at] = static_cast<char>(spec.body[at] ^ (1 + rng.Below(255)));
    }
    const auto digest = DigestOf(damaged, KernelRegistry(), nullptr);
    refused += digest.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

// Most labels stay with their readers: those of a row for all arrays have one
// home, and a leaf of a reduction that of the rows that it reads.
TEST(Chunks, RowsAndTheirReductionsLieTogether) {
  CompileOptions options = Options();
  options.target = {.agents = 3, .workers = 1};
  const std::string text = absl::StrReplaceAll(
      kPoisson, {{"param N = 12", "param N = 500"}, {"1:60", "1:10"}});
  const Job job = MustCompile(text, options);
  ASSERT_THAT(job.lowering, StartsWith("chunks"));
  const KeyTraffic traffic = TrafficOf(job.program, 4096, 1);
  int64_t tasks = 0;
  for (const KeyTraffic::Load& load : traffic.stages.front()) {
    tasks += load.tasks;
  }
  int64_t labels = 0;
  for (const KeyTraffic::Flow& flow : traffic.flows) labels += flow.labels;
  EXPECT_GT(tasks, 15'000);
  // Rows at borders of slabs of 16, and partial results.
  EXPECT_LT(10 * labels, tasks);
}

}  // namespace
}  // namespace dogged::dsl
