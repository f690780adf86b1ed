// ProgramOptions: the program's file, and all that it is compiled with. Plain
// data.
#ifndef DOGGED_APPS_DOGGED_RUN_PROGRAM_OPTIONS_H_
#define DOGGED_APPS_DOGGED_RUN_PROGRAM_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

namespace dogged {

using Definitions = std::vector<std::pair<std::string, std::string>>;

struct ProgramOptions {
  std::string file;
  Definitions definitions;                                  // -D
  std::vector<std::pair<std::string, std::string>> inputs;  // array, path
  std::vector<std::string> outputs;
  std::vector<std::string> wanted;  // selections that go to no file
  bool writes_results = false;      // where the program says `to` a file
  bool may_lack_inputs = false;
  bool loads_libraries = false;
  bool compiled = true;
  bool coalesce = true;
  bool prefers_nest = false;   // see CompileOptions
  bool static_labels = false;  // see CompileOptions
  bool json = false;           // dogged check
  bool emit_c = false;         // dogged check: print the generated C as well
  int agents = 1;              // nominal: they decide the tiles
  int workers = 0;  // per agent; 0: processors / agents, or the cluster's
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_PROGRAM_OPTIONS_H_
