#include "dsl/nest/fold_groups.h"

#include <isl/map.h>
#include <isl/union_map.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/nest/element_plane.h"

namespace dogged::dsl {
namespace {

// Steps of isl for a group: about a tenth of a second.
constexpr uint64_t kGroupOperationsMax = 2'000'000;

// One group of a component; all relations are of points of that.
class GroupFolder {
 public:
  GroupFolder(const Nest& nest, int32_t component, int32_t group);
  // Whether one plane is enough along the dimensions that are `folded`.
  bool IsEnough(const std::vector<bool>& folded) const;

 private:
  isl::union_map Empty() const { return isl::union_map(nest_.context, "{ }"); }
  void AddPoint(int32_t p, int position);
  isl::union_set Packed() const;

  const Nest& nest_;
  const NestComponent& component_;
  int32_t at_;
  int32_t group_;
  isl::union_map tiles_ = Empty();   // points to their tiles
  isl::union_map writes_ = Empty();  // points to elements
  isl::union_map reads_ = Empty();
  isl::union_map order_ = Empty();
  isl::union_map before_ = Empty();  // points to later points of their tile
};

GroupFolder::GroupFolder(const Nest& nest, int32_t component, int32_t group)
    : nest_(nest),
      component_(nest.components[component]),
      at_(component),
      group_(group) {
  int position = 0;
  for (const int32_t p : component_.points) AddPoint(p, position++);
  const isl::map later = isl::manage(isl_map_lex_lt(
      isl_space_set_alloc(isl::ctx(nest_.context).get(), 0,
                          static_cast<unsigned>(component_.order_rank + 1))));
  const isl::union_map same_tile = tiles_.apply_range(tiles_.reverse());
  before_ = order_.apply_range(isl::union_map(later))
                .apply_range(order_.reverse())
                .intersect(same_tile);
}

void GroupFolder::AddPoint(int32_t p, int position) {
  const NestPoint& point = nest_.points[p];
  const std::vector<std::string> tile = IslNames("T", component_.rank);
  const isl::map tiles(
      nest_.context,
      absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"), " -> ",
                   IslTuple("", component_.rank, "T"), " : ",
                   TileText(point, component_, tile), " }"));
  tiles_ = tiles_.unite(isl::union_map(tiles.intersect_domain(point.domain)));
  // Points at the same place of the order run as their statements stand.
  const auto rank = static_cast<unsigned>(component_.order_rank);
  isl_map* order = point.order->intersect_domain(point.domain).release();
  order = isl_map_add_dims(order, isl_dim_out, 1);
  order = isl_map_fix_si(order, isl_dim_out, rank, position);
  order_ = order_.unite(isl::union_map(isl::manage(order)));
  for (const NestTouch& touch : point.creates) {
    if (touch.group == group_) {
      writes_ = writes_.unite(isl::union_map(touch.relation));
    }
  }
  for (const NestMirror& mirror : nest_.mirrors) {
    if (mirror.point != p || mirror.group != group_) continue;
    writes_ =
        writes_.unite(isl::union_map(point.creates[mirror.create].relation));
  }
  for (const NestTouch& touch : point.uses) {
    if (touch.group == group_) {
      reads_ = reads_.unite(isl::union_map(touch.relation));
    }
  }
}

// The points whose values are packed.
isl::union_set GroupFolder::Packed() const {
  const NestGroup& group = component_.groups[group_];
  const std::vector<std::string> tile = IslNames("T", component_.rank);
  isl::union_set out(nest_.context, "{ }");
  for (const NestParcel& parcel : nest_.parcels) {
    if (parcel.component != at_ || parcel.group != group_) continue;
    for (const int32_t p : component_.points) {
      const NestPoint& point = nest_.points[p];
      for (const NestTouch& touch : point.creates) {
        if (touch.group != group_) continue;
        std::string conditions = TileText(point, component_, tile);
        for (size_t d = 0; d < parcel.spans.size(); ++d) {
          const std::string origin =
              OriginText(group.factors[d], component_.sizes, tile);
          const std::string element = IslText(touch.map[d], "i");
          absl::StrAppend(&conditions, " and ", origin, " + ",
                          parcel.spans[d].lower, " <= ", element, " and ",
                          element, " <= ", origin, " + ",
                          parcel.spans[d].upper);
        }
        const std::string exists =
            tile.empty()
                ? ""
                : absl::StrCat("exists ", absl::StrJoin(tile, ", "), " : ");
        const isl::set packed(
            nest_.context,
            absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"), " : ",
                         exists, conditions, " }"));
        isl::map needed = touch.relation;
        if (parcel.plane) needed = needed.intersect_range(*parcel.plane);
        out = out.unite(isl::union_set(packed.intersect(needed.domain())));
      }
    }
  }
  return out;
}

