#include "dsl/nest/nest_code.h"

#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/ir/substitute.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/copy_loops.h"
#include "dsl/nest/nest_loops.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Steps of isl for what tiles store: without that, blocks are cleared.
constexpr uint64_t kStoredStepsMax = 50'000;

// Layout: where the elements of an array stand in a block.
struct Layout {
  int32_t block = -1;
  std::vector<int64_t> strides;  // 0: folded
  AffineExpr origin;             // of the tile: subtracted
};

// In place of code: its operands alone count.
CodeBlock ReduceCode(const std::vector<ElementType>& loads, ElementType store,
                     size_t rank) {
  CodeBlock out;
  out.index_count = std::max<int32_t>(1, static_cast<int32_t>(rank));
  for (const ElementType load : loads) out.loads.push_back({.element = load});
  CodeBuilder builder(out);
  const IrType type = IrTypeOf(store);
  const int32_t node =
      type == IrType::kInt64 ? builder.Integer(0) : builder.Real(0, type);
  out.stores = {{.element = store, .node = node}};
  return out;
}

class BodyMaker {
 public:
  BodyMaker(const Nest& nest, int32_t component)
      : nest_(nest),
        at_(component),
        component_(nest.components[component]),
        uses_(UsesOf(nest, component)),
        parcels_(ParcelsOf(nest, component)),
        read_(component_.groups.size()) {}
  absl::StatusOr<NestBody> Make(const std::vector<int64_t>& limits);

 private:
  int32_t AddBlock(NestBlock block) {
    body_.blocks.push_back(std::move(block));
    return static_cast<int32_t>(body_.blocks.size() - 1);
  }
  // The layout of `spans` of a group in block `block`, in the tile `tile`.
  Layout LayoutOf(const NestComponent& component, const NestGroup& group,
                  const std::vector<Span>& spans, const AffineMap& tile,
                  int32_t block) const;
  // Dimensions of a block, from the one whose elements lie side by side on. In
  // a buffer that is the one along which the innermost loop runs.
  std::vector<size_t> OrderOf(const NestComponent& component,
                              const NestGroup& group, int32_t block) const;
  NestElement ElementOf(const Layout& layout, const AffineMap& map) const;
  void PlaceGroups(const std::vector<int64_t>& limits);
  void AddStatements();
  absl::Status AddCopiesIn();
  absl::Status AddMain();
  // Steps around the points of a reduction: accumulators are cleared, and
  // those of other tiles joined; or they are finished.
  absl::Status BeginReduction();
  absl::Status EndReduction();
  absl::Status AddReduceStep(NestReduce::Step step, size_t accumulators,
                             std::optional<size_t> from, int32_t parent);
  const NestPoint& first_point() const {
    return nest_.points[component_.points.front()];
  }
  absl::Status AddPacks();
  // Copies elements, all within `box`, between two layouts, as a statement.
  absl::Status AddCopy(isl::set elements, std::vector<LoopRange> box,
                       ElementType element, Layout from, Layout to,
                       int32_t parent);
  // The elements of a group that tile `tile` of a component makes, within
  // `spans` of it, over this tile's indices as parameters.
  isl::set Made(int32_t component, int32_t group,
                const std::vector<Span>& spans, const AffineMap& tile) const;
  // The part of them that is in a parcel.
  isl::set Given(const NestParcel& parcel, const std::vector<Span>& spans,
                 const AffineMap& tile) const;
  // The elements of a group that points of this tile read, if it is folded;
  // else all that there may be.
  const isl::set& Read(int32_t group);
  isl::set FindRead(int32_t group) const;
  isl::set Box(const NestComponent& component, const NestGroup& group,
               const std::vector<Span>& spans,
               const std::vector<std::string>& tile) const;
  int32_t AddNode(NestNode node, int32_t parent);
  std::string Parameters() const {
    return absl::StrCat(
        "[", absl::StrJoin(IslNames("T", component_.rank), ", "), "] -> ");
  }
  isl::set Tiles() const;
  // Adds the bounds of what tiles store of a parcel to its block, if they store
  // all within them.
  void BoundStored(const NestParcel& parcel, NestBlock& block) const;

