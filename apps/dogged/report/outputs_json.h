// Files that were written, as JSON.
#ifndef DOGGED_APPS_DOGGED_REPORT_OUTPUTS_JSON_H_
#define DOGGED_APPS_DOGGED_REPORT_OUTPUTS_JSON_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "apps/dogged/report/outputs.h"

namespace dogged {

nlohmann::ordered_json OutputJson(const WrittenOutput& output);
nlohmann::ordered_json OutputsJson(const std::vector<WrittenOutput>& outputs);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_OUTPUTS_JSON_H_
