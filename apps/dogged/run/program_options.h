// ProgramOptions: the program's file, and all that it is compiled with. Plain
// data.
#ifndef DOGGED_APPS_DOGGED_RUN_PROGRAM_OPTIONS_H_
#define DOGGED_APPS_DOGGED_RUN_PROGRAM_OPTIONS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/dogged/report/outputs.h"
#include "dsl/compile.h"
#include "dsl/text/diagnostics.h"
#include "runtime/base/value.h"

namespace dogged {

using Definitions = std::vector<std::pair<std::string, std::string>>;

// GivenProgram: a program that comes from no file, with its inputs.
struct GivenProgram {
  std::string text;
  std::map<std::string, Value> inputs;  // by array
  // The contents of shared libraries, by the names that the program has for
  // them. Other ones are files.
  std::map<std::string, std::string> libraries;
  // Messages of its last compilation, which are printed nowhere.
  std::optional<dsl::Diagnostics> diagnostics;
  // See ProgramFacts; of programs that are not whole yet, too.
  std::vector<dsl::ProgramFacts::Input> awaited;
  std::vector<dsl::ProgramFacts::MadeInput> made;
};

struct ProgramOptions {
  std::string file;
  GivenProgram* given = nullptr;  // instead of the file; outlives this
  Definitions definitions;        // -D
  std::vector<std::pair<std::string, std::string>> inputs;  // array, path
  std::vector<std::string> outputs;
  OutputForm output_form;
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
