#include "apps/dogged/door/door_request.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int64_t kIdMax = int64_t{1} << 53;
constexpr double kSecondsMax = 30.0 * 24 * 3600;
// Beyond it no value is anyway.
constexpr int64_t kElementsMax = int64_t{1} << 40;

absl::StatusOr<Shape> ShapeOf(const nlohmann::json& json) {
  const auto wrong = [] {
    return absl::NotFoundError(
        absl::StrCat("the shape of an input is a list of at most ", kMaxIndices,
                     " extents, each at least 0"));
  };
  if (!json.is_array() || json.size() > static_cast<size_t>(kMaxIndices)) {
    return wrong();
  }
  Shape out;
  int64_t count = 1;
  for (const auto& extent : json) {
    if (!extent.is_number_integer()) return wrong();
    // Unsigned ones beyond int64 come out as less than 0.
    const auto value = extent.get<int64_t>();
    if (value < 0 || value > kElementsMax) return wrong();
    out.push_back(value);
    count *= value;
    if (count > kElementsMax) return wrong();
  }
  return out;
}

}  // namespace

std::optional<ElementType> ElementOf(absl::string_view name) {
  for (const ElementType type :
       {ElementType::kDouble, ElementType::kFloat, ElementType::kInt64}) {
    if (ElementName(type) == name) return type;
  }
  return std::nullopt;
}

absl::StatusOr<DoorRequest> DoorRequest::Parse(absl::string_view line) {
  DoorRequest out;
  out.fields_ = nlohmann::json::parse(line.begin(), line.end(),
                                      /*cb=*/nullptr,
                                      /*allow_exceptions=*/false);
  if (out.fields_.is_discarded() || !out.fields_.is_object()) {
    return absl::NotFoundError(
        R"(a line is one JSON object, as {"id": 1, "do": "status"})");
  }
  DOGGED_ASSIGN_OR_RETURN(out.id_, out.Number("id", 0, kIdMax, -1));
  if (out.id_ < 0) return out.Wrong("id", "a number from 0");
  DOGGED_ASSIGN_OR_RETURN(out.name_, out.Text("do"));
  return out;
}

absl::Status DoorRequest::Wrong(const char* key,
                                absl::string_view wanted) const {
  return absl::NotFoundError(absl::StrCat("\"", key, "\" is ", wanted));
}

absl::StatusOr<std::string> DoorRequest::Text(const char* key) const {
  const auto it = fields_.find(key);
  if (it == fields_.end()) return "";
  if (!it->is_string()) return Wrong(key, "a text");
  return it->get<std::string>();
}

absl::StatusOr<int64_t> DoorRequest::Number(const char* key, int64_t least,
                                            int64_t most,
                                            int64_t otherwise) const {
  const auto it = fields_.find(key);
  if (it == fields_.end()) return otherwise;
  const bool fits =
      it->is_number_integer() &&
      !(it->is_number_unsigned() && it->get<uint64_t>() > INT64_MAX) &&
      it->get<int64_t>() >= least && it->get<int64_t>() <= most;
  if (!fits) {
    return Wrong(key, absl::StrCat("a whole number, ", least, " to ", most));
  }
  return it->get<int64_t>();
}

absl::StatusOr<double> DoorRequest::Seconds(const char* key) const {
  const auto it = fields_.find(key);
  if (it == fields_.end()) return 0.0;
  const bool fits = it->is_number() && it->get<double>() >= 0 &&
                    it->get<double>() <= kSecondsMax;
  if (!fits) return Wrong(key, "seconds, from 0 to 30 days");
  return it->get<double>();
}

absl::StatusOr<bool> DoorRequest::Flag(const char* key) const {
  const auto it = fields_.find(key);
  if (it == fields_.end()) return false;
  if (!it->is_boolean()) return Wrong(key, "true or false");
  return it->get<bool>();
}

absl::StatusOr<std::vector<std::string>> DoorRequest::Texts(
    const char* key) const {
  std::vector<std::string> out;
  const auto it = fields_.find(key);
  if (it == fields_.end()) return out;
  const bool is_list = it->is_array() && it->size() <= kListMax &&
                       std::all_of(it->begin(), it->end(), [](const auto& one) {
                         return one.is_string();
                       });
  if (!is_list) return Wrong(key, "a list of texts");
  for (const auto& one : *it) out.push_back(one.template get<std::string>());
  return out;
}

absl::StatusOr<std::vector<uint64_t>> DoorRequest::Seeds(
    const char* key) const {
  std::vector<uint64_t> out;
  const auto it = fields_.find(key);
  const bool is_list =
      it != fields_.end() && it->is_array() && it->size() <= kListMax &&
      std::all_of(it->begin(), it->end(),
                  [](const auto& one) { return one.is_number_unsigned(); });
  if (!is_list) {
    return Wrong(key, absl::StrCat("a list of at most ", kListMax,
                                   " whole numbers from 0"));
  }
  for (const auto& one : *it) out.push_back(one.template get<uint64_t>());
  return out;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
DoorRequest::Pairs(const char* key) const {
  std::vector<std::pair<std::string, std::string>> out;
  const auto it = fields_.find(key);
  if (it == fields_.end()) return out;
  const bool is_object =
      it->is_object() && it->size() <= kListMax &&
      std::all_of(it->begin(), it->end(),
                  [](const auto& one) { return one.is_string(); });
  if (!is_object) return Wrong(key, "an object of texts");
  for (const auto& [name, value] : it->items()) {
    out.emplace_back(name, value.get<std::string>());
  }
  return out;
}

absl::StatusOr<std::vector<DoorInput>> DoorRequest::Inputs(
    const char* key) const {
  std::vector<DoorInput> out;
  const auto it = fields_.find(key);
  if (it == fields_.end()) return out;
  if (!it->is_array() || it->size() > kListMax) {
    return Wrong(key, "a list of objects");
  }
  for (const auto& one : *it) {
    const bool is_whole = one.is_object() && one.size() == 3 &&
                          one.contains("array") && one["array"].is_string() &&
                          one.contains("type") && one["type"].is_string() &&
                          one.contains("shape");
    if (!is_whole) return Wrong(key, "a list of {array, type, shape}");
    DoorInput input{.array = one["array"].get<std::string>()};
    const auto type = ElementOf(one["type"].get<std::string>());
    if (!type.has_value()) {
      return absl::NotFoundError(absl::StrCat(
          "input ", input.array, " has type \"", one["type"].get<std::string>(),
          "\": double, float and int64 are there"));
    }
    input.type = *type;
    DOGGED_ASSIGN_OR_RETURN(input.shape, ShapeOf(one["shape"]));
    out.push_back(std::move(input));
  }
  return out;
}

absl::Status DoorRequest::AllowOnly(
    const std::vector<absl::string_view>& keys) const {
  for (const auto& [key, value] : fields_.items()) {
    const bool is_known =
        key == "id" || key == "do" ||
        std::find(keys.begin(), keys.end(), key) != keys.end();
    if (is_known) continue;
    return absl::NotFoundError(absl::StrCat(
        "\"", name_, "\" has no field \"", key,
        keys.empty() ? "\"" : absl::StrCat("\": ", absl::StrJoin(keys, ", "))));
  }
  return absl::OkStatus();
}

}  // namespace dogged
