// Options of `dogged agent`. Plain data.
#ifndef DOGGED_APPS_DOGGED_AGENT_AGENT_OPTIONS_H_
#define DOGGED_APPS_DOGGED_AGENT_AGENT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "apps/dogged/keys/key_choice.h"

namespace dogged {

struct AgentCommandOptions {
  std::string listen = "127.0.0.1:0";
  std::string advertise;  // as others are told; empty: as listen
  int fabric_port = 0;    // 0: any
  std::string health;     // HOST:PORT of a HealthPort; empty: none
  std::vector<std::string> join;
  int workers = 0;
  int64_t memory_bytes = 0;          // 0: no bound
  bool has_memory = false;           // that is as the user says
  std::string directory;             // empty: none
  std::string arena = "on";          // or "off"
  std::string libraries = "jailed";  // see LibraryPlace
  std::string kernels = "any";       // see AllowedLibraries::Parse()
  bool small_pages = false;          // for code
  std::string topology_id;
  std::string
      topology_file;  // of the site; see routing/topology/site_topology.h
  int topology_base = 16;
  absl::Duration lifetime = absl::InfiniteDuration();  // then it leaves
  absl::Duration leave_within = absl::Seconds(10);     // once told to
  std::string ready_file;
  std::string multicast = "auto";
  KeyChoice keys;
  std::string wire;  // as WireModeText(); empty: see WireModeOf()
  uint64_t seed = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_AGENT_OPTIONS_H_
