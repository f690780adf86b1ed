// Aim: entries by guards, and tasks with several outputs, in a task graph.
// Method: small programs by hand; the plain cases are in tests/papers.
#include "runtime/graph/task_graph.h"

#include <vector>

#include "gmock/gmock.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

using testing::ElementsAre;

std::vector<Task> Take(
    absl::FunctionRef<bool(TaskGraph::Visitor visit)> for_each) {
  std::vector<Task> out;
  EXPECT_TRUE(for_each([&](const Task& task) {
    out.push_back(task);
    return true;
  }));
  return out;
}

TEST(TaskGraph, FindsEntriesThatGuardsMake) {
  const Program program = Wavefront(4);
  const Relations relations(program);
  const TaskGraph graph(relations);
  EXPECT_THAT(Take([&](auto visit) { return graph.ForEachEntry(visit); }),
              ElementsAre(Task{0, {0, 0}}));
  EXPECT_THAT(Take([&](auto visit) { return graph.ForEachExit(visit); }),
              ElementsAre(Task{0, {3, 3}}));
  EXPECT_EQ(graph.ParentCount({0, {0, 2}}), 1);
  EXPECT_EQ(graph.ParentCount({0, {2, 2}}), 2);
}

// split creates a(i) and b(i), both results; join requires both.
TEST(TaskGraph, FollowsAllOutputsOfATask) {
  ProgramBuilder builder("split");
  const int32_t a = builder.AddArray({.name = "a", .rank = 1});
  const int32_t b = builder.AddArray({.name = "b", .rank = 1});
  const int32_t c = builder.AddArray({.name = "c", .rank = 1});
  const int32_t kernel = builder.AddKernel({"add", "test", ""});
  const AffineExpr i = AffineExpr::Index(0);
  const Domain domain = Domain::Box({{"i", 0, 2}});
  builder.AddClass({.name = "split",
                    .domain = domain,
                    .creates = {{a, {i}}, {b, {i}}},
                    .kernel = kernel});
  builder.AddClass({.name = "join",
                    .domain = domain,
                    .creates = {{c, {i}}},
                    .uses = {{a, {i}, {}}, {b, {i}, {}}},
                    .kernel = kernel});
  builder.AddResult(b, domain);
  builder.AddResult(a, domain);
  const Program program = std::move(builder).Build().value();
  const Relations relations(program);
  const TaskGraph graph(relations);
  EXPECT_THAT(Take([&](auto visit) {
                return graph.ForEachChild({0, {1}}, visit);
              }),
              ElementsAre(Task{1, {1}}, Task{1, {1}}));
  EXPECT_THAT(Take([&](auto visit) { return graph.ForEachExit(visit); }),
              ElementsAre(Task{0, {0}}, Task{0, {1}}, Task{0, {2}}));
}

}  // namespace
}  // namespace dogged