  const Nest& nest_;
  int32_t at_;
  const NestComponent& component_;
  std::vector<NestUse> uses_;
  std::vector<int32_t> parcels_;
  NestBody body_;
  std::vector<Layout> groups_;                 // by group
  std::vector<std::optional<isl::set>> read_;  // likewise, once asked for
};

std::vector<int64_t> ExtentsOf(const NestGroup& group,
                               const NestParcel& parcel) {
  return ExtentsOf({.is_folded = parcel.is_flat, .width = group.width},
                   parcel.spans);
}

AffineMap OwnTile(int rank) {
  AffineMap out;
  for (int k = 0; k < rank; ++k) out.push_back(AffineExpr::Index(k));
  return out;
}

std::vector<std::string> TextsOf(const AffineMap& tile) {
  std::vector<std::string> out;
  for (const AffineExpr& expr : tile) out.push_back(IslText(expr, "T"));
  return out;
}

AffineExpr OriginOf(const NestComponent& component, const NestGroup& group,
                    const std::vector<Span>& spans, const AffineMap& tile,
                    size_t d) {
  AffineExpr out = AffineExpr::Constant(spans[d].lower);
  for (size_t m = 0; m < group.factors[d].size(); ++m) {
    out = out + tile[m] * (group.factors[d][m] * component.sizes[m]);
  }
  return out;
}

std::vector<size_t> BodyMaker::OrderOf(const NestComponent& component,
                                       const NestGroup& group,
                                       int32_t block) const {
  std::vector<size_t> out;
  for (size_t d = group.spans.size(); d-- > 0;) out.push_back(d);
  if (body_.blocks[block].kind != NestBlock::Kind::kBuffer ||
      component.inner < 0) {
    return out;
  }
  const auto put_first = [&out](auto is_it) {
    const auto it = std::find_if(out.begin(), out.end(), is_it);
    if (it != out.end()) std::rotate(out.begin(), it, it + 1);
  };
  if (const auto wave = WaveOf(component, group)) {
    put_first([&wave](size_t d) { return d == wave->wave; });
  }
  put_first([&](size_t d) { return group.factors[d][component.inner] != 0; });
  return out;
}

Layout BodyMaker::LayoutOf(const NestComponent& component,
                           const NestGroup& group,
                           const std::vector<Span>& spans,
                           const AffineMap& tile, int32_t block) const {
  Layout out{.block = block};
  const std::vector<int64_t>& extents = body_.blocks[block].extents;
  out.strides.assign(spans.size(), 0);
  int64_t stride = group.width;
  for (const size_t d : OrderOf(component, group, block)) {
    // A plane of one element has no stride: it may be folded.
    if (extents[d] > 1 || spans[d].Count() == 1) out.strides[d] = stride;
    stride *= extents[d];
  }
  if (body_.blocks[block].kind == NestBlock::Kind::kBuffer) {
    const auto wave = WaveOf(component, group);
    if (wave) out.strides[wave->inner] += out.strides[wave->wave];
  }
  for (size_t d = 0; d < spans.size(); ++d) {
    out.origin = out.origin +
                 OriginOf(component, group, spans, tile, d) * out.strides[d];
  }
  return out;
}

NestElement BodyMaker::ElementOf(const Layout& layout,
                                 const AffineMap& map) const {
  NestElement out{.block = layout.block};
  for (size_t d = 0; d < map.size(); ++d) {
    out.by_point = out.by_point + map[d] * layout.strides[d];
  }
  out.by_tile = layout.origin * -1;
  out.by_point.constant += std::exchange(out.by_tile.constant, 0);
  return out;
}

