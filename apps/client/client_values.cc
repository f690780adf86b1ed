#include "apps/client/client_values.h"

namespace dogged {
namespace {

constexpr const char* kNames[] = {"double", "float", "int64"};
constexpr int64_t kBytes[] = {8, 4, 8};
// As the client process has it.
constexpr int64_t kElementsMax = int64_t{1} << 40;

}  // namespace

const char* TypeName(int type) {
  return type >= DOGGED_DOUBLE && type <= DOGGED_INT64 ? kNames[type] : nullptr;
}

int TypeOf(const std::string& name) {
  for (int type = DOGGED_DOUBLE; type <= DOGGED_INT64; ++type) {
    if (name == kNames[type]) return type;
  }
  return -1;
}

std::string ShapeText(int rank, const int64_t* extents) {
  std::string out = "(";
  for (int i = 0; i < rank; ++i) {
    out += (i > 0 ? ", " : "") + std::to_string(extents[i]);
  }
  return out + (rank == 1 ? ",)" : ")");
}

int64_t BytesOf(int type, int rank, const int64_t* extents) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] < 0 || extents[i] > kElementsMax) return -1;
    if (extents[i] > 0 && count > kElementsMax / extents[i]) return -1;
    count *= extents[i];
  }
  return count * kBytes[type];
}

ClientError ValueFrom(const nlohmann::json& object, dogged_view& out) {
  out = {};
  const int type = TypeOf(TextIn(object, "type"));
  const auto shape = object.find("shape");
  bool is_whole = type >= 0 && shape != object.end() && shape->is_array() &&
                  shape->size() <= DOGGED_RANK_MAX;
  if (is_whole) {
    for (const auto& extent : *shape) {
      is_whole = is_whole && extent.is_number_integer();
      out.extents[out.rank++] = is_whole ? extent.get<int64_t>() : 0;
    }
  }
  const int64_t bytes = is_whole ? BytesOf(type, out.rank, out.extents) : -1;
  if (bytes < 0) {
    return ErrorOf(DOGGED_JOB_FAILED,
                   "the dogged command speaks of a value that this library "
                   "does not know: " +
                       JsonLine(object));
  }
  out.type = static_cast<dogged_type>(type);
  out.bytes = static_cast<size_t>(bytes);
  return {};
}

}  // namespace dogged
