// Aim: a run that can't work is refused with a number that says why, a possible
// lack of memory is told, and values that go to disk are not refused. Method:
// numbers by hand.
#include "apps/dogged/report/memory_check.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kGb = 1e9;

std::string ErrorOf(const RunMemory& memory) {
  const auto words = CheckMemory(memory);
  EXPECT_EQ(words.status().code(), absl::StatusCode::kResourceExhausted)
      << (words.ok() ? *words : "");
  return std::string(words.status().message());
}

TEST(MemoryCheck, OneProcess) {
  RunMemory memory{.footprint = {.results = 5 * kGb, .in_use = 1 * kGb},
                   .here = 10 * kGb};
  EXPECT_EQ(CheckMemory(memory).value(), "");
  memory.footprint.in_use = 4 * kGb;
  EXPECT_THAT(CheckMemory(memory).value(),
              HasSubstr("may take 9.0 GB of the 10 GB"));
  memory.footprint.in_use = 1 * kGb;
  memory.footprint.tables = 3.5 * kGb;
  EXPECT_THAT(CheckMemory(memory).value(), HasSubstr("may take 9.5 GB"));
  memory.footprint.in_use = 40 * kGb;  // an estimate refuses nothing
  EXPECT_TRUE(CheckMemory(memory).ok());
  memory.footprint.inputs = 6 * kGb;
  EXPECT_THAT(ErrorOf(memory), AllOf(HasSubstr("results take 5.0 GB"),
                                     HasSubstr("inputs 6.0 GB"),
                                     HasSubstr("this computer has 10 GB, of "
                                               "which 9.0 GB can be had")));
  memory.footprint = {.results = 9.5 * kGb};
  EXPECT_THAT(ErrorOf(memory), HasSubstr("want fewer results"));
}

// Own agents hold the results; of what has no memory in this process as well,
// there is a file.
TEST(MemoryCheck, OwnAgents) {
  AgentsMemory agents{.agents = 4, .unbounded = 10 * kGb, .unbounded_share = 1};
  RunMemory memory{.footprint = {.results = 4.4 * kGb},
                   .here = 10 * kGb,
                   .replicas = 2,
                   .agents = &agents,
                   .agents_are_here = true};
  EXPECT_EQ(CheckMemory(memory).value(), "");
  memory.footprint.results = 8.8 * kGb;
  EXPECT_THAT(CheckMemory(memory).value(), HasSubstr("8.8 GB of the 10 GB"));
  memory.footprint.results = 9.5 * kGb;
  EXPECT_THAT(ErrorOf(memory), AllOf(HasSubstr("the results take 9.5 GB: 9.5"),
                                     HasSubstr("--memory")));
  memory.footprint = {.results = 1 * kGb, .inputs = 1 * kGb};
  EXPECT_EQ(CheckMemory(memory).value(), "");
  memory.footprint.tables = 2 * kGb;  // at each of the agents
  EXPECT_THAT(CheckMemory(memory).value(), HasSubstr("may take 11 GB"));
  memory.footprint = {.results = 2 * kGb, .inputs = 4 * kGb};
  EXPECT_THAT(ErrorOf(memory), HasSubstr("4.0 GB at one agent: 10 GB"));
  // With a bound, what they have goes to disk.
  agents = {.agents = 4, .bounded = 1 * kGb, .unbounded_share = 0};
  memory.footprint = {.results = 5.5 * kGb};
  EXPECT_THAT(CheckMemory(memory).value(),
              AllOf(HasSubstr("5.5 GB, --memory is 1.0 GB"),
                    HasSubstr("goes to disk")));
  memory.footprint = {.results = 0.5 * kGb};
  EXPECT_EQ(CheckMemory(memory).value(), "");
}

StatusReply ReplyOf(uint64_t id, const std::string& host, int64_t limit) {
  StatusReply out;
  out.self = AgentId(id);
  out.memory_limit = limit;
  out.host_bytes = int64_t{10} << 30;
  for (uint64_t i = 1; i <= 3; ++i) {
    MemberStatus member;
    member.member.id = AgentId(i);
    member.member.host = i == id ? host : "elsewhere";
    member.member.workers = 2;
    member.state = "alive";
    out.members.push_back(member);
  }
  return out;
}

TEST(MemoryCheck, AHostsMemoryCountsOnce) {
  AgentsMemory memory = MemoryOf({ReplyOf(1, "a", 0), ReplyOf(2, "a", 0)});
  EXPECT_EQ(memory.agents, 2);
  EXPECT_EQ(memory.hosts, 1);
  EXPECT_EQ(memory.unbounded, static_cast<double>(int64_t{10} << 30));
  EXPECT_EQ(memory.unbounded_share, 1);
  memory = MemoryOf({ReplyOf(1, "a", 0), ReplyOf(2, "b", 1 << 20)});
  EXPECT_EQ(memory.hosts, 2);
  EXPECT_EQ(memory.bounded, 1 << 20);
  EXPECT_EQ(memory.unbounded_share, 0.5);
}

TEST(MemoryCheck, AClusterHoldsCopiesOnOtherHosts) {
  AgentsMemory agents{
      .agents = 2, .hosts = 2, .unbounded = 20 * kGb, .unbounded_share = 1};
  RunMemory memory{.footprint = {.results = 11 * kGb},
                   .here = 14 * kGb,
                   .replicas = 2,
                   .agents = &agents};
  EXPECT_THAT(ErrorOf(memory),
              AllOf(HasSubstr("2 copies of each: 22 GB"),
                    HasSubstr("the agents' hosts have 20 GB")));
  memory.replicas = 1;
  EXPECT_EQ(CheckMemory(memory).value(), "");
  // Half of them have a bound.
  memory.replicas = 2;
  agents.unbounded_share = 0.5;
  agents.unbounded = 10 * kGb;
  agents.bounded = 4 * kGb;
  EXPECT_TRUE(CheckMemory(memory).status().code() ==
              absl::StatusCode::kResourceExhausted);
  agents.unbounded = 16 * kGb;
  EXPECT_THAT(CheckMemory(memory).value(), HasSubstr("goes to disk"));
}

TEST(MemoryCheck, Sentence) {
  EXPECT_EQ(FootprintSentence({.results = 40008, .in_use = 80016}),
            "memory: results 40 kB, in use meanwhile about 80 kB; agents on "
            "several hosts keep two copies");
  EXPECT_THAT(FootprintSentence({.results = 1, .inputs = 2, .unknown = "v"}),
              AllOf(HasSubstr("inputs 2 B at one agent"),
                    HasSubstr("in use meanwhile what is read of v, for which "
                              "no bound is known; agents")));
  EXPECT_THAT(FootprintSentence({.tables = 3e6}),
              HasSubstr(", tables of indices about 3.0 MB in each process, in "
                        "use meanwhile"));
  EXPECT_THAT(FootprintSentence({.in_use = 9, .unknown = "v"}),
              HasSubstr("in use meanwhile about 9 B and what is read of v, "));
  EXPECT_THAT(
      FootprintSentence({.in_use = 9, .beside = 3000, .beside_on_agents = 4e6}),
      HasSubstr("about 9 B, and beside these 3.0 kB in one process, 4.0 MB on "
                "agents, for each is a label; agents"));
}

}  // namespace
}  // namespace dogged
