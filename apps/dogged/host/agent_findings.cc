#include "apps/dogged/host/agent_findings.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "apps/dogged/process/module_folder.h"
#include "apps/tiles/blas_kernels.h"
#include "routing/control/control_socket.h"
#include "routing/control/socket_address.h"
#include "routing/trust/credentials.h"
#include "routing/trust/key_ring.h"
#include "runtime/base/status.h"
#include "runtime/exec/kernels/kernel_library.h"
#include "runtime/exec/kernels/kernel_processes.h"

namespace dogged {
namespace {

using Level = Finding::Level;

constexpr char kKernel[] =
    "double dogged_doctor(double x) { return x + 0.5; }\n";

Finding ModuleFinding(const std::string& subject, const std::string& module) {
  const auto folder = ModuleFolder(module);
  if (folder.ok()) {
    return {Level::kOk, subject, absl::StrCat(*folder, "/", module), ""};
  }
  return {Level::kError, subject, std::string(folder.status().message()),
          "install dogged again, or build all of it"};
}

std::vector<Finding> ProviderFindings(const std::string& host) {
  const auto list = ProvidersHere(host);
  if (!list.ok()) {
    return {{Level::kError, "libfabric", std::string(list.status().message()),
             "install dogged again; its package brings libfabric1"}};
  }
  std::vector<Finding> out;
  bool has_taken = false;
  for (const ProviderList::Provider& one : list->providers) {
    has_taken |= one.is_taken;
    out.push_back({Level::kOk, absl::StrCat("provider ", one.name),
                   absl::StrCat(one.is_taken ? "" : "refused: ", one.reason),
                   ""});
  }
  Finding library{Level::kOk, "libfabric", list->library, ""};
  if (!has_taken) {
    library = {Level::kError, "libfabric",
               absl::StrCat(list->library, ": no provider serves at ", host),
               "give --listen an address of this host; FI_PROVIDER, if it is "
               "set, must leave tcp"};
  }
  out.insert(out.begin(), library);
  if (list->no_filter.empty()) {
    out.push_back({Level::kOk, "port filter",
                   "the system keeps strangers from the fabric port of agents "
                   "that have a key (SO_ATTACH_FILTER)",
                   ""});
  } else {
    out.push_back({Level::kWarning, "port filter",
                   absl::StrCat(list->no_filter,
                                ": strangers reach the fabric port, where "
                                "libfabric believes what it reads"),
                   "let a firewall admit hosts of the cluster alone there; "
                   "agent --fabric-port fixes the port"});
  }
  return out;
}

Finding BlasFinding() {
  const absl::Status status = SetUpBlas();
  if (status.ok()) return {Level::kOk, "tile kernels", BlasName(), ""};
  return {Level::kError, "tile kernels", std::string(status.message()),
          "install libopenblas0-pthread"};
}

Finding CompilerFinding(const Environment& environment) {
  const KernelCompiler compiler(
      {.compiler = environment.compiler,
       .cache_directory = environment.cache_directory});
  const auto symbols = compiler.Load(kKernel);
  if (symbols.ok()) {
    return {Level::kOk, "compiler",
            absl::StrCat(environment.compiler, ", kernels are kept in ",
                         environment.cache_directory),
            ""};
  }
  return {Level::kWarning, "compiler",
          absl::StrCat(symbols.status().message(),
                       ": kernels are interpreted, which is slower"),
          "install gcc and libc6-dev, or name another compiler in DOGGED_CC"};
}

Finding PortFinding(const std::string& listen) {
  const auto port = ControlPort::Listen(listen);
  if (port.ok()) {
    return {Level::kOk, "port",
            absl::StrCat("an agent can listen at ", (*port)->address()), ""};
  }
  return {Level::kError, "port", std::string(port.status().message()),
          "give --listen HOST:PORT of this host that is free; port 0: any"};
}

Finding KeyFinding(const AgentPlace& place, const Environment& environment) {
  const auto found =
      OpenCredentials(place.keys, environment,
                      {CertificateUse::kConnects, CertificateUse::kAccepts});
  if (!found.ok()) {
    return {Level::kError, "key file", std::string(found.status().message()),
            ""};
  }
  const KeyFile* const keys = *found == nullptr ? nullptr : (*found)->keys();
  const auto certificates =
      *found == nullptr ? nullptr : (*found)->certificates();
  const std::string certified =
      certificates == nullptr
          ? ""
          : absl::StrCat("; certificate of ", certificates->OwnText());
  if (keys != nullptr) {
    return {
        Level::kOk, "key file",
        absl::StrCat(keys->path(), ", ids ", keys->ring()->Ids(), certified),
        ""};
  }
  if (place.keys.insecure) {
    return {Level::kWarning, "key file",
            "none: whoever reaches an agent can run code there",
            "dogged key new, and the same file for all agents and clients"};
  }
  const auto address = ResolveAddress(place.listen);
  if (address.ok() && address->IsLoopback()) {
    return {Level::kOk, "key file",
            absl::StrCat("none: agents listen on loopback alone", certified),
            ""};
  }
  return {Level::kError, "key file",
          absl::StrCat("none: no agent listens at ", place.listen,
                       ", beyond loopback"),
          "dogged key new, and the same file for all agents and clients"};
}

Finding JailFinding() {
  const auto refused = KernelProcesses(KernelJail()).TryJail();
  if (!refused.ok()) {
    return {Level::kWarning, "jail",
            absl::StrCat(refused.status().message(), ": they don't run here"),
            "agent --libraries apart runs them without a jail"};
  }
  if (!refused->empty()) {
    return {Level::kWarning, "jail", *refused,
            "allow namespaces of users (sysctl user.max_user_namespaces; "
            "profile of the container) or Landlock; or run agents with "
            "--kernels builtin"};
  }
  return {Level::kOk, "jail", "kernels of users can compute, and no more", ""};
}

// The numeric host of `listen`, for libfabric.
std::string ListenHost(const std::string& listen) {
  const auto address = ResolveAddress(listen);
  const std::string text = address.ok() ? address->ToString() : listen;
  std::string host = text.substr(0, text.rfind(':'));
  if (!host.empty() && host.front() == '[') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

}  // namespace

absl::StatusOr<ProviderList> ProvidersHere(const std::string& host) {
  DOGGED_ASSIGN_OR_RETURN(const std::string folder,
                          ModuleFolder("dogged_fabric.so"));
  return LoadProviderList(folder, host);
}

std::vector<Finding> AgentFindings(const AgentPlace& place,
                                   const Environment& environment) {
  std::vector<Finding> out = {ModuleFinding("transport", "dogged_fabric.so"),
                              ModuleFinding("storage", "dogged_rocksdb.so")};
  for (Finding& one : ProviderFindings(ListenHost(place.listen))) {
    out.push_back(std::move(one));
  }
  out.push_back(PortFinding(place.listen));
  out.push_back(KeyFinding(place, environment));
  out.push_back(BlasFinding());
  out.push_back(CompilerFinding(environment));
  out.push_back(JailFinding());
  return out;
}

}  // namespace dogged
