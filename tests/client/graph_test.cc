// Aim: dogged_graph.hpp: a program given by the four routines of the slides
// runs, also as agents are killed, and gives what its tasks say; a graph that
// is not whole is refused, with the tasks that show it. Method: the slides'
// Cholesky factorisation of four by four blocks, here of one number each,
// against plain loops; small graphs with one fault each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/client/dogged.hpp"

namespace dogged {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kBlocks = 4;

// "struct Task { int type; int k; int i, j; int priority; }"; a kBring makes a
// block of the matrix.
enum Type { kBring, kPotrf, kTrsm, kGemm };
struct SlideTask {
  Type type = kBring;
  int k = 0;
  int i = 0;
  int j = 0;
  auto operator<=>(const SlideTask&) const = default;
};

std::string Name(const SlideTask& t) {
  const char* const names[] = {"BRING", "POTRF", "TRSM", "GEMM"};
  std::string out = names[t.type];
  for (const int one : {t.k, t.i, t.j}) out += "_" + std::to_string(one);
  return out;
}

// The task that takes block (i, j) on, in step k.
SlideTask TakerOf(int k, int i, int j) {
  return {j > k ? kGemm : i > j ? kTrsm : kPotrf, k, i, j};
}

struct Slides {
  std::vector<SlideTask> get_children(const SlideTask& p) const {
    std::vector<SlideTask> out;
    if (p.type == kBring) out.push_back(TakerOf(1, p.i, p.j));
    if (p.type == kPotrf) {
      // "along p's column but below p"
      for (int i = p.i + 1; i <= kBlocks; ++i) {
        out.push_back({kTrsm, p.k, i, p.j});
      }
    }
    if (p.type == kTrsm) {
      // "a row and a column (both with index p.i)"
      for (int j = p.j + 1; j <= p.i; ++j) out.push_back({kGemm, p.k, p.i, j});
      for (int i = p.i + 1; i <= kBlocks; ++i) {
        out.push_back({kGemm, p.k, i, p.i});
      }
    }
    // "has a single child"
    if (p.type == kGemm) out.push_back(TakerOf(p.k + 1, p.i, p.j));
    return out;
  }
  int get_num_parents(const SlideTask& t) const {
    if (t.type == kBring) return 0;
    if (t.type == kPotrf) return 1;
    if (t.type == kTrsm) return 2;
    return t.i == t.j ? 2 : 3;
  }
};

using SlideGraph = Graph<SlideTask, Slides>;

SlideGraph Cholesky() {
  SlideGraph graph({}, Name);
  for (int j = 1; j <= kBlocks; ++j) {
    for (int i = j; i <= kBlocks; ++i) {
      graph.set_entry_task({kBring, 0, i, j});
      graph.set_exit_task({i == j ? kPotrf : kTrsm, j, i, j});
    }
  }
  return graph;
}

double Element(int i, int j) { return i == j ? 4.0 + i : 1.0 / (i + j); }

SlideGraph::Value Execute(const SlideTask& t,
                          const SlideGraph::Parents& parents) {
  const auto block = [&](int k, int i, int j) -> Expr {
    return parents.at(k == 0 ? SlideTask{kBring, 0, i, j}
                             : SlideTask{kGemm, k, i, j});
  };
  if (t.type == kBring) return Expr(Element(t.i, t.j));
  const Expr before = block(t.k - 1, t.i, t.j);
  if (t.type == kPotrf) return sqrt(before);
  if (t.type == kTrsm) return before / parents.at({kPotrf, t.k, t.k, t.k});
  return before - parents.at({kTrsm, t.k, t.i, t.k}) *
                      parents.at({kTrsm, t.k, t.j, t.k});
}

TEST(Graph, ChildrenAndParentsAreThoseOfTheSlides) {
  const auto tasks = Cholesky().Enumerate();
  // "A DAG Example for Cholesky Factorization": 20 tasks, and the matrix.
  EXPECT_EQ(tasks.size(), 20u + 10u);
  std::map<SlideTask, size_t> places;
  for (const auto& [task, parents] : tasks) {
    EXPECT_EQ(static_cast<int>(parents.size()), Slides().get_num_parents(task));
    for (const SlideTask& parent : parents) {
      EXPECT_TRUE(places.contains(parent)) << Name(parent);
      EXPECT_THAT(Slides().get_children(parent), Contains(task));
    }
    places[task] = places.size();
  }
}

TEST(Graph, RunsOnFourAgentsOfWhichOneIsKilled) {
  double l[kBlocks + 1][kBlocks + 1] = {};
  for (int j = 1; j <= kBlocks; ++j) {
    for (int i = j; i <= kBlocks; ++i) {
      double sum = Element(i, j);
      for (int k = 1; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  }
  const Cluster cluster = Cluster::Here(4, 1);
  Builder b("slides");
  const SlideGraph graph = Cholesky();
  graph.AddTo(b, Execute);
  const Program program = cluster.Compile(b);
  const pid_t victim =
      nlohmann::json::parse(cluster.Status())["own_agents"][2]["pid"];
  const Job job = program.Submit();
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  for (int j = 1; j <= kBlocks; ++j) {
    for (int i = j; i <= kBlocks; ++i) {
      const SlideTask exit = {i == j ? kPotrf : kTrsm, j, i, j};
      EXPECT_EQ(job.Result(graph.ResultOf(exit)).span()[0], l[i][j]) << i << j;
    }
  }
}

// A graph of numbers, by its edges.
struct Edges {
  std::map<int, std::vector<int>> children;
  std::map<int, int> parents;
  std::vector<int> get_children(int task) const {
    const auto it = children.find(task);
    return it == children.end() ? std::vector<int>() : it->second;
  }
  int get_num_parents(int task) const {
    const auto it = parents.find(task);
    return it == parents.end() ? 1 : it->second;
  }
};

// The words with which it is refused.
std::string Refusal(const Edges& edges, const std::vector<int>& entries,
                    const std::vector<int>& exits) {
  Graph<int, Edges> graph(edges, [](int t) { return "t" + std::to_string(t); });
  for (const int one : entries) graph.set_entry_task(one);
  for (const int one : exits) graph.set_exit_task(one);
  try {
    graph.Enumerate();
  } catch (const Error& error) {
    EXPECT_EQ(error.status, DOGGED_PROGRAM_WRONG);
    EXPECT_EQ(error.source_line, __LINE__ - 3);
    return error.message;
  }
  return "";
}

TEST(Graph, ThatIsNotWholeIsRefusedWithAWitness) {
  const Edges line = {{{0, {1}}, {1, {2}}}, {{0, 0}}};
  EXPECT_EQ(Refusal(line, {0}, {2}), "");
  EXPECT_EQ(Refusal(line, {}, {2}), "the graph has no entry task");
  EXPECT_EQ(Refusal(line, {0}, {}), "the graph has no exit task");
  EXPECT_EQ(Refusal(line, {0}, {3}),
            "t3 is an exit task that no entry task leads to");
  EXPECT_EQ(Refusal(line, {0, 1}, {2}),
            "t1 is an entry task, and a child of t0");
  EXPECT_EQ(Refusal({{{0, {1}}, {1, {2}}}, {{0, 0}, {2, 2}}}, {0}, {2}),
            "get_num_parents(t2) is 2, and it is a child of 1: t1");
  EXPECT_EQ(Refusal({{{0, {1, 1}}}, {{0, 0}, {1, 2}}}, {0}, {1}),
            "t1 is a child of t0 twice");
  EXPECT_EQ(
      Refusal({{{0, {1}}, {1, {2}}, {2, {3}}, {3, {1, 4}}}, {{0, 0}, {1, 2}}},
              {0}, {4}),
      "tasks wait for each other: t1 -> t2 -> t3 -> t1");
  Edges endless;
  for (int i = 0; i < 1001; ++i) endless.children[i] = {i + 1};
  EXPECT_THAT(Refusal(endless, {0}, {1}),
              HasSubstr("more than 1000 tasks, of which t1000 is one"));
}

}  // namespace
}  // namespace dogged
