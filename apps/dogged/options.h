// What the command line asks for, as plain data. main.cc fills it, the only
// file that knows flags; environment.cc, the only one that knows environment
// and entropy, fills Environment.
#ifndef DOGGED_APPS_DOGGED_OPTIONS_H_
#define DOGGED_APPS_DOGGED_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dogged {

// Exit statuses.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,    // the job failed
  kMistyped = 2,  // or something that was asked for did not happen
  kWrong = 3,     // the program is wrong
  kNoAgents = 4,  // could not reach or start agents
  kNoRoom = 5,    // out of memory or disk
  kInterrupted = 130,
};

// What every command knows of the world, read once.
struct Environment {
  std::string cache_directory;  // of compiled kernels
  std::string compiler;
  std::string memory;     // DOGGED_MEMORY, handed on to agents
  std::string directory;  // DOGGED_DIR; a run's own agents have folders in it
  std::string temporary_folder;
  uint64_t entropy = 0;
};

using Definitions = std::vector<std::pair<std::string, std::string>>;

struct ProgramOptions {
  std::string file;
  Definitions definitions;                                  // -D
  std::vector<std::pair<std::string, std::string>> inputs;  // array, path
  std::vector<std::string> outputs;
  bool writes_results = false;  // where the program says `to` a file
  bool may_lack_inputs = false;
  bool loads_libraries = false;
  bool compiled = true;
  bool coalesce = true;
  bool emit_c = false;  // dogged check: print the generated C as well
  int agents = 1;       // nominal: they decide the tiles
  int workers = 0;      // per agent; 0: processors / agents, or the cluster's
};

struct GraphOptions {
  ProgramOptions program;
  std::string at;  // a label
  int radius = 2;
  std::string output;  // .svg or .dot; empty: standard output
};

// When to kill or to let join: a share of the tasks, or seconds.
struct When {
  std::optional<double> share;  // 0 to 1
  double seconds = 0;
  std::string text;
};

struct RunOptions {
  // No agents: one, or as many as the cluster has.
  ProgramOptions program{.agents = 0};
  int replicas = 0;  // 0: 2, or 1 with one agent
  bool check = false;
  std::string cluster;  // HOST:PORT of a running agent; empty: start some
  // Its agents as they were last seen, those that answer first.
  std::vector<std::string> cluster_agents;
  std::vector<When> kill_at;
  double kill_every_seconds = 0;  // 0: never
  std::vector<When> join_at;
  std::string multicast = "auto";
  bool search_only = false;
  uint64_t seed = 0;
  bool seed_given = false;
  bool json = false;
};

struct AgentCommandOptions {
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // what others are told; empty: as listen
  int fabric_port = 0;    // 0: any
  std::vector<std::string> join;
  int workers = 0;
  int64_t memory_bytes = 0;         // 0: no bound
  std::string directory;            // empty: none
  std::string arena = "on";         // or "off"
  std::string libraries = "apart";  // or "here"
  bool small_pages = false;         // for code
  std::string topology_id;
  std::string topology_file;  // of the site; see routing/site_topology.h
  int topology_base = 16;
  std::string ready_file;
  std::string multicast = "auto";
  bool insecure = false;
  uint64_t seed = 0;
};

struct ClusterOptions {
  std::string cluster;
  bool json = false;
  bool all = false;  // also of many jobs
  std::string job;   // of cancel
};

struct SimCommandOptions {
  ProgramOptions program;
  int agents = 8;
  uint64_t first_seed = 1;
  uint64_t last_seed = 1;
  std::string faults;
  int replicas = 2;
  bool search_only = false;
  bool claims = true;
  bool json = false;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_OPTIONS_H_
