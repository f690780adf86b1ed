// The proofs behind AnalyzeWithIsl. Part of the isl adapter: nothing else
// includes this header.
#ifndef DOGGED_DSL_ISL_ANALYSIS_ISL_H_
#define DOGGED_DSL_ISL_ANALYSIS_ISL_H_

#include <isl/cpp.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "dsl/check/checked.h"
#include "dsl/isl/analysis_isl_sets.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Analysis of one program, either with parameters as they are or with their
// numbers. Reports only in the second case: in the first it ends at the first
// proof that fails.
class Analysis {
 public:
  Analysis(CheckedProgram& program, Diagnostics& diagnostics,
           const IslContext& context, bool symbolic)
      : program_(program),
        diagnostics_(diagnostics),
        symbolic_(symbolic),
        sets_(program, context, symbolic) {}

  // True if everything was proved and there is nothing to say. Throws
  // isl::exception where isl gives up.
  bool Run();

 private:
  struct TaskMaps {
    isl::set domain;
    std::vector<isl::map> creates;  // to labels
    std::vector<isl::map> uses;
  };

  // --- analysis_isl.cc: facts of the set of labels ---
  void Gather();
  void AddTask(int32_t k);
  void Results();
  void DefaultResult();
  bool IsThere(const CheckedResult& result, const isl::set& named,
               const isl::set& points);
  void ResolveResult(CheckedResult& result);
  void Extents();

  // --- analysis_isl_boundaries.cc ---
  void Boundaries();
  static CheckedDomain FreeOf(const CheckedBoundary& boundary);
  isl::map FormOf(const CheckedBoundary& boundary) const;
  // Labels beyond an end of a ring, and where they take their values from,
  // `rounds` times round it.
  struct RingPart {
    isl::set labels;
    CheckedRef source;
    bool is_below = false;
    int64_t rounds = 1;
  };
  static constexpr int64_t kRoundsMax = 64;
  bool RoundTheRing(const CheckedBoundary& boundary,
                    const std::pair<LinearForm, LinearForm>& range,
                    const isl::set& labels, std::vector<RingPart>& parts) const;
  std::vector<isl::set> PeriodicSources() const;
  CheckedTask BoundaryTask(const CheckedBoundary& boundary) const;
  bool AddBoundaryTask(const CheckedBoundary& boundary, const isl::set& labels,
                       CheckedTask task);
  void Periodic(const CheckedBoundary& boundary, const isl::set& created);
  void WarnOfIdle(const CheckedBoundary& boundary, const isl::set& needed);
  void WarnOfLost(const CheckedBoundary& boundary, const isl::set& needed);
  void ReportLost(const CheckedBoundary& boundary, const CheckedTask& task,
                  const isl::set& lost);
  void WarnOfHole(const CheckedBoundary& ring,
                  const std::vector<RingPart>& parts);
  std::string Apart(const CheckedRef& other, size_t l) const;
  void ReportClashes() const;

  // --- analysis_isl.cc again ---
  isl::set KnownLabels(int32_t array) const;
  isl::set Inside(int32_t array, isl::set labels) const;
  isl::set WholeArray(int32_t array, const std::vector<bool>& is_slice) const;
  std::vector<std::string> IndexNames(const CheckedRef& ref,
                                      const CheckedDomain& domain) const;
  std::vector<std::string> IndexNames(int32_t array) const;

  // --- analysis_isl_rounds.cc ---
  void Rounds();
  bool ReadsLater(size_t k, const CheckedRef& ref, const isl::map& reads);
  bool IsMadeLater(size_t k, const CheckedRef& ref, size_t l,
                   const isl::map& pairs);
  void ReportLater(size_t k, const CheckedRef& ref, size_t l,
                   const isl::map& late);

  // --- analysis_isl_proofs.cc ---
  void DeclaredRanges();
  void InRange(const CheckedTask& task, const isl::map& map,
               const CheckedRef& ref, absl::string_view verb,
               absl::FunctionRef<std::string()> help);
  void SelectWithin(const CheckedResult& result, const isl::set& labels);
  void SingleAssignment();
  void NoTwo(int32_t k, size_t c, int32_t l, size_t d);
  void Coverage();