bool GroupFolder::IsEnough(const std::vector<bool>& folded) const {
  const NestGroup& group = component_.groups[group_];
  std::vector<std::string> same = {"true"};
  std::vector<std::string> other;
  for (size_t d = 0; d < folded.size(); ++d) {
    if (folded[d]) {
      other.push_back(absl::StrCat("x", d, " != y", d));
    } else {
      same.push_back(absl::StrCat("x", d, " = y", d));
    }
  }
  const auto rank = static_cast<int>(folded.size());
  const std::string name = absl::StrCat("A", group.array);
  const isl::union_map same_cell(isl::map(
      nest_.context, absl::StrCat("{ ", IslTuple(name, rank, "x"), " -> ",
                                  IslTuple(name, rank, "y"), " : ",
                                  absl::StrJoin(same, " and "), " and (",
                                  absl::StrJoin(other, " or "), ") }")));
  // A point to the later points of its tile that overwrite what it makes.
  const isl::union_map overwritten = writes_.apply_range(same_cell)
                                         .apply_range(writes_.reverse())
                                         .intersect(before_);
  if (!overwritten.intersect_domain(Packed()).is_empty()) return false;
  const isl::union_map same_tile = tiles_.apply_range(tiles_.reverse());
  const isl::union_map inside =
      writes_.apply_range(reads_.reverse()).intersect(same_tile);
  if (!overwritten.reverse()
           .apply_range(inside)
           .intersect(before_)
           .is_empty()) {
    return false;
  }
  // What comes from other tiles is there from the start.
  const isl::union_map outside =
      reads_.subtract(inside.reverse().apply_range(writes_));
  if (!writes_.apply_range(same_cell)
           .apply_range(outside.reverse())
           .intersect(before_)
           .is_empty()) {
    return false;
  }
  const isl::union_map taken = tiles_.reverse().apply_range(outside);
  return taken.reverse().apply_range(taken).intersect(same_cell).is_empty();
}

// An array that is only read takes no place for indices that the others tell.
void FlattenGroup(Nest& nest, int32_t c, int32_t g) {
  const NestComponent& component = nest.components[c];
  std::optional<isl::set> read;
  for (const int32_t p : component.points) {
    for (const NestTouch& touch : nest.points[p].uses) {
      if (touch.group != g) continue;
      const isl::set own = touch.relation.range();
      read = read ? read->unite(own) : own;
    }
  }
  NestGroup& group = nest.components[c].groups[g];
  if (!read || group.width > 1) return;
  group.plane = PlaneOf(*read);
  group.is_folded = FlatDimensions(group.plane, group.spans);
}

void FoldGroup(Nest& nest, int32_t component, int32_t g) {
  NestGroup& group = nest.components[component].groups[g];
  const GroupFolder folder(nest, component, g);
  std::vector<bool> folded(group.spans.size(), false);
  for (size_t d = folded.size(); d-- > 0;) {
    if (group.spans[d].Count() < 2) continue;
    folded[d] = true;
    folded[d] = folder.IsEnough(folded);
  }
  group.is_folded = std::move(folded);
}

}  // namespace

void FoldGroups(int32_t c, Nest& nest) {
  NestComponent& component = nest.components[c];
  if (component.result >= 0 ||
      nest.points[component.points.front()].reduce.has_value()) {
    return;
  }
  component.parallel = component.parallel_member;
  if (nest.is_small) return;
  for (size_t g = 0; g < component.groups.size(); ++g) {
    NestGroup& group = component.groups[g];
    const auto number = static_cast<int32_t>(g);
    if (!group.is_made && !group.is_input) FlattenGroup(nest, c, number);
    if (!group.is_made) continue;
    if (group.is_folded.empty()) {
      const OperationBudget budget(nest.context, kGroupOperationsMax);
      try {
        FoldGroup(nest, c, number);
      } catch (const isl::exception&) {
        group.is_folded.clear();
      }
    }
    // Points of a parallel loop must not meet in an element.
    for (size_t d = 0; d < group.is_folded.size(); ++d) {
      for (const int32_t k : {component.inner, component.wave}) {
        if (k >= 0 && group.is_folded[d] && group.factors[d][k] != 0) {
          component.parallel = -1;
        }
      }
    }
  }
}

}  // namespace dogged::dsl
