#include "apps/dogged/report/outputs_json.h"

#include <cstdint>

namespace dogged {

nlohmann::ordered_json OutputsJson(const std::vector<WrittenOutput>& outputs) {
  auto out = nlohmann::ordered_json::array();
  for (const WrittenOutput& written : outputs) {
    out.push_back({{"file", written.path},
                   {"labels", written.labels},
                   {"shape", std::vector<int64_t>(written.shape.begin(),
                                                  written.shape.end())},
                   {"type", ElementName(written.type)}});
  }
  return out;
}

}  // namespace dogged