int32_t BodyMaker::AddNode(NestNode node, int32_t parent) {
  body_.nodes.push_back(std::move(node));
  const auto out = static_cast<int32_t>(body_.nodes.size() - 1);
  if (parent >= 0) {
    body_.nodes[parent].children.push_back(out);
  }
  return out;
}

isl::set BodyMaker::Tiles() const {
  // From dimensions to parameters.
  isl_set* out = component_.tiles->copy();
  const auto rank = static_cast<unsigned>(component_.rank);
  for (unsigned k = 0; k < rank; ++k) {
    out =
        isl_set_set_dim_name(out, isl_dim_set, k, absl::StrCat("T", k).c_str());
  }
  out = isl_set_move_dims(out, isl_dim_param, 0, isl_dim_set, 0, rank);
  return isl::manage(isl_set_params(out));
}

void BodyMaker::BoundStored(const NestParcel& parcel, NestBlock& block) const {
  const NestGroup& group = component_.groups[parcel.group];
  if (parcel.plane || group.width > 1) return;
  const AffineMap own = OwnTile(component_.rank);
  const OperationBudget budget(nest_.context, kStoredStepsMax);
  try {
    const isl::set made =
        Given(parcel, parcel.spans, own).intersect_params(Tiles());
    const isl::set all = isl::manage(isl_set_project_out(
        made.copy(), isl_dim_param, 0, static_cast<unsigned>(component_.rank)));
    AffineMap first;
    std::vector<Span> stored;
    for (size_t d = 0; d < parcel.spans.size(); ++d) {
      const auto lower = Least(all, static_cast<int>(d));
      const auto upper = Greatest(all, static_cast<int>(d));
      if (!lower || !upper) return;
      first.push_back(OriginOf(component_, group, parcel.spans, own, d));
      stored.push_back({.lower = *lower, .upper = *upper});
    }
    // Without factors the same bounds in every tile.
    const NestGroup bounds{
        .array = group.array,
        .factors = std::vector<std::vector<int64_t>>(stored.size()),
        .spans = stored};
    const std::vector<std::string> tile = TextsOf(own);
    const isl::set within =
        Box(component_, group, parcel.spans, tile)
            .intersect(Box(component_, bounds, stored, tile))
            .intersect_params(Tiles());
    if (!within.is_subset(made)) return;
    block.first.assign(first.begin(), first.end());
    for (const Span& span : stored) {
      block.stored_lower.push_back(span.lower);
      block.stored_upper.push_back(span.upper);
    }
  } catch (const isl::exception&) {
    // All of it is cleared, then.
  }
}

