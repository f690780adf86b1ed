// Aim: no text brings the front end down, makes it read what is not there, or
// shows a user what C++ or isl said; a text that has a form keeps it.
// Method: libFuzzer, from the programs of apps/ and tests/dsl/errors.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "dsl/check/check.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/text/format.h"
#include "dsl/text/include.h"
#include "dsl/text/parser.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

void Front(const std::string& text) {
  Diagnostics diagnostics = Include("fuzz.dog", text, nullptr);
  const ast::Program tree = Parse(diagnostics);
  Print(tree);
  Diagnostics plain("fuzz.dog", text);
  const auto formatted = Format(plain);
  if (formatted.ok()) {
    Diagnostics again("fuzz.dog", *formatted);
    if (Format(again).value_or("none") != *formatted) std::abort();
  }
  if (!diagnostics.HasErrors()) {
    CheckOptions options;
    options.assume_input_files = true;
    CheckedProgram program = Check(tree, options, diagnostics);
    // Tables are filled in behind the front end.
    bool has_tables = false;
    for (const CheckedTask& task : program.tasks) {
      for (const CheckedUse& use : task.uses)
        has_tables |= use.gather.has_value();
    }
    if (!diagnostics.HasErrors() && !has_tables) {
      AnalyzeWithIsl(program, diagnostics);
    }
  }
  const std::string said = diagnostics.ToString();
  if (diagnostics.all().empty() != said.empty()) std::abort();
  // Names in the text come back in messages.
  const bool is_own = text.find("isl_") != std::string::npos;
  if (!is_own && said.find("isl_") != std::string::npos) std::abort();
}

}  // namespace
}  // namespace dogged::dsl

// isl loses a little when it is stopped at a bound of steps (its 0.25 in
// isl_map_transitive_closure, for one).
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libisl.so\n";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dogged::dsl::Front(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