  // --- analysis_isl_missing.cc ---
  void ReportMissing(int32_t array, const isl::set& piece);
  std::string HelpWithoutLabels(int32_t array, std::string otherwise) const;
  std::string HelpToMake(const CheckedUse& use, const isl::set& piece,
                         const std::vector<std::string>& names) const;
  // The first and the last value of index i of an array's labels, as far as
  // known; an end is sure where not only tasks that read the array make labels.
  struct Grid {
    std::optional<int64_t> first;
    std::optional<int64_t> last;
    bool is_first_sure = false;
    bool is_last_sure = false;
  };
  Grid GridOf(int32_t array, int i) const;
  bool IsSliced(int32_t array, size_t i) const;
  std::string CornersOf(int32_t array, const isl::set& piece,
                        const std::vector<std::string>& names) const;
  struct Steps {
    const CheckedTask* task = nullptr;
    std::string range;  // of the index, "t = 1:49:2"
    size_t index = 0;
  };
  std::optional<Steps> SteppedOver(int32_t array, const isl::set& piece) const;
  std::string HelpWithOrder(const CheckedRef& ref, const CheckedDomain& domain,
                            std::string otherwise) const;
  std::string HelpWithRounds() const;
  absl::string_view TextAt(SourceRange range) const;
  absl::string_view IndexText(const CheckedRef& ref, size_t i) const;
  bool StepsBack(const CheckedRef& ref, const AffineMap& made) const;
  std::string HelpAhead(const CheckedTask& task, const CheckedUse& use,
                        std::string otherwise) const;

  // --- analysis_isl_order.cc ---
  void Order();
  // Points of a task to the tasks that create the labels that they read.
  struct Dependence {
    size_t reader = 0;
    size_t maker = 0;
    const CheckedRef* read = nullptr;
  };
  std::vector<Dependence> Dependences() const;
  std::optional<int64_t> StepOf(const Dependence& dependence, int i) const;
  bool IsOrdered(std::vector<Dependence> dependences);
  bool Falls(const std::vector<Dependence>& ring);
  bool FallsNowhere(const Dependence& dependence) const;
  bool HasSchedule() const;
  void ReportCycle();
  // --- analysis_isl_proofs.cc again ---
  void Need();
  void FindNeeded(const isl::union_set& wanted);
  isl::union_set AllTasks() const;
  std::optional<isl::union_set> ByPeeling(
      const isl::union_set& wanted, const isl::union_map& requires_map) const;
  std::optional<isl::union_set> ByClosure(
      const isl::union_set& wanted, const isl::union_map& requires_map) const;
  bool TryNeeded(uint64_t operations_max,
                 absl::FunctionRef<std::optional<isl::union_set>()> find);
  void NoteNeeded(const isl::union_set& needed);
  void WarnOfUseless(size_t k) const;
  static bool IsThin(const isl::set& set);
  bool IsForCondition(const CheckedTask& task) const;
  isl::union_map Requires() const;
  // Where text needs points of a task, or a label.
  std::string RangesText(const CheckedTask& task, const isl::set& points) const;
  std::string PointText(const CheckedTask& task,
                        const std::vector<int64_t>& point) const;
  static std::pair<std::vector<int64_t>, std::vector<int64_t>> FirstOf(
      const isl::map& map, const CheckedTask& task);
  std::string LabelText(const CheckedRef& ref,
                        const std::vector<int64_t>& point) const;
  // A failed proof: true if it should be reported now.
  bool Fails() {
    is_good_ = false;
    return !symbolic_;
  }
  bool HasErrors() const { return !is_good_ || diagnostics_.HasErrors(); }

  CheckedProgram& program_;
  Diagnostics& diagnostics_;
  bool symbolic_;
  bool is_good_ = true;
  IslSets sets_;
  std::vector<TaskMaps> tasks_;
  std::vector<isl::set> created_;  // by array
  std::vector<isl::set> read_;
  std::vector<isl::set> wanted_;
  std::vector<isl::set> useless_;       // by task, what no result needs
  std::optional<Dependence> doubtful_;  // in a ring without a proof
  // Boundaries that create a label twice: the first such label, and conditions
  // that would leave all of them to boundaries further up.
  struct Clash {
    std::string message;
    std::vector<int> lines;  // of the others
    std::vector<std::string> conditions;
  };
  std::map<size_t, Clash> clashes_;  // by task, the lower one of each two
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_ANALYSIS_ISL_H_