// A use with the only values of a group stands for its buffer, and so does a
// created block with all of them.
void BodyMaker::PlaceGroups(const std::vector<int64_t>& limits) {
  std::vector<int32_t> use_blocks;
  for (size_t u = 0; u < uses_.size(); ++u) {
    const NestParcel& parcel = nest_.parcels[uses_[u].parcel];
    const NestGroup& group =
        nest_.components[parcel.component].groups[parcel.group];
    use_blocks.push_back(AddBlock({.kind = NestBlock::Kind::kUse,
                                   .position = static_cast<int32_t>(u),
                                   .element = group.element,
                                   .extents = ExtentsOf(group, parcel)}));
  }
  const AffineMap own = OwnTile(component_.rank);
  for (size_t p = 0; p < parcels_.size(); ++p) {
    const NestParcel& parcel = nest_.parcels[parcels_[p]];
    const NestGroup& group = component_.groups[parcel.group];
    NestBlock block{.kind = NestBlock::Kind::kCreate,
                    .position = static_cast<int32_t>(p),
                    .element = group.element,
                    .extents = ExtentsOf(group, parcel)};
    if (component_.result >= 0) {
      block.limits = limits;
      for (size_t d = 0; d < limits.size(); ++d) {
        block.first.push_back(AffineExpr::Index(static_cast<int>(d)) *
                              component_.sizes[d]);
      }
    } else {
      BoundStored(parcel, block);
    }
    AddBlock(std::move(block));
  }
  for (size_t g = 0; g < component_.groups.size(); ++g) {
    const NestGroup& group = component_.groups[g];
    const auto number = static_cast<int32_t>(g);
    if (group.is_input) {
      NestBlock block{.kind = NestBlock::Kind::kInput,
                      .position = group.array,
                      .element = group.element,
                      .extents = ExtentsOf(group, group.spans)};
      for (size_t d = 0; d < group.spans.size(); ++d) {
        block.first.push_back(OriginOf(component_, group, group.spans, own, d));
      }
      const int32_t added = AddBlock(std::move(block));
      groups_.push_back(LayoutOf(component_, group, group.spans, own, added));
      continue;
    }
    // The created block that has all of it.
    int32_t created = -1;
    const bool may_be = group.is_made && !WaveOf(component_, group);
    for (size_t p = 0; p < parcels_.size() && may_be; ++p) {
      const NestParcel& parcel = nest_.parcels[parcels_[p]];
      if (parcel.group == number && !parcel.plane &&
          ExtentsOf(group, parcel) == ExtentsOf(group, group.spans) &&
          ExtentsOf(group, group.spans) ==
              ExtentsOf({.width = group.width}, group.spans)) {
        created = static_cast<int32_t>(use_blocks.size() + p);
      }
    }
    if (created >= 0) {
      groups_.push_back(LayoutOf(component_, group, group.spans, own, created));
      continue;
    }
    // The use that has all of it.
    std::optional<size_t> only;
    bool has_many = group.is_made;
    for (const NestDelivery& delivery : nest_.deliveries) {
      if (delivery.consumer != at_ || delivery.group != number) continue;
      for (size_t u = 0; u < uses_.size(); ++u) {
        if (uses_[u].parcel != delivery.parcel ||
            uses_[u].source != delivery.source) {
          continue;
        }
        has_many |= only.has_value() && *only != u;
        only = u;
      }
    }
    for (const NestMirror& mirror : nest_.mirrors) {
      has_many |=
          mirror.group == number && nest_.points[mirror.point].component == at_;
    }
    if (only && !has_many) {
      const NestParcel& parcel = nest_.parcels[uses_[*only].parcel];
      const NestComponent& from = nest_.components[parcel.component];
      groups_.push_back(LayoutOf(from, from.groups[parcel.group], parcel.spans,
                                 uses_[*only].source, use_blocks[*only]));
      continue;
    }
    const int32_t added =
        AddBlock({.kind = NestBlock::Kind::kBuffer,
                  .element = group.element,
                  .extents = BufferExtents(component_, group)});
    groups_.push_back(LayoutOf(component_, group, group.spans, own, added));
  }
}

void BodyMaker::AddStatements() {
  for (const int32_t p : component_.points) {
    const NestPoint& point = nest_.points[p];
    NestStatement statement{.code = point.code, .stores = {}, .loads = {}};
    if (point.reduce) {
      // A root reads its accumulators, which stand behind what it makes.
      const bool is_root = point.reduce->step == NestReduce::Step::kRound;
      const auto made = static_cast<size_t>(point.creates.front().group);
      AffineMap own = OwnTile(point.dims);
      if (is_root) statement.loads = {ElementOf(groups_[made + 1], own)};
      const ElementType load = is_root ? component_.groups[made + 1].element
                                       : point.code.loads.front().element;
      statement.code = ReduceCode({load}, point.code.stores.front().element,
                                  static_cast<size_t>(point.dims));
      statement.reduce = point.reduce;
    }
    for (const NestTouch& touch : point.creates) {
      statement.stores.push_back(ElementOf(groups_[touch.group], touch.map));
    }
    for (const auto* touches : {&point.uses, &point.inputs}) {
      for (const NestTouch& touch : *touches) {
        statement.loads.push_back(ElementOf(groups_[touch.group], touch.map));
      }
    }
    body_.statements.push_back(std::move(statement));
  }
}

