#include "apps/dogged/report/outputs_json.h"

#include <cstdint>

namespace dogged {

nlohmann::ordered_json OutputJson(const WrittenOutput& output) {
  nlohmann::ordered_json out = {
      {"file", output.path},
      {"labels", output.labels},
      {"shape", std::vector<int64_t>(output.shape.begin(), output.shape.end())},
      {"type", ElementName(output.type)}};
  if (output.range.has_value()) {
    out["range"] = {output.range->first, output.range->second};
  }
  if (output.agents > 0) out["agents"] = output.agents;
  return out;
}

nlohmann::ordered_json OutputsJson(const std::vector<WrittenOutput>& outputs) {
  auto out = nlohmann::ordered_json::array();
  for (const WrittenOutput& one : outputs) out.push_back(OutputJson(one));
  return out;
}

}  // namespace dogged
