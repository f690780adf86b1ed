// A program on real agent processes of this host, for benchmarks that measure
// between agents. Agents are the `dogged` beside this binary.
#ifndef DOGGED_APPS_DOGGED_BENCH_AGENTS_RUN_H_
#define DOGGED_APPS_DOGGED_BENCH_AGENTS_RUN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/dogged/agent/kernel_source.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/run/local_agents.h"
#include "dsl/check/check.h"
#include "runtime/graph/program.h"

namespace dogged {

// The folder of this binary.
std::string BenchFolder();

// Output of a shell's command, which must succeed.
std::string OutputOf(const std::string& command);
// The number that such a command prints, more than 0.
double SecondsOf(const std::string& command);
// The number after "name": in a line of JSON.
double NumberOf(const std::string& json, const std::string& name);

class AgentsRun {
 public:
  // Starts `count` agents that know each other. Ends the process if they
  // don't come up.
  AgentsRun(int count, int workers, std::vector<std::string> flags = {},
            std::string multicast = "auto");

  // `text` may take kernels from "dogged-bench-stamps.so".
  struct Request {
    std::string text;
    dsl::ParameterValues parameters;
    int replicas = 1;
    // Without it results stay with the agents.
    bool ends = true;
  };
  struct Outcome {
    JobId job;
    Program program;
    std::map<Label, Value> results;
  };
  Outcome Run(const Request& request);
  Outcome Run(const std::string& text, const dsl::ParameterValues& parameters) {
    return Run({.text = text, .parameters = parameters});
  }
  const std::vector<LocalAgents::Process>& processes() const {
    return agents_.processes();
  }
  // Processor time that all agents have used so far.
  double CpuSeconds() const;

 private:
  const int workers_;  // of each
  KernelSource kernels_;
  LocalAgents agents_;
  uint64_t runs_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_AGENTS_RUN_H_