isl::set BodyMaker::Box(const NestComponent& component, const NestGroup& group,
                        const std::vector<Span>& spans,
                        const std::vector<std::string>& tile) const {
  std::string conditions = "true";
  for (size_t d = 0; d < spans.size(); ++d) {
    const std::string origin =
        OriginText(group.factors[d], component.sizes, tile);
    absl::StrAppend(&conditions, " and ", origin, " + ", spans[d].lower,
                    " <= x", d, " and x", d, " <= ", origin, " + ",
                    spans[d].upper);
  }
  return isl::set(nest_.context,
                  absl::StrCat(Parameters(), "{ ",
                               IslTuple(absl::StrCat("A", group.array),
                                        static_cast<int>(spans.size()), "x"),
                               " : ", conditions, " }"));
}

const isl::set& BodyMaker::Read(int32_t g) {
  std::optional<isl::set>& known = read_[g];
  if (!known) known = FindRead(g);
  return *known;
}

isl::set BodyMaker::FindRead(int32_t g) const {
  const NestGroup& group = component_.groups[g];
  const std::vector<std::string> own = IslNames("T", component_.rank);
  if (std::find(group.is_folded.begin(), group.is_folded.end(), true) ==
      group.is_folded.end()) {
    return Box(component_, group, group.spans, own);
  }
  std::optional<isl::set> out;
  for (const int32_t p : component_.points) {
    const NestPoint& point = nest_.points[p];
    const isl::set here = point.domain.intersect(isl::set(
        nest_.context,
        absl::StrCat(Parameters(), "{ ", IslTuple(point.tuple, point.dims, "i"),
                     " : ", TileText(point, component_, own), " }")));
    for (const NestTouch& touch : point.uses) {
      if (touch.group != g) continue;
      const isl::set read = here.apply(touch.relation);
      out = out ? out->unite(read) : read;
    }
  }
  return *out;
}

isl::set BodyMaker::Made(int32_t c, int32_t g, const std::vector<Span>& spans,
                         const AffineMap& tile) const {
  const NestComponent& component = nest_.components[c];
  const NestGroup& group = component.groups[g];
  const std::vector<std::string> texts = TextsOf(tile);
  isl::set out;
  for (const int32_t p : component.points) {
    const NestPoint& point = nest_.points[p];
    const isl::set here(
        nest_.context,
        absl::StrCat(Parameters(), "{ ", IslTuple(point.tuple, point.dims, "i"),
                     " : ", TileText(point, component, texts), " }"));
    for (const NestTouch& touch : point.creates) {
      if (touch.group != g) continue;
      const isl::set made = point.domain.intersect(here).apply(touch.relation);
      out = out.is_null() ? made : out.unite(made);
    }
  }
  return out.intersect(Box(component, group, spans, texts));
}

isl::set BodyMaker::Given(const NestParcel& parcel,
                          const std::vector<Span>& spans,
                          const AffineMap& tile) const {
  const isl::set made = Made(parcel.component, parcel.group, spans, tile);
  return parcel.plane ? made.intersect(*parcel.plane) : made;
}

std::vector<LoopRange> RangesOf(const NestComponent& component,
                                const NestGroup& group,
                                const std::vector<Span>& spans,
                                const AffineMap& tile) {
  std::vector<LoopRange> out;
  for (size_t d = 0; d < spans.size(); ++d) {
    const AffineExpr first = OriginOf(component, group, spans, tile, d);
    out.push_back({.first = first,
                   .last = first + AffineExpr::Constant(spans[d].Count() - 1)});
  }
  return out;
}

