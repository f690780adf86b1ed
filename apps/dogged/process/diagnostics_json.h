// Messages of the language as JSON, for answers and for clients that speak it.
#ifndef DOGGED_APPS_DOGGED_PROCESS_DIAGNOSTICS_JSON_H_
#define DOGGED_APPS_DOGGED_PROCESS_DIAGNOSTICS_JSON_H_

#include <nlohmann/json.hpp>

#include "dsl/text/diagnostics.h"

namespace dogged {

// An object each, errors first, then in the order of their making; at most
// Diagnostics::kShownMax. Keys: docs/JSON.md.
nlohmann::ordered_json DiagnosticsJson(const dsl::Diagnostics& diagnostics);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_DIAGNOSTICS_JSON_H_
