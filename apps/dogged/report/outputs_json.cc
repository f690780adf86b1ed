#include "apps/dogged/report/outputs_json.h"

#include <cstdint>

namespace dogged {

nlohmann::ordered_json OutputJson(const WrittenOutput& output) {
  return {
      {"file", output.path},
      {"labels", output.labels},
      {"shape", std::vector<int64_t>(output.shape.begin(), output.shape.end())},
      {"type", ElementName(output.type)}};
}

nlohmann::ordered_json OutputsJson(const std::vector<WrittenOutput>& outputs) {
  auto out = nlohmann::ordered_json::array();
  for (const WrittenOutput& one : outputs) out.push_back(OutputJson(one));
  return out;
}

}  // namespace dogged
