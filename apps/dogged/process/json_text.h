// JSON as text: bytes that are not UTF-8, as in file names, are replaced.
#ifndef DOGGED_APPS_DOGGED_PROCESS_JSON_TEXT_H_
#define DOGGED_APPS_DOGGED_PROCESS_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace dogged {

inline std::string JsonText(const nlohmann::ordered_json& json) {
  return json.dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_JSON_TEXT_H_
