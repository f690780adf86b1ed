// Aim: dogged.hpp: programs, values and ends of jobs as in C; errors with the
// user's own file and line; kernels of one's own with the values that they were
// given; and mistakes in programs said where they are made. Method: the headers
// over libdogged and the command; a library of kernels beside the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "apps/client/dogged.hpp"
#include "tests/client/builder_kernels.h"

namespace dogged {

void OfTheProgram(std::span<const double>, std::span<double>) {}
DOGGED_KERNEL(OfTheProgram)

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The error that a call throws; its status is DOGGED_OK if it throws nothing.
template <typename Call>
Error Thrown(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(DOGGED_OK, "nothing was thrown");
}

// u(i) = 2 v(i).
Builder Twice() {
  Builder b("twice");
  const Expr n = b.Param("N", 4);
  const Index i = b.Index("i");
  const Array u = b.Array("u");
  const Array v = b.Array("v");
  b.Input(v(i), {{i, 0, n - 1}});
  b.Task(u(i), 2 * v(i), {{i, 0, n - 1}});
  b.Result(u(kAll));
  return b;
}

TEST(Dogged, ValuesGoInAndComeOut) {
  std::optional<Values<double>> kept;
  {
    const Cluster cluster = Cluster::Here(2);
    const Program program = cluster.Compile(Twice(), {{"N", 5}});
    EXPECT_THAT(program.results(), ElementsAre("u"));
    ASSERT_EQ(program.inputs().size(), 1u);
    EXPECT_STREQ(program.inputs()[0].name, "v");
    const std::vector<double> mine = {1, 2, 3, 4, 5};
    const Job job = program.Submit({{"v", mine}});
    EXPECT_EQ(job.hash().size(), 32u);
    std::vector<int> kinds;
    job.ForEachEvent([&](const Event& event) { kinds.push_back(event.kind); });
    EXPECT_EQ(kinds.front(), DOGGED_SUBMITTED);
    EXPECT_EQ(kinds.back(), DOGGED_DONE);
    job.ForEachEvent([](const Event&) { FAIL() << "all were taken"; });
    EXPECT_TRUE(job.Wait(0));
    EXPECT_THAT(job.Report(), HasSubstr("tasks_executed"));
    kept = job.Result("u");
    const Error wrong = Thrown([&] { job.Result<float>("u"); });
    EXPECT_EQ(wrong.message, "result u is of double: ask Result<double>()");

    Lent<double> lent(5);
    std::iota(lent.begin(), lent.end(), 10);
    EXPECT_EQ(program.Submit({{"v", lent}}).Result("u")(4), 28);
    EXPECT_THAT(cluster.Status(), HasSubstr("own_agents"));
  }
  // The job is in it.
  EXPECT_THAT(kept->span(), ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(kept->extents(), ElementsAre(5));
}

TEST(Dogged, ErrorsOfTheLibraryAreThrown) {
  const Cluster cluster = Cluster::Here(1);
  const Error nowhere = Thrown([&] { cluster.Load("/nowhere/heat.dog"); });
  EXPECT_EQ(nowhere.status, DOGGED_MISTYPED);
  EXPECT_THAT(nowhere.what(), HasSubstr("/nowhere/heat.dog"));
  EXPECT_EQ(Thrown([&] {
              cluster.FromText("task", {{"c", 0.5}});
            }).code,
            "D003");
  const Program program = cluster.Compile(Twice());
  EXPECT_EQ(Thrown([&] { program.Submit(); }).message,
            "input v is wanted, of shape (4,), double");
  const std::vector<double> values(4);
  EXPECT_THAT(Thrown([&] {
                program.Submit({{"v", values, {2, 3}}});
              }).message,
              HasSubstr("its shape wants 6 values, 4 are there"));
  EXPECT_EQ(Thrown([&] { program.Want("w(:)"); }).status, DOGGED_MISTYPED);
  EXPECT_EQ(Thrown([] { Cluster::Connect("127.0.0.1:1"); }).status,
            DOGGED_NO_AGENTS);
}

TEST(Builder, ErrorsHaveTheUsersPlace) {
  Builder b("wrong");
  const Index x = b.Index("x");
  const Index t = b.Index("t");
  const Array u = b.Array("u");
  b.Boundary(u(0, t), 0);
  const int line = __LINE__ + 1;
  b.Task(u(x, t), u(x - 1, t - 1), {{x, 1, 9}, {t, 1, 9}});
  b.Result(u(kAll, 9));
  const Cluster cluster = Cluster::None();
  const Error error = Thrown([&] { cluster.Compile(b); });
  EXPECT_EQ(error.status, DOGGED_PROGRAM_WRONG);
  EXPECT_EQ(error.code, "D012");
  EXPECT_EQ(error.source_line, line);
  EXPECT_THAT(error.source_file, EndsWith("builder_test.cc"));
  EXPECT_THAT(
      error.what(),
      AllOf(StartsWith(error.source_file + ":" + std::to_string(line) + ":\n"),
            HasSubstr("u(x - 1)(t - 1) as u_1"), HasSubstr("^^^")));
  EXPECT_FALSE(error.help.empty());
  // A statement of one line, one of nine, and one again.
  EXPECT_EQ(b.PlaceOf(1)->line, line - 2);
  EXPECT_EQ(b.PlaceOf(2)->line, line);
  EXPECT_EQ(b.PlaceOf(10)->line, line);
  EXPECT_EQ(b.PlaceOf(11)->line, line + 1);
  EXPECT_FALSE(b.PlaceOf(12).has_value());
}

TEST(Builder, MistakesAreSaidWhereTheyAreMade) {
  Builder b("mistakes");
  const Index x = b.Index("x");
  const Array u = b.Array("u");
  const Array h = b.Array("h", {{x, 0, 9}}, {.type = DOGGED_INT64});
  const auto said = [](const auto& call) {
    const Error error = Thrown(call);
    EXPECT_EQ(error.status, DOGGED_MISTYPED) << error.what();
    return error.message;
  };
  const Error twice = Thrown([&] { b.Array("x"); });
  EXPECT_EQ(twice.source_line, __LINE__ - 1);
  EXPECT_EQ(twice.message, "there is a x already");
  EXPECT_EQ(said([&] { b.Index("task"); }), "task is a word of the language");
  EXPECT_THAT(said([&] { b.Param("2x", 1); }), HasSubstr("a name is a word"));
  EXPECT_THAT(said([&] { Builder("a-b"); }), HasSubstr("a name is a word"));
  EXPECT_THAT(said([&] {
                b.Task(u(x), x / 2, {{x, 0, 9}});
              }),
              HasSubstr("x / 2 is of two integers: write floor_div(a, b)"));
  EXPECT_THAT(said([&] { floor_div(x, 0.5); }), HasSubstr("are of integers"));
  EXPECT_THAT(said([&] { Expr(1 / 0.0) + x; }), HasSubstr("no number inf"));
  EXPECT_THAT(said([&] { b.Result(u(x).Where(x > 0, 1)); }),
              HasSubstr("u(x).Where(...) is for labels that a task reads"));
  EXPECT_THAT(said([&] { u(kAll).Where(x > 0, 1); }),
              HasSubstr("is no single label"));
  EXPECT_THAT(said([&] { b.Until(u(x) < 1); }), HasSubstr("Repeat() comes"));
  EXPECT_THAT(said([&] { b.Input(u(0), {}); }), HasSubstr("ranges by index"));
  const Kernel give_up = b.Kernel("GiveUp", GiveUp);
  EXPECT_THAT(said([&] {
                b.Task(h(x), give_up(u(x)), {{x, 0, 9}});
              }),
              HasSubstr("takes double as argument 2, and h(x) is int64"));
  EXPECT_THAT(said([&] {
                b.Task(u(x), give_up(), {{x, 0, 9}});
              }),
              HasSubstr("GiveUp_kernel wants more arguments"));
  EXPECT_THAT(said([&] {
                b.Task(u(x), give_up(u(x), u(x)), {{x, 0, 9}});
              }),
              HasSubstr("GiveUp_kernel takes fewer arguments"));
  EXPECT_THAT(said([&] {
                b.Task(u(x), give_up(2 * u(x)), {{x, 0, 9}});
              }),
              HasSubstr("reads a label as argument 1, and no formula"));
  const Kernel mix = b.Kernel("Mix", Mix);
  const Array f = b.Array("f", {{x, 0, 9}}, {.type = DOGGED_FLOAT});
  EXPECT_THAT(said([&] {
                b.Task({h(x), u(x)}, mix(2, u(x), 1, f(x)), {{x, 0, 9}});
              }),
              HasSubstr("Mix_kernel takes a Block as argument 5, and f(x) is a "
                        "number: declare f with a block"));
  EXPECT_THAT(said([&] { b.Kernel("OfTheProgram", OfTheProgram); }),
              AllOf(HasSubstr("OfTheProgram_kernel lies in the program itself"),
                    HasSubstr("shared libraries")));
  EXPECT_THAT(said([&] { b.Kernel("Nowhere", GiveUp); }),
              HasSubstr("is in no library of this process"));
  EXPECT_THAT(b.text(), ::testing::Not(HasSubstr("task")));
}

// Two blocks in, two out, numbers between them; in the order of the function's
// parameters.
Builder Mixed(bool is_named) {
  Builder b("mixed");
  const Index k = b.Index("k");
  const Array a = b.Array("a", {{k, 0, 1}}, {.block = {2, 3}});
  const Array f =
      b.Array("f", {{k, 0, 1}}, {.type = DOGGED_FLOAT, .block = {2, 3}});
  const Array whole =
      b.Array("whole", {{k, 0, 1}}, {.type = DOGGED_INT64, .block = {2, 3}});
  const Array sum = b.Array("sum", {{k, 0, 1}}, {.block = {2, 3}});
  const Kernel mix = is_named ? b.Kernel<decltype(Mix)>("Mix", BUILDER_KERNELS)
                              : b.Kernel("Mix", Mix);
  b.Input(a(k), {{k, 0, 1}});
  b.Input(f(k), {{k, 0, 1}});
  b.Task({whole(k), sum(k)}, mix(0.5, a(k), k + 10, f(k)), {{k, 0, 1}},
         {.priority = -k, .cost = 12});
  b.Result(whole(kAll));
  b.Result(sum(kAll));
  return b;
}

TEST(Kernels, GetTheirArgumentsInOrder) {
  const Cluster cluster = Cluster::Here(1);
  std::vector<double> a(12);
  std::vector<float> f(12, 100);
  std::iota(a.begin(), a.end(), 0.25);
  for (const bool is_named : {false, true}) {
    const Job job = cluster.Compile(Mixed(is_named))
                        .Submit({{"a", a, {2, 2, 3}}, {"f", f, {2, 2, 3}}});
    const Values<int64_t> whole = job.Result<int64_t>("whole");
    const Values<double> sum = job.Result("sum");
    EXPECT_THAT(whole.extents(), ElementsAre(2, 2, 3));
    EXPECT_EQ(whole(0, 1, 2), 15);
    EXPECT_EQ(whole(1, 0, 0), 17);
    EXPECT_EQ(sum(0, 0, 1), 100.625);
    EXPECT_EQ(sum(1, 1, 2), 105.625);
  }
}

TEST(Kernels, ThatGiveUpFailTheJobByName) {
  const Cluster cluster = Cluster::Here(1);
  const std::vector<double> values(4);
  for (const bool gives_up : {true, false}) {
    Builder b("failing");
    const Index i = b.Index("i");
    const Array u = b.Array("u", {{i, 0, 1}}, {.block = {2}});
    const Array v = b.Array("v", {{i, 0, 1}}, {.block = {2}});
    const Kernel kernel =
        gives_up ? b.Kernel("GiveUp", GiveUp) : b.Kernel("Throw", Throw);
    b.Input(v(i), {{i, 0, 1}});
    b.Task(u(i), kernel(v(i)), {{i, 1, 1}}, {.name = "try_it"});
    b.Result(u(1));
    const Job job = cluster.Compile(b).Submit({{"v", values, {2, 2}}});
    const Error error = Thrown([&] { job.Wait(); });
    EXPECT_EQ(error.status, DOGGED_JOB_FAILED) << error.what();
    EXPECT_EQ(error.task, "try_it(1)") << error.what();
    EXPECT_THAT(error.message, HasSubstr(gives_up ? "gave up with code 7"
                                                  : "std::runtime_error: no"));
  }
}

}  // namespace
}  // namespace dogged
