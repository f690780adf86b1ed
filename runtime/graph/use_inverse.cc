#include "runtime/graph/use_inverse.h"

#include <algorithm>

namespace dogged {
namespace {

// Which entries of a label are told by the place alone, and which are not.
struct Entries {
  std::vector<int> told;
  std::vector<int> open;
};

Entries EntriesOf(const Use& use) {
  Entries out;
  for (size_t i = 0; i < use.map.size(); ++i) {
    AffineExpr rest = use.map[i];
    for (const int32_t d : use.gather->dims) rest.coefficients[d] = 0;
    (rest.IsConstant() ? out.told : out.open).push_back(static_cast<int>(i));
  }
  return out;
}

// What the affine map of the rest of a task is: open entries, then the place.
AffineMap OpenMap(const Use& use, const std::vector<int>& open) {
  AffineMap out;
  for (const int i : open) out.push_back(use.map[i]);
  for (const int32_t d : use.gather->dims) out.push_back(AffineExpr::Index(d));
  return out;
}

// Of each entry of the label the table's value, 0 if it has none. False if the
// place is no task's.
bool ValuesAt(const Gather& gather, int64_t place, IndexVector& out) {
  for (const Gather::Table& table : gather.tables) {
    const int64_t value = table.values[place];
    if (value == Gather::kNone) return false;
    out[table.position] = value;
  }
  return true;
}

IndexVector Zeros(int size) {
  IndexVector out;
  for (int i = 0; i < size; ++i) out.push_back(0);
  return out;
}

}  // namespace

UseInverse::UseInverse(const Use& use, const Domain& domain) : use_(&use) {
  if (use.gather == nullptr) {
    inverse_ = InverseMap(use.map, domain, &use.guard);
    is_injective_ = inverse_.IsInjective();
    return;
  }
  const Gather& gather = *use.gather;
  Entries entries = EntriesOf(use);
  told_ = std::move(entries.told);
  open_ = std::move(entries.open);
  inverse_ = InverseMap(OpenMap(use, open_), domain, &use.guard);
  const int64_t count = gather.PlaceCount();
  const auto rank = static_cast<int>(use.map.size());
  // Places by what they tell, in order of the places.
  std::vector<std::pair<IndexVector, int32_t>> found;
  IndexVector task = Zeros(domain.size());
  for (int64_t place = 0; place < count; ++place) {
    IndexVector values = Zeros(rank);
    if (!ValuesAt(gather, place, values)) continue;
    const IndexVector at = gather.At(place);
    for (size_t i = 0; i < gather.dims.size(); ++i) {
      task[gather.dims[i]] = at[static_cast<int>(i)];
    }
    IndexVector key;
    for (const int i : told_) {
      key.push_back(use.map[i].Evaluate(task) + values[i]);
    }
    found.emplace_back(key, static_cast<int32_t>(place));
  }
  std::sort(found.begin(), found.end());
  bool is_each_once = true;
  for (size_t i = 0; i < found.size();) {
    size_t end = i;
    while (end < found.size() && found[end].first == found[i].first) {
      places_.push_back(found[end++].second);
    }
    ends_[found[i].first] = {static_cast<int64_t>(i),
                             static_cast<int64_t>(end)};
    is_each_once = is_each_once && end == i + 1;
    i = end;
  }
  is_injective_ = is_each_once && inverse_.IsInjective();
}

bool UseInverse::Fits(const Use& use, const Domain& domain) {
  if (use.gather == nullptr) return true;
  return std::ssize(EntriesOf(use).open) + std::ssize(use.gather->dims) <=
             kMaxIndices &&
         domain.size() <= kMaxIndices;
}

UseInverse::Ends UseInverse::PlacesFor(const IndexVector& label) const {
  if (label.size() != std::ssize(use_->map)) return {};
  IndexVector key;
  for (const int i : told_) key.push_back(label[i]);
  const auto found = ends_.find(key);
  return found == ends_.end() ? Ends() : found->second;
}

IndexVector UseInverse::ImageAt(const IndexVector& label, int64_t place) const {
  IndexVector values = Zeros(label.size());
  ValuesAt(*use_->gather, place, values);
  IndexVector out;
  for (const int i : open_) out.push_back(label[i] - values[i]);
  for (const int64_t at : use_->gather->At(place)) out.push_back(at);
  return out;
}

bool UseInverse::ForEach(
    const IndexVector& label,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  if (use_->gather == nullptr) return inverse_.ForEach(label, visit);
  const Ends ends = PlacesFor(label);
  for (int64_t i = ends.begin; i < ends.end; ++i) {
    const int32_t place = places_[i];
    if (!inverse_.ForEach(ImageAt(label, place), visit)) return false;
  }
  return true;
}

int64_t UseInverse::Count(const IndexVector& label) const {
  if (use_->gather == nullptr) return inverse_.Count(label);
  const Ends ends = PlacesFor(label);
  int64_t count = 0;
  for (int64_t i = ends.begin; i < ends.end; ++i) {
    count += inverse_.Count(ImageAt(label, places_[i]));
  }
  return count;
}

int64_t UseInverse::PartCount(const IndexVector& label) const {
  if (use_->gather == nullptr) return 1;
  const Ends ends = PlacesFor(label);
  return ends.end - ends.begin;
}

Domain UseInverse::PartOf(const IndexVector& label, int64_t part) const {
  if (use_->gather == nullptr) return inverse_.PointsOf(label);
  const auto i = static_cast<size_t>(PlacesFor(label).begin + part);
  return inverse_.PointsOf(ImageAt(label, places_[i]));
}

int64_t UseInverse::PartWith(const IndexVector& label,
                             const IndexVector& point) const {
  if (use_->gather == nullptr) return 0;
  const Ends ends = PlacesFor(label);
  const auto begin = places_.begin() + ends.begin;
  const auto place = static_cast<int32_t>(use_->gather->PlaceOf(point));
  return std::lower_bound(begin, places_.begin() + ends.end, place) - begin;
}

}  // namespace dogged
