#include "dsl/isl/boundary_forms.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace dogged::dsl {
namespace {

// `form` and `rounds` times the length of a ring from first to last.
LinearForm Shifted(LinearForm form,
                   const std::pair<LinearForm, LinearForm>& range,
                   int64_t rounds) {
  const auto& [first, last] = range;
  for (size_t p = 0; p < form.params.size(); ++p) {
    form.params[p] += rounds * (last.params[p] - first.params[p]);
  }
  form.constant += rounds * (last.constant - first.constant + 1);
  return form;
}

}  // namespace

bool HasDimensions(const LinearForm& form) {
  return absl::c_any_of(form.dims, [](int64_t factor) { return factor != 0; });
}

CheckedDomain FreeOf(const CheckedBoundary& boundary) {
  CheckedDomain free;
  for (const std::string& name : boundary.free) {
    free.dimensions.push_back(
        {.name = name, .range = {}, .lower = {}, .upper = {}});
  }
  free.guard = boundary.where;
  return free;
}

isl::map FormOf(const CheckedBoundary& boundary, const IslSets& sets) {
  return sets.RefMap("F", boundary.free.size(), boundary.ref)
      .intersect_domain(sets.Points("F", FreeOf(boundary)));
}

bool SplitRing(const CheckedBoundary& boundary,
               const std::pair<LinearForm, LinearForm>& range,
               const isl::set& labels, const IslSets& sets,
               std::vector<RingPart>& parts) {
  const int32_t array = boundary.ref.array;
  const int index = boundary.periodic_index;
  for (const bool is_below : {true, false}) {
    const LinearForm& end = is_below ? range.first : range.second;
    const int64_t sign = is_below ? 1 : -1;
    isl::set rest = labels.intersect(sets.Beyond(array, index, end, is_below));
    for (int64_t rounds = 1; !rest.is_empty(); ++rounds) {
      if (rounds > kRoundsMax) return false;
      RingPart part{.labels = rest,
                    .source = boundary.ref,
                    .is_below = is_below,
                    .rounds = rounds};
      const isl::set further = sets.Beyond(
          array, index, Shifted(end, range, -sign * rounds), is_below);
      rest = rest.intersect(further);
      if (!rest.is_empty()) part.labels = part.labels.subtract(further);
      LinearForm& source = part.source.index[index];
      source = Shifted(source, range, sign * rounds);
      parts.push_back(std::move(part));
    }
  }
  return true;
}

}  // namespace dogged::dsl
