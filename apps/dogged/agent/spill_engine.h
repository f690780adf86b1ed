// SpillEngine: holds values that the memory of an agent without a directory has
// no room for. Its folder, under the system's temporary one, is made when the
// first value goes there and removed at the end. The folder of a killed agent
// is removed by the next agent that spills.
#ifndef DOGGED_APPS_DOGGED_AGENT_SPILL_ENGINE_H_
#define DOGGED_APPS_DOGGED_AGENT_SPILL_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kvstore/storage/engine.h"

namespace dogged {

// Removes the folders of a process that has ended without doing so.
void RemoveSpillFolders(const std::string& temporary_folder, int64_t process);

class SpillEngine : public Engine {
 public:
  // Makes the engine on a folder.
  using Open = std::function<absl::StatusOr<std::unique_ptr<Engine>>(
      const std::string& folder)>;

  SpillEngine(std::string temporary_folder, Open open);
  ~SpillEngine() override;
  SpillEngine(const SpillEngine&) = delete;
  SpillEngine& operator=(const SpillEngine&) = delete;

  void Submit(EngineRequest request) override;
  void Poll(std::vector<EngineReply>& replies) override;
  absl::Duration BusyTime() const override;

 private:
  absl::Status Start();

  const std::string temporary_folder_;
  const Open open_;
  std::string folder_;  // empty until it is made
  std::unique_ptr<Engine> engine_;
  absl::Status status_;
  std::vector<EngineReply> replies_;  // of requests that found no engine
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_SPILL_ENGINE_H_
