// NaNs and infinities: a computation that has blown up says so.
#ifndef DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_
#define DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/dogged/run/loaded_program.h"
#include "dsl/results.h"

namespace dogged {

// Warns of NaNs and infinities in input files, and names inputs that were made
// for want of a file.
void WarnOfInputs(const LoadedProgram& program);

// A line of words on each input with NaNs or infinities.
std::vector<std::string> NotFiniteInputs(const LoadedProgram& program);

// NaNs and infinities among numbers.
struct NotFiniteCount {
  int64_t numbers = 0;
  int64_t count = 0;
  std::string first;  // where it stands, in the user's words
};

// NotFinite: those among the results, by view.
class NotFinite {
 public:
  explicit NotFinite(const Program& program)
      : program_(program), counts_(program.views.size()) {}
  // As ResultViews::DigestOfAll() gives them.
  void Add(size_t view, const Label* label, const dsl::DensePiece& piece);
  int64_t count() const;
  // A line of words on each result with some, which names the first.
  std::vector<std::string> Words() const;
  // Says them as warnings. Returns count().
  int64_t Warn() const;

 private:
  const Program& program_;
  std::vector<NotFiniteCount> counts_;
};

// Digest of all results, in one pass with the NaNs and infinities among them,
// for a large result is read from a file. Errors: as ResultViews.
absl::StatusOr<Digest> DigestOfAll(dsl::ResultViews& views,
                                   NotFinite& not_finite);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RUN_NOT_FINITE_H_