// The index along which elements are copied: the longest one of those along
// which they lie side by side in both blocks, else in the one that is written,
// else of all.
size_t RowIndex(const std::vector<LoopRange>& box, const Layout& from,
                const Layout& to) {
  std::pair<int, int64_t> best = {-1, 0};
  size_t out = box.size() - 1;
  for (size_t d = box.size(); d-- > 0;) {
    const AffineExpr length = box[d].last - box[d].first;
    if (!length.IsConstant() || length.constant == 0) continue;
    const bool is_written = to.strides[d] == 1;
    const int beside = is_written ? (from.strides[d] == 1 ? 2 : 1) : 0;
    const std::pair<int, int64_t> score = {beside, length.constant};
    if (score > best) {
      best = score;
      out = d;
    }
  }
  return out;
}

template <typename T>
void MoveLast(size_t from, std::vector<T>& list) {
  const auto at = list.begin() + static_cast<ptrdiff_t>(from);
  std::rotate(at, at + 1, list.end());
}

absl::Status BodyMaker::AddCopy(isl::set elements, std::vector<LoopRange> box,
                                ElementType element, Layout from, Layout to,
                                int32_t parent) {
  if (elements.is_empty()) return absl::OkStatus();
  const auto rank =
      static_cast<size_t>(isl_set_dim(elements.get(), isl_dim_set));
  const size_t row = rank == 0 ? 0 : RowIndex(box, from, to);
  if (row + 1 < rank) {
    elements = WithLast(elements, static_cast<int>(row));
    MoveLast(row, box);
    MoveLast(row, from.strides);
    MoveLast(row, to.strides);
  }
  AffineMap own = OwnTile(static_cast<int>(rank));
  const std::string tuple = StatementTuple(body_.statements.size());
  body_.statements.push_back({.code = CopyCode(element, static_cast<int>(rank)),
                              .stores = {ElementOf(to, own)},
                              .loads = {ElementOf(from, own)}});
  const isl::set coalesced = Coalesced(elements);
  if (AddCopyLoops(coalesced, box,
                   static_cast<int32_t>(body_.statements.size() - 1), parent,
                   body_)) {
    return absl::OkStatus();
  }
  const isl::set renamed =
      isl::manage(isl_set_set_tuple_name(coalesced.copy(), tuple.c_str()));
  const isl::map order(
      nest_.context,
      absl::StrCat("{ ", IslTuple(tuple, static_cast<int>(rank), "x"), " -> ",
                   IslTuple("", static_cast<int>(rank), "x"), " }"));
  return AddLoops(isl::union_map(order.intersect_domain(renamed)), Tiles(),
                  static_cast<int>(rank) - 1, parent, body_);
}

absl::Status BodyMaker::AddCopiesIn() {
  const std::vector<std::string> own = IslNames("T", component_.rank);
  for (const NestDelivery& delivery : nest_.deliveries) {
    if (delivery.consumer != at_) continue;
    const NestGroup& group = component_.groups[delivery.group];
    const Layout& to = groups_[delivery.group];
    const auto use = std::find_if(
        uses_.begin(), uses_.end(), [&delivery](const NestUse& one) {
          return one.parcel == delivery.parcel && one.source == delivery.source;
        });
    const auto block = static_cast<int32_t>(use - uses_.begin());
    if (to.block == block) continue;
    const NestParcel& parcel = nest_.parcels[delivery.parcel];
    const NestComponent& from = nest_.components[parcel.component];
    const isl::set elements =
        Given(parcel, delivery.spans, delivery.source)
            .intersect(Box(component_, group, group.spans, own))
            .intersect(Read(delivery.group));
    const int32_t present =
        AddNode({.kind = NestNode::Kind::kPresent, .number = block}, 0);
    const int32_t inner = AddNode({}, present);
    DOGGED_RETURN_IF_ERROR(
        AddCopy(elements,
                RangesOf(from, from.groups[parcel.group], delivery.spans,
                         delivery.source),
                group.element,
                LayoutOf(from, from.groups[parcel.group], parcel.spans,
                         delivery.source, block),
                to, inner));
  }
  return absl::OkStatus();
}

