// Aim: sentences of [REM] (Wilson & von Ronne 2014, slides) on dependency
// descriptions and the search over them hold for ours. Method: a sentence for
// each test, quoted with its slide, on the slides' finDiff.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/codec.h"
#include "runtime/base/random.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/relations.h"
#include "runtime/job/search/walk.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

using testing::ElementsAre;

// "creates phi(x)(t) as n for x=1:4999 t=1:100 using phi(x)(t-1) as c,
// phi(x-1)(t-1) as l, phi(x+1)(t-1) as r" ("Prototype Problem"), for `last` in
// place of 5000; start and edges, which the slide leaves out, are start and
// edge.
Program HeatProgram(int64_t last, int64_t steps) {
  ProgramBuilder b("heat1d");
  const int32_t phi =
      b.AddArray({.name = "phi", .rank = 2, .version_index = 1});
  const AffineExpr x = AffineExpr::Index(0);
  const AffineExpr t = AffineExpr::Index(1);
  const AffineExpr one = AffineExpr::Constant(1);
  b.AddClass({.name = "start",
              .domain = Domain::Box({{"x", 0, last}}),
              .creates = {{phi, {x, AffineExpr::Constant(0)}}},
              .kernel = b.AddKernel({"start", "test", ""})});
  const int32_t edge = b.AddKernel({"edge", "test", ""});
  for (const int64_t at : {int64_t{0}, last}) {
    b.AddClass({.name = at == 0 ? "left" : "right",
                .domain = Domain::Box({{"t", 1, steps}}),
                .creates = {{phi, {AffineExpr::Constant(at), x}}},
                .kernel = edge});
  }
  b.AddClass({.name = "finDiff",
              .domain = Domain::Box({{"x", 1, last - 1}, {"t", 1, steps}}),
              .creates = {{phi, {x, t}}},
              .uses = {{phi, {x, t - one}, {}},
                       {phi, {x - one, t - one}, {}},
                       {phi, {x + one, t - one}, {}}},
              .kernel = b.AddKernel({"finDiff", "test", ""})});
  b.AddResult(phi, Domain::Box({{"x", 0, last}, {"t", steps, steps}}));
  return std::move(b).Build().value();
}

KernelTable HeatKernels(int64_t last) {
  KernelTable out;
  out.push_back(std::make_unique<FunctionKernel>([last](KernelCall& call) {
    const int64_t x = call.task.index[0];
    call.outputs[0] = Value::Scalar(static_cast<double>(x * (last - x)));
    return absl::OkStatus();
  }));
  out.push_back(std::make_unique<FunctionKernel>([](KernelCall& call) {
    call.outputs[0] = Value::Scalar(0);
    return absl::OkStatus();
  }));
  // "n = c+0.0125*(l+r-2*c)".
  out.push_back(std::make_unique<FunctionKernel>([](KernelCall& call) {
    const double c = call.inputs[0].span<double>()[0];
    const double l = call.inputs[1].span<double>()[0];
    const double r = call.inputs[2].span<double>()[0];
    call.outputs[0] = Value::Scalar(c + 0.0125 * (l + r - 2 * c));
    return absl::OkStatus();
  }));
  return out;
}

std::vector<double> PlainLoops(int64_t last, int64_t steps) {
  std::vector<double> now;
  for (int64_t x = 0; x <= last; ++x) {
    now.push_back(static_cast<double>(x * (last - x)));
  }
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double> next(now.size(), 0.0);
    for (size_t x = 1; x + 1 < now.size(); ++x) {
      next[x] = now[x] + 0.0125 * (now[x - 1] + now[x + 1] - 2 * now[x]);
    }
    now = next;
  }
  return now;
}

constexpr int32_t kFinDiff = 3;  // its position among the classes

// "Dependency Descriptions contain: 1) A finite set T of tasks to be performed"
// ("REM Dependency Description").
TEST(RelentlessExecution, FiniteSetOfTasks) {
  const Program program = HeatProgram(5000, 100);
  EXPECT_EQ(program.TaskCount(), 4999 * 100 + 5001 + 2 * 100);
  const Relations relations(program);
  EXPECT_TRUE(relations.IsTask({kFinDiff, {4999, 100}}));
  EXPECT_FALSE(relations.IsTask({kFinDiff, {5000, 100}}));
  EXPECT_FALSE(relations.IsTask({kFinDiff, {1, 101}}));
}

