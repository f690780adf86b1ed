#include "runtime/agent/agent_context.h"

#include <utility>

namespace dogged {
namespace {

std::unique_ptr<ValueStore> OpenValues(const AgentOptions& options) {
  if (options.engine == nullptr) return nullptr;
  auto out = std::make_unique<ValueStore>(*options.engine);
  if (options.keeps_values) out->ScanJobs();
  return out;
}

std::unique_ptr<Lending> OpenLending(const AgentOptions& options) {
  if (options.shared_memory == nullptr) return nullptr;
  return std::make_unique<Lending>(options.self.id, *options.shared_memory,
                                   options.lending);
}

}  // namespace

AgentContext::AgentContext(AgentOptions given, Executor& workers,
                           Background& beside, JobTools job_tools)
    : options(std::move(given)),
      tools(std::make_shared<const JobTools>(std::move(job_tools))),
      executor(workers),
      background(beside),
      values(OpenValues(options)),
      lending(OpenLending(options)),
      rng(Rng(options.seed).Stream("agent")),
      membership(options.self, options.membership,
                 Rng(options.seed).Stream("membership")),
      multicast(options.self.id, options.plan, options.limits) {
  multicast.SetView(membership.view());
}

std::vector<AgentId> AgentContext::Others() const {
  std::vector<AgentId> out;
  for (const Member& member : membership.view()->members()) {
    if (member.id != id()) out.push_back(member.id);
  }
  return out;
}

}  // namespace dogged