absl::Status BodyMaker::AddMain() {
  const std::vector<std::string> own = IslNames("T", component_.rank);
  isl_union_map* all = nullptr;
  const auto add = [&](const NestPoint& point, size_t statement,
                       const isl::set& points, int position) {
    // Behind the order there is the position among what has the same place in
    // it, which fold_groups.cc knows, too: statements one after another, each
    // followed by its copies.
    isl_map* order = point.order->intersect_domain(points).release();
    const auto rank = static_cast<unsigned>(component_.order_rank);
    order = isl_map_add_dims(order, isl_dim_out, 1);
    order = isl_map_fix_si(order, isl_dim_out, rank, position);
    order = isl_map_set_tuple_name(order, isl_dim_in,
                                   StatementTuple(statement).c_str());
    isl_union_map* one = isl_union_map_from_map(order);
    all = all == nullptr ? one : isl_union_map_union(all, one);
  };
  for (size_t s = 0; s < component_.points.size(); ++s) {
    const int32_t p = component_.points[s];
    const NestPoint& point = nest_.points[p];
    const isl::set here(
        nest_.context,
        absl::StrCat(Parameters(), "{ ", IslTuple(point.tuple, point.dims, "i"),
                     " : ", TileText(point, component_, own), " }"));
    const isl::set points = point.domain.intersect(here);
    int position = static_cast<int>(s * (nest_.mirrors.size() + 1));
    add(point, s, points, position);
    for (const NestMirror& mirror : nest_.mirrors) {
      if (mirror.point != p) continue;
      const NestTouch& touch = point.creates[mirror.create];
      const NestGroup& group = component_.groups[mirror.group];
      isl::set held = Box(component_, group, group.spans, own);
      if (group.plane) held = held.intersect(*group.plane);
      const isl::set inside = touch.relation.intersect_range(held).domain();
      add(point, body_.statements.size(), points.intersect(inside), ++position);
      body_.statements.push_back(
          {.code = CopyCode(group.element, point.dims),
           .stores = {ElementOf(groups_[mirror.group], touch.map)},
           .loads = {ElementOf(groups_[touch.group], touch.map)}});
    }
  }
  return AddLoops(isl::manage(all), Tiles(), component_.parallel, 0, body_);
}

absl::Status BodyMaker::AddReduceStep(NestReduce::Step step,
                                      size_t accumulators,
                                      std::optional<size_t> from,
                                      int32_t parent) {
  const NestGroup& group = component_.groups[accumulators];
  // Accumulators that come from elsewhere may be fewer.
  const NestGroup& over = component_.groups[from.value_or(accumulators)];
  const size_t rank = group.spans.size();
  const AffineMap own = OwnTile(static_cast<int>(rank));
  const std::string tuple = StatementTuple(body_.statements.size());
  NestStatement statement{.code = ReduceCode({}, group.element, rank),
                          .stores = {ElementOf(groups_[accumulators], own)},
                          .loads = {}};
  if (from) {
    statement.code = ReduceCode({group.element}, group.element, rank);
    statement.loads = {ElementOf(groups_[*from], own)};
  }
  statement.reduce = *first_point().reduce;
  statement.reduce->step = step;
  body_.statements.push_back(std::move(statement));
  const isl::set elements = isl::manage(isl_set_set_tuple_name(
      Box(component_, over, over.spans, IslNames("T", component_.rank))
          .release(),
      tuple.c_str()));
  const isl::map order(
      nest_.context,
      absl::StrCat("{ ", IslTuple(tuple, static_cast<int>(rank), "x"), " -> ",
                   IslTuple("", static_cast<int>(rank), "x"), " }"));
  return AddLoops(isl::union_map(order.intersect_domain(elements)), Tiles(), -1,
                  parent, body_);
}

