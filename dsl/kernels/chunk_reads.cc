#include "dsl/kernels/chunk_reads.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

absl::Status CheckValue(const Value& value, ElementType element,
                        int64_t elements_min) {
  if (elements_min == 0) return absl::OkStatus();
  if (value.IsNone()) {
    return absl::InvalidArgumentError("a block that is read is not there");
  }
  if (value.type() == element && value.element_count() >= elements_min) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a block of ", value.element_count(), " elements of type ",
      ElementName(value.type()), " where element ", elements_min - 1,
      " of type ", ElementName(element), " is read"));
}

}  // namespace

class GroupReads {
 public:
  // A stretch of elements side by side of one value: those of points `first` to
  // `end` - 1 of a load.
  struct Stretch {
    int32_t use = 0;  // of the group
    int32_t count = 0;
    int32_t element = 0;
  };

  // Where the elements of a group stand at one place.
  struct Reads {
    // By load of the group, all of its points.
    std::vector<std::vector<Stretch>> stretches;
    std::vector<int64_t> elements_min;  // that the value of each use has
  };

  explicit GroupReads(int64_t place_count)
      : reads_(static_cast<size_t>(place_count)) {}
  ~GroupReads() {
    for (auto& reads : reads_) delete reads.load();
  }
  GroupReads(const GroupReads&) = delete;
  GroupReads& operator=(const GroupReads&) = delete;

  // Null if the tables have no entry for one of the task's points.
  const Reads* At(const ChunkBody& body, int32_t group,
                  const IndexVector& task) const {
    const int64_t place = body.groups[group].places.PlaceOf(task);
    if (place < 0) return nullptr;
    std::atomic<const Reads*>& at = reads_[place];
    const Reads* known = at.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    auto found = Find(body, group, task);
    if (found == nullptr) return nullptr;
    if (at.compare_exchange_strong(known, found.get())) return found.release();
    return known;  // another worker was first
  }

 private:
  static std::unique_ptr<const Reads> Find(const ChunkBody& body, int32_t group,
                                           const IndexVector& task);

  mutable std::vector<std::atomic<const Reads*>> reads_;  // by place
};

std::unique_ptr<const GroupReads::Reads> GroupReads::Find(
    const ChunkBody& body, int32_t group, const IndexVector& task) {
  std::vector<int64_t> blocks;
  std::vector<int64_t> elements;
  if (!body.FindBlocks(group, task, blocks, &elements) ||
      std::ssize(blocks) > body.groups[group].use_count) {
    return nullptr;
  }
  auto out = std::make_unique<Reads>();
  out->elements_min.resize(body.groups[group].use_count, 0);
  const int64_t count = body.ReadCount(group, task);
  for (size_t begin = 0; begin < elements.size(); begin += count) {
    std::vector<Stretch>& stretches = out->stretches.emplace_back();
    int64_t before = -2;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t element = elements[begin + j];
      const auto use = static_cast<int32_t>(element >> body.shift);
      const int64_t within = element & (body.Size() - 1);
      int64_t& least = out->elements_min[use];
      least = std::max(least, within + 1);
      if (element == before + 1 && within != 0) {
        ++stretches.back().count;
      } else {
        stretches.push_back(
            {.use = use, .count = 1, .element = static_cast<int32_t>(within)});
      }
      before = element;
    }
    stretches.shrink_to_fit();
  }
  return out;
}

ChunkReads::ChunkReads(const ChunkBody& body) : body_(body) {
  for (const ChunkGroup& group : body_.groups) {
    reads_.push_back(std::make_unique<GroupReads>(group.places.PlaceCount()));
  }
}

ChunkReads::~ChunkReads() = default;

bool ChunkReads::Fits(const TaskClass& c) const {
  return c.domain.size() == body_.rank &&
         std::all_of(body_.groups.begin(), body_.groups.end(),
                     [&c](const ChunkGroup& group) {
                       return group.first_use + int64_t{group.use_count} <=
                              std::ssize(c.uses);
                     });
}

absl::StatusOr<const void*> ChunkReads::Place(
    size_t load, size_t within_group, const KernelCall& call,
    std::unique_ptr<char[]>& copies) const {
  const int32_t g = body_.loads[load].group;
  const ChunkGroup& group = body_.groups[g];
  const absl::Span<Value> values =
      call.inputs.subspan(group.first_use, group.use_count);
  const ElementType element = body_.code.loads[load].element;
  const auto width = static_cast<size_t>(ElementBytes(element));
  // Its guard fails at all points.
  if (values[0].IsNone()) return nullptr;
  const GroupReads::Reads* const reads =
      reads_[g]->At(body_, g, call.task.index);
  if (reads == nullptr) {
    return absl::InvalidArgumentError("a point reads beyond its tables");
  }
  const auto& stretches = reads->stretches[within_group];
  for (size_t u = 0; u < values.size(); ++u) {
    DOGGED_RETURN_IF_ERROR(
        CheckValue(values[u], element, reads->elements_min[u]));
  }
  const auto from = [&](const GroupReads::Stretch& stretch) {
    return static_cast<const char*>(values[stretch.use].data()) +
           static_cast<size_t>(stretch.element) * width;
  };
  const int64_t count = body_.PointCount(call.task.index);
  const int64_t read = body_.ReadCount(g, call.task.index);
  if (stretches.size() == 1 && read == count) return from(stretches[0]);
  copies = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(count) *
                                                  width);
  char* to = copies.get();
  if (read == 1) {  // one for all points
    for (int64_t j = 0; j < count; ++j) {
      std::memcpy(to + static_cast<size_t>(j) * width, from(stretches[0]),
                  width);
    }
    return copies.get();
  }
  for (const GroupReads::Stretch& stretch : stretches) {
    const size_t bytes = static_cast<size_t>(stretch.count) * width;
    if (stretch.count == 1 && width == 8) {
      std::memcpy(to, from(stretch), 8);
    } else {
      std::memcpy(to, from(stretch), bytes);
    }
    to += bytes;
  }
  return copies.get();
}

absl::StatusOr<ChunkReads::Operands> ChunkReads::Gather(
    const KernelCall& call) const {
  if (body_.PointCount(call.task.index) == 0) {
    return absl::InvalidArgumentError("a chunk without points");
  }
  Operands out;
  out.copies.resize(body_.loads.size());
  std::vector<size_t> seen(body_.groups.size(), 0);
  for (size_t l = 0; l < body_.loads.size(); ++l) {
    DOGGED_ASSIGN_OR_RETURN(
        const void* const place,
        Place(l, seen[body_.loads[l].group]++, call, out.copies[l]));
    out.loads.push_back(place);
  }
  return out;
}

}  // namespace dogged::dsl
