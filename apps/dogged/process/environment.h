// Environment variables and entropy, read once: nothing else may ask for them.
#ifndef DOGGED_APPS_DOGGED_PROCESS_ENVIRONMENT_H_
#define DOGGED_APPS_DOGGED_PROCESS_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace dogged {

// The world as every command knows it, read once.
struct Environment {
  std::string cache_directory;  // of compiled kernels
  std::string compiler;
  std::string memory;     // DOGGED_MEMORY, handed on to agents
  std::string directory;  // DOGGED_DIR; a run's own agents have folders in it
  std::string temporary_folder;
  std::string home;
  // DOGGED_KEY_FILE, DOGGED_CA_FILE and so on, if they are set.
  std::optional<std::string> key_file;
  std::optional<std::string> ca_file;
  std::optional<std::string> cert_file;
  std::optional<std::string> cert_key_file;
  uint64_t entropy = 0;
};

Environment ReadEnvironment();

// The value of a variable, for a flag that names it; empty if it is not set.
std::string Variable(const char* name);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_ENVIRONMENT_H_
