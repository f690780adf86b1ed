// Aim: agents of this host are started at once and told later whom to join; an
// agent that does not come up is named. Method: scripts in the agent's place;
// the first says that it listens only once another one runs.
#include "apps/dogged/run/local_agents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/dogged/run/interrupt.h"
#include "tests/output/temporary_folder.h"

namespace dogged {

bool IsInterrupted() { return false; }

namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

// `first` is what one does that joins nobody, `joiner` what another does.
LocalAgentsOptions Scripted(const TemporaryFolder& folder,
                            const std::string& first,
                            const std::string& joiner) {
  const std::string path =
      folder.Write("agent", "#!/bin/sh\ncd " + folder / "" +
                                "\ncase \"$*\" in\n*--join*)\n" + joiner +
                                ";;\n*)\n" + first + ";;\nesac\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  LocalAgentsOptions options;
  options.program = path;
  return options;
}

TEST(LocalAgents, ComeUpTogether) {
  const TemporaryFolder folder;
  LocalAgents agents(Scripted(folder,
                              "mkfifo gate\n"
                              "read word < gate\n"
                              "echo listening here:1",
                              "while ! test -p gate; do :; done\n"
                              "mkdir once 2> /dev/null && echo go > gate\n"
                              "cat > told.$$\n"
                              "echo listening there:$$"));
  ASSERT_TRUE(agents.Start(3, kTimeout).ok());
  const auto& processes = agents.processes();
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].address, "here:1");
  for (size_t i : {1, 2}) {
    const std::string pid = std::to_string(processes[i].pid);
    EXPECT_EQ(processes[i].address, "there:" + pid);
    EXPECT_EQ(ContentOf(folder / ("told." + pid)), "here:1\n");
  }
  // A later agent is told of all.
  ASSERT_TRUE(agents.Start(1, kTimeout).ok());
  ASSERT_EQ(processes.size(), 4u);
  EXPECT_EQ(
      ContentOf(folder / ("told." + std::to_string(processes[3].pid))),
      "here:1\n" + processes[1].address + "\n" + processes[2].address + "\n");
}

// The caller goes on meanwhile. The process is none of the agents before it
// says so, whatever becomes of it.
TEST(LocalAgents, OneMoreIsNotWaitedFor) {
  const TemporaryFolder folder;
  LocalAgents agents(Scripted(folder, "echo listening here:1\ncat",
                              "read line; echo $line > told; mkfifo gate.$$\n"
                              "read word < gate.$$\n$word\n"
                              "echo listening there:1"));
  ASSERT_TRUE(agents.Start(1, kTimeout).ok());
  const auto start = [&agents] {
    const absl::StatusOr<size_t> index = agents.StartOne(kTimeout);
    EXPECT_TRUE(index.ok());
    return *index;
  };
  const auto tell = [&](size_t index, const std::string& word) {
    const std::string gate =
        folder / ("gate." + std::to_string(agents.processes()[index].pid));
    while (!std::filesystem::exists(gate)) {
    }
    std::ofstream(gate) << word << "\n";
  };
  const size_t good = start();
  EXPECT_FALSE(agents.Started(good, absl::ZeroDuration()).has_value());
  EXPECT_EQ(agents.Alive(), std::vector<size_t>{0});
  tell(good, "true");
  EXPECT_EQ(agents.Started(good, kTimeout), absl::OkStatus());
  EXPECT_EQ(agents.processes()[good].address, "there:1");
  EXPECT_EQ(ContentOf(folder / "told"), "here:1\n");

  const size_t bad = start();
  tell(bad, "exit 5");
  EXPECT_EQ(agents.Started(bad, kTimeout),
            absl::ResourceExhaustedError(
                "agent-3 did not start; its words are on standard error"));
  const std::vector<size_t> ended = agents.Reap();
  EXPECT_EQ(std::count(ended.begin(), ended.end(), bad), 0);

  const absl::StatusOr<size_t> late = agents.StartOne(absl::ZeroDuration());
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(agents.Started(*late, kTimeout),
            absl::UnavailableError(
                "agent-4 did not start; its words are on standard error"));
  EXPECT_FALSE(agents.processes()[*late].alive);
}

// Agents that it was told of first may die before they answer.
TEST(LocalAgents, WhoStartsHearsOfNewcomers) {
  const TemporaryFolder folder;
  LocalAgents agents(Scripted(folder, "echo listening here:1\ncat",
                              "read first\n"
                              "if mkdir once 2> /dev/null; then\n"
                              "read second; echo listening knows:$second\n"
                              "else\necho listening there:1\nfi"));
  ASSERT_TRUE(agents.Start(1, kTimeout).ok());
  const absl::StatusOr<size_t> waits = agents.StartOne(kTimeout);
  ASSERT_TRUE(waits.ok());
  while (!std::filesystem::exists(folder / "once")) {
  }
  EXPECT_FALSE(agents.Started(*waits, absl::ZeroDuration()).has_value());
  const absl::StatusOr<size_t> comes = agents.StartOne(kTimeout);
  ASSERT_TRUE(comes.ok());
  ASSERT_EQ(agents.Started(*comes, kTimeout), absl::OkStatus());
  ASSERT_EQ(agents.Started(*waits, kTimeout), absl::OkStatus());
  EXPECT_EQ(agents.processes()[*waits].address, "knows:there:1");
}

TEST(LocalAgents, NameWhoDoesNotComeUp) {
  const TemporaryFolder folder;
  {
    LocalAgents agents(Scripted(folder, "exit 4", "exit 4"));
    const absl::Status status = agents.Start(2, kTimeout);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(status.message(),
              "agent-1 did not start; its words are on standard error");
  }
  // Ended before it could be told: writing to it ends nothing here.
  LocalAgents agents(Scripted(folder,
                              "mkfifo gate; read word < gate\n"
                              "echo listening here:1",
                              "while ! test -p gate; do :; done\n"
                              "exec < /dev/null\n"
                              "echo go > gate\n"
                              "exit 5"));
  const absl::Status status = agents.Start(2, kTimeout);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "agent-2 did not start; its words are on standard error");
}

}  // namespace
}  // namespace dogged
