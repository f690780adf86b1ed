#include "apps/dogged/host/version_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/host/agent_findings.h"
#include "apps/dogged/host/build_facts.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/module_folder.h"
#include "apps/tiles/blas_kernels.h"
#include "apps/tiles/numeric_class.h"
#include "routing/trust/library_version.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

struct Facts {
  BuildFacts build;
  std::vector<std::string> features;
  std::string libfabric;
  std::string provider;
  std::string openssl;
  std::string numeric_class;
};

Facts FactsHere() {
  Facts out{.build = BuildFactsHere(), .openssl = CryptographyVersion()};
  const auto providers = ProvidersHere("127.0.0.1");
  if (providers.ok()) {
    out.features.push_back("transport");
    out.libfabric = providers->library;
    for (const ProviderList::Provider& one : providers->providers) {
      if (one.is_taken) out.provider = one.name;
    }
  }
  if (ModuleFolder("dogged_rocksdb.so").ok()) out.features.push_back("storage");
  const absl::Status blas = SetUpBlas();
  if (blas.ok()) {
    out.features.push_back("tile kernels");
    out.numeric_class = NumericPartsHere().host;
  }
  for (const std::string& sanitizer : out.build.sanitizers) {
    out.features.push_back(absl::StrCat("sanitizer ", sanitizer));
  }
  return out;
}

std::string OrNone(const std::string& text) {
  return text.empty() ? "none; `dogged doctor` says why" : text;
}

std::string FactsText(const Facts& facts) {
  const std::vector<std::pair<const char*, std::string>> rows = {
      {"commit", facts.build.commit},
      {"build",
       absl::StrCat(facts.build.build_type, ", ", facts.build.compiler)},
      {"wire", absl::StrCat("version ", WireHello::Here().range.ToString())},
      {"features", absl::StrJoin(facts.features, ", ")},
      {"libfabric", OrNone(facts.libfabric)},
      {"provider", OrNone(facts.provider)},
      {"cryptography", facts.openssl},
      {"numeric class", OrNone(facts.numeric_class)}};
  std::string out = absl::StrCat("dogged ", facts.build.version, "\n");
  for (const auto& [name, text] : rows) {
    absl::StrAppendFormat(&out, "%-14s%s\n", name, text);
  }
  return out;
}

nlohmann::ordered_json JsonOf(const Facts& facts) {
  return {{"version", facts.build.version},
          {"commit", facts.build.commit},
          {"build_type", facts.build.build_type},
          {"compiler", facts.build.compiler},
          {"wire",
           {{"oldest", WireHello::Here().range.oldest},
            {"newest", WireHello::Here().range.newest}}},
          {"features", facts.features},
          {"libfabric", facts.libfabric},
          {"provider", facts.provider},
          {"cryptography", facts.openssl},
          {"numeric_class", facts.numeric_class}};
}

}  // namespace

ExitCode VersionCommand(bool json) {
  const Facts facts = FactsHere();
  if (json) {
    SetAnswer(JsonOf(facts));
    return ExitCode::kDone;
  }
  const std::string text = FactsText(facts);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitCode::kDone;
}

}  // namespace dogged