absl::Status BodyMaker::BeginReduction() {
  if (!first_point().reduce) return absl::OkStatus();
  auto made = static_cast<size_t>(first_point().creates.front().group);
  const bool is_root = first_point().reduce->step == NestReduce::Step::kRound;
  if (is_root) ++made;
  DOGGED_RETURN_IF_ERROR(
      AddReduceStep(NestReduce::Step::kClear, made, std::nullopt, 0));
  for (size_t g = made + 1; is_root && g < groups_.size(); ++g) {
    const int32_t present = AddNode(
        {.kind = NestNode::Kind::kPresent, .number = groups_[g].block}, 0);
    const int32_t inner = AddNode({}, present);
    DOGGED_RETURN_IF_ERROR(
        AddReduceStep(NestReduce::Step::kJoin, made, g, inner));
  }
  return absl::OkStatus();
}

absl::Status BodyMaker::EndReduction() {
  if (!first_point().reduce ||
      first_point().reduce->step != NestReduce::Step::kAdd) {
    return absl::OkStatus();
  }
  return AddReduceStep(NestReduce::Step::kFinish,
                       static_cast<size_t>(first_point().creates.front().group),
                       std::nullopt, 0);
}

absl::Status BodyMaker::AddPacks() {
  const AffineMap own = OwnTile(component_.rank);
  for (size_t p = 0; p < parcels_.size(); ++p) {
    const NestParcel& parcel = nest_.parcels[parcels_[p]];
    const NestGroup& group = component_.groups[parcel.group];
    const Layout& from = groups_[parcel.group];
    const auto block = static_cast<int32_t>(uses_.size() + p);
    if (from.block == block) continue;
    DOGGED_RETURN_IF_ERROR(AddCopy(
        Given(parcel, parcel.spans, own),
        RangesOf(component_, group, parcel.spans, own), group.element, from,
        LayoutOf(component_, group, parcel.spans, own, block), 0));
  }
  return absl::OkStatus();
}

absl::StatusOr<NestBody> BodyMaker::Make(const std::vector<int64_t>& limits) {
  body_.tile_rank = component_.rank;
  AddNode({}, -1);
  PlaceGroups(limits);
  AddStatements();
  DOGGED_RETURN_IF_ERROR(AddCopiesIn());
  DOGGED_RETURN_IF_ERROR(BeginReduction());
  DOGGED_RETURN_IF_ERROR(AddMain());
  DOGGED_RETURN_IF_ERROR(EndReduction());
  DOGGED_RETURN_IF_ERROR(AddPacks());
  int64_t elements = 0;
  for (const NestBlock& block : body_.blocks) {
    elements += block.Count() < 0 ? kNestElementsMax + 1 : block.Count();
  }
  if (elements > kNestElementsMax) {
    return absl::UnimplementedError(absl::StrCat(
        "a tile of task ", first_point().name, " would hold more than ",
        kNestElementsMax, " values with all that it reads and gives"));
  }
  return std::move(body_);
}

}  // namespace

std::vector<NestUse> UsesOf(const Nest& nest, int32_t component) {
  std::vector<NestUse> out;
  for (const NestDelivery& delivery : nest.deliveries) {
    if (delivery.consumer != component) continue;
    const auto known =
        std::find_if(out.begin(), out.end(), [&delivery](const NestUse& use) {
          return use.parcel == delivery.parcel && use.source == delivery.source;
        });
    if (known == out.end()) {
      out.push_back({.parcel = delivery.parcel,
                     .source = delivery.source,
                     .tiles = delivery.tiles});
    } else {
      known->tiles = known->tiles.unite(delivery.tiles);
    }
  }
  return out;
}

std::vector<int32_t> ParcelsOf(const Nest& nest, int32_t component) {
  std::vector<int32_t> out;
  for (size_t p = 0; p < nest.parcels.size(); ++p) {
    if (nest.parcels[p].component == component) {
      out.push_back(static_cast<int32_t>(p));
    }
  }
  return out;
}

absl::StatusOr<NestBody> MakeNestBody(const Nest& nest, int32_t component,
                                      const std::vector<int64_t>& limits) {
  return BodyMaker(nest, component).Make(limits);
}

}  // namespace dogged::dsl