// "Storing DAGs directly can be expensive. Many scientific codes have a small
// number of tasks repeated many hundreds or thousands of times": a million
// times as many tasks take a few digits more.
TEST(RelentlessExecution, DescriptionDoesNotGrowWithTheGraph) {
  const auto bytes = [](const Program& program) {
    Encoder out;
    program.Encode(out);
    return std::ssize(out.Take());
  };
  const Program small = HeatProgram(5000, 100);
  const Program large = HeatProgram(5'000'000, 100'000);
  EXPECT_GT(large.TaskCount(), small.TaskCount() * 900'000);
  EXPECT_LT(bytes(large) - bytes(small), 40);
  EXPECT_LT(bytes(small), 1024);
}

// "3) A set R of labels, a subset of L, of result labels whose association
// with values completes a program's execution".
TEST(RelentlessExecution, ResultsAreLabels) {
  const Program program = HeatProgram(50, 10);
  const Relations relations(program);
  std::set<Label> results;
  relations.ForEachResult([&](const Label& label) {
    EXPECT_TRUE(relations.ProducerOf(label).has_value());
    results.insert(label);
    return true;
  });
  EXPECT_EQ(results.size(), 51);
  EXPECT_FALSE(relations.IsResult({0, {3, 9}}));
}

// "4) A function producer : L -> T that maps labels to the task which produces
// the value for that label"; "Why single assignment?" ("REM Tasks"): every
// label has exactly one.
TEST(RelentlessExecution, ProducerIsAFunction) {
  const Program program = HeatProgram(9, 4);
  const Relations relations(program);
  EXPECT_EQ(relations.ProducerOf({0, {3, 2}}), (Task{kFinDiff, {3, 2}}));
  EXPECT_EQ(relations.ProducerOf({0, {3, 0}}), (Task{0, {3}}));
  EXPECT_EQ(relations.ProducerOf({0, {0, 2}}), (Task{1, {2}}));
  EXPECT_EQ(relations.ProducerOf({0, {9, 2}}), (Task{2, {2}}));
  EXPECT_EQ(relations.ProducerOf({0, {10, 2}}), std::nullopt);
  // Over all tasks: each label is created once, by its producer.
  std::set<Label> created;
  for (size_t c = 0; c < program.classes.size(); ++c) {
    program.classes[c].domain.ForEach([&](const IndexVector& index) {
      const Task task{static_cast<int32_t>(c), index};
      relations.ForEachCreated(task, [&](int, const Label& label) {
        EXPECT_TRUE(created.insert(label).second);
        EXPECT_EQ(relations.ProducerOf(label), task);
      });
      return true;
    });
  }
  EXPECT_EQ(created.size(), 10 * 5);
}

// "5) A function requires : T -> P(L) that maps each task to the labels of the
// values required before that task can execute".
TEST(RelentlessExecution, Requires) {
  const Program program = HeatProgram(5000, 100);
  const Relations relations(program);
  std::vector<Label> required;
  relations.ForEachRequired({kFinDiff, {3, 7}}, [&](int, const Label& label) {
    required.push_back(label);
  });
  EXPECT_THAT(required, ElementsAre(Label{0, {3, 6}}, Label{0, {2, 6}},
                                    Label{0, {4, 6}}));
  EXPECT_EQ(relations.RequiredCount({0, {3}}), 0);
}

// Walks that one agent takes alone, over a dictionary in this process.
class Search {
 public:
  Search(const Program& program, const KernelTable& kernels)
      : relations_(program), kernels_(kernels) {}

  // "function SOLVE(label): if label not in dom(Dictionary) then task <-
  // PRODUCER(label); Missing <- {l | l in REQUIRES(task) and l not in
  // dom(Dictionary)}; for all m in Missing do SOLVE(m); Inputs <- ...;
  // Dictionary <- Dictionary + COMPUTES(task)(Inputs)" ("REM Search (2)"). A
  // walk runs the tasks that it finds on its way, so several are needed to come
  // to `label`.
  void Solve(const Label& label) {
    for (uint64_t seed = 1; !dictionary_.contains(label); ++seed) {
      ASSERT_LE(seed, 1000) << "walks that do not come to their end";
      Walk walk(relations_, Rng(seed), /*frames_max=*/1000,
                [](const Label&) { return false; });
      walk.Start(label);
      Walk::Step step = walk.Next();
      for (; step.kind != Walk::Step::Kind::kEnd; step = walk.Next()) {
        ASSERT_NE(step.kind, Walk::Step::Kind::kWait);
        for (const auto& lookup : step.lookups) Answer(walk, lookup.label);
        if (step.kind == Walk::Step::Kind::kRun) Compute(step.task);
      }
    }
  }

  double at(const Label& label) const {
    return dictionary_.at(label).span<double>()[0];
  }
  const std::set<Task>& executed() const { return executed_; }
  const Relations& relations() const { return relations_; }

 private:
  // As the label's home does, with the newest version of its row.
  void Answer(Walk& walk, const Label& label) const {
    std::optional<int64_t> newest;
    for (const auto& [known, value] : dictionary_) {
      if (known.index[0] == label.index[0]) {
        newest = std::max(newest.value_or(0), known.index[1]);
      }
    }
    walk.OnAnswer(
        label,
        dictionary_.contains(label) ? LabelState::kBound : LabelState::kUnbound,
        newest);
  }
  void Compute(const Task& task) {
    const TaskClass& task_class = relations_.ClassOf(task);
    std::vector<Value> inputs(task_class.uses.size());
    relations_.ForEachRequired(task, [&](int use, const Label& l) {
      ASSERT_TRUE(dictionary_.contains(l));
      inputs[use] = dictionary_.at(l);
    });
    std::vector<Value> outputs(task_class.creates.size());
    KernelCall call{.task = task,
                    .inputs = absl::MakeSpan(inputs),
                    .outputs = absl::MakeSpan(outputs)};
    ASSERT_TRUE(kernels_[task_class.kernel]->Run(call).ok());
    relations_.ForEachCreated(task, [&](int create, const Label& l) {
      dictionary_.emplace(l, outputs[create]);
    });
    EXPECT_TRUE(executed_.insert(task).second);
  }

  const Relations relations_;
  const KernelTable& kernels_;
  std::map<Label, Value> dictionary_;
  std::set<Task> executed_;
};

// "6) A function computes : T -> (L |-> V) |-> (L |-> V)"; "for all r in
// Result do SOLVE(r)" ("REM Search (2)"): the bits of plain loops, and no task
// twice, since it is not executed again once its label is in the dictionary.
TEST(RelentlessExecution, SolvingAllResultsComputesTheProgram) {
  const Program program = HeatProgram(20, 6);
  const KernelTable kernels = HeatKernels(20);
  Search search(program, kernels);
  search.relations().ForEachResult([&](const Label& r) {
    search.Solve(r);
    return true;
  });
  const std::vector<double> expected = PlainLoops(20, 6);
  for (int64_t x = 0; x <= 20; ++x) {
    EXPECT_EQ(search.at({0, {x, 6}}), expected[x]);
  }
}

// "Compute-by-need: If the label listed as a task dependency has been
// associated with a value, use that value for the task. Otherwise, execute the
// task responsible for computing that dependency" ("REM Search"): one label's
// cone, and nothing beside it.
TEST(RelentlessExecution, ComputesByNeed) {
  const Program program = HeatProgram(20, 6);
  const KernelTable kernels = HeatKernels(20);
  Search search(program, kernels);
  search.Solve({0, {10, 3}});
  EXPECT_EQ(search.executed().size(), 1 + 3 + 5 + 7);
  for (const Task& task : search.executed()) {
    const Label label = search.relations().FirstCreated(task);
    EXPECT_LE(std::abs(label.index[0] - 10), 3 - label.index[1]);
  }
  // A neighbour needs one task more for each step.
  search.Solve({0, {11, 3}});
  EXPECT_EQ(search.executed().size(), 16 + 4);
}

}  // namespace
}  // namespace dogged
