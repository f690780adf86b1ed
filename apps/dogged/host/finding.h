// Finding: one line of `dogged doctor`.
#ifndef DOGGED_APPS_DOGGED_HOST_FINDING_H_
#define DOGGED_APPS_DOGGED_HOST_FINDING_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dogged {

struct Finding {
  enum class Level {
    kOk,
    kWarning,  // agents run, but slower, or not in each case
    kError     // agents can't run
  };
  Level level = Level::kOk;
  std::string subject;  // "huge pages"
  std::string words;    // what is so
  std::string way_out;  // empty where nothing is to be done
};

// "ok", "warning", "error".
std::string LevelText(Finding::Level level);

// "all is well", or "agents can't run here; 2 things to mend: port, clock".
std::string Verdict(const std::vector<Finding>& findings);
// Lines for people: level, subject and words, the way out below them; the
// verdict at the end.
std::string FindingsText(const std::vector<Finding>& findings);
// {"findings": [...], "warnings": 1, "errors": 0, "verdict": "..."}.
nlohmann::ordered_json FindingsJson(const std::vector<Finding>& findings);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_FINDING_H_
