// LocalAgents: agent processes of this host, for runs that bring their own.
// They end with this process, however it ends.
#ifndef DOGGED_APPS_DOGGED_RUN_LOCAL_AGENTS_H_
#define DOGGED_APPS_DOGGED_RUN_LOCAL_AGENTS_H_

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace dogged {

struct LocalAgentsOptions {
  int workers = 1;
  std::string memory;  // handed on as --memory; may be empty
  // Agents get folders in it, by their names, as --dir; may be empty. Nothing
  // else is in it.
  std::string directory;
  std::string temporary_folder;  // where they spill
  std::string multicast = "auto";
  std::string key_file;  // empty: they have no keys
  std::string program = "/proc/self/exe";
  std::vector<std::string> flags;  // more of them
};

class LocalAgents {
 public:
  struct Process {
    std::string name;  // "agent-1"
    pid_t pid = 0;
    std::string address;  // of its control port
    bool alive = false;
    // End of a process: "killed by signal 9", "exit status 1"; and whether it
    // came of a lack of memory or disk, or of being told to leave.
    std::string end;
    bool lacked_room = false;
    bool left = false;
    int fd = -1;                    // its input and output
    std::vector<std::string> told;  // addresses, for it to join
    std::string said;               // until it listens
    absl::Time deadline;            // when it has to
    bool IsReady() const { return !address.empty(); }
  };

  explicit LocalAgents(LocalAgentsOptions options)
      : options_(std::move(options)) {}
  ~LocalAgents() { End(); }
  LocalAgents(const LocalAgents&) = delete;
  LocalAgents& operator=(const LocalAgents&) = delete;

  // Starts `count` agents at once and waits until they listen. The first of all
  // stands alone, the others join it or, later, any that lives.
  //
  // Errors: kUnavailable, with the name of an agent that did not come up;
  // kCancelled;
  //         kResourceExhausted if it says that it has no room.
  absl::Status Start(int count, absl::Duration timeout);
  // Brings up `count` processes, or fewer, for StartOne() to let join: the
  // start of libfabric, a third of a second, is over by then.
  void Prepare(int count);
  // Starts one more and does not wait for it; its position. Errors: as above.
  absl::StatusOr<size_t> StartOne(absl::Duration timeout);
  // Outcome, as of Start(), of processes()[index], which StartOne() started;
  // none if it does not listen yet. Waits no longer than `patience`. The
  // process is told of agents that came meanwhile, for the older ones may have
  // died.
  std::optional<absl::Status> Started(size_t index, absl::Duration patience);
  // SIGKILL to processes()[index]; it has ended afterwards.
  void Kill(size_t index);
  // Kills and reaps the rest.
  void End();
  // End(), and their directory goes.
  void EndAndForget();
  // Positions of the processes that have ended since the last call, but for
  // those that never listened. Waits so long for each that has not.
  std::vector<size_t> Reap(absl::Duration patience = absl::ZeroDuration());

  const std::vector<Process>& processes() const { return processes_; }
  // Positions of the processes that listen.
  std::vector<size_t> Alive() const;

 private:
  std::vector<std::string> ArgumentsOf(const std::string& name,
                                       bool joins) const;
  absl::Status Spawn(bool joins, absl::Time deadline);
  void TellMembers(Process& process) const;
  // None if it has not said yet that it listens, by `limit`.
  std::optional<absl::Status> Listen(Process& process, absl::Time limit);
  absl::Status AwaitReady(Process& process);
  static bool IsEnding(const Process& process, absl::Duration patience);

  LocalAgentsOptions options_;
  std::vector<Process> processes_;
  std::deque<size_t> prepared_;  // positions of processes that wait for a word
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_LOCAL_AGENTS_H_
