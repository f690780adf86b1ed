#include "dsl/isl/point_text.h"

#include <isl/aff.h>
#include <isl/local_space.h>
#include <isl/set.h>
#include <isl/val.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {

std::string PointText(const CheckedTask& task,
                      const std::vector<int64_t>& point) {
  std::string out;
  for (size_t d = 0; d < task.domain.dimensions.size(); ++d) {
    absl::StrAppend(&out, d == 0 ? " at " : ", ",
                    task.domain.dimensions[d].name, " = ", point[d]);
  }
  return out;
}

std::string RangesText(const CheckedTask& task, const isl::set& points) {
  const auto rank = task.domain.dimensions.size();
  isl_ctx* context = isl_set_get_ctx(points.get());
  isl_set* box = isl_set_universe(isl_set_get_space(points.get()));
  std::string out;
  for (size_t d = 0; d < rank; ++d) {
    const int i = static_cast<int>(d);
    const int64_t first = Least(points, i).value_or(0);
    const int64_t last = Greatest(points, i).value_or(0);
    const auto u = static_cast<unsigned>(d);
    box = isl_set_lower_bound_val(box, isl_dim_set, u,
                                  isl_val_int_from_si(context, first));
    box = isl_set_upper_bound_val(box, isl_dim_set, u,
                                  isl_val_int_from_si(context, last));
    absl::StrAppend(&out, d == 0 ? "" : ", ", task.domain.dimensions[d].name,
                    " = ", first);
    if (SharedValue(points, i)) continue;
    absl::StrAppend(&out, ":", last);
    const int64_t step = Stride(points, i);
    if (step == 1) continue;
    absl::StrAppend(&out, ":", step);
    isl_aff* ahead = isl_aff_var_on_domain(
        isl_local_space_from_space(isl_set_get_space(points.get())),
        isl_dim_set, u);
    ahead = isl_aff_mod_val(
        isl_aff_add_constant_val(ahead, isl_val_int_from_si(context, -first)),
        isl_val_int_from_si(context, step));
    box = isl_set_intersect(
        box, isl_set_from_basic_set(isl_aff_zero_basic_set(ahead)));
  }
  const bool is_all = isl::manage(box).is_subset(points);
  return absl::StrCat(is_all ? " at " : " at some of ", out);
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> FirstOf(
    const isl::map& map, const CheckedTask& task) {
  std::vector<int64_t> point = FirstPoint(map.wrap());
  const auto split = point.begin() + std::ssize(task.domain.dimensions);
  std::vector<int64_t> label(split, point.end());
  point.erase(split, point.end());
  return {std::move(point), std::move(label)};
}

std::string LabelText(const CheckedProgram& program, const CheckedRef& ref,
                      const std::vector<int64_t>& point) {
  return absl::StrCat(
      program.arrays[ref.array].name,
      Apply(Instantiate(ref, program), ToIndex(point)).ToString());
}

}  // namespace dogged::dsl
