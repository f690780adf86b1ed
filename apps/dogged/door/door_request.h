// DoorRequest: a line that a client of the door says, and its fields, each of
// which is checked as it is read. Errors are kNotFound, as for what is
// mistyped, and name the field.
#ifndef DOGGED_APPS_DOGGED_DOOR_DOOR_REQUEST_H_
#define DOGGED_APPS_DOGGED_DOOR_DOOR_REQUEST_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/value.h"

namespace dogged {

// An input: a descriptor has its values.
struct DoorInput {
  std::string array;
  ElementType type = ElementType::kDouble;
  Shape shape;
};

class DoorRequest {
 public:
  static constexpr size_t kListMax = 10'000;  // entries of a list

  // Errors: also for a line that is no object, with no number or no name.
  static absl::StatusOr<DoorRequest> Parse(absl::string_view line);

  int64_t id() const { return id_; }
  const std::string& name() const { return name_; }

  bool Has(const char* key) const { return fields_.contains(key); }
  // Empty, or `otherwise`, where the field is not there.
  absl::StatusOr<std::string> Text(const char* key) const;
  absl::StatusOr<int64_t> Number(const char* key, int64_t least, int64_t most,
                                 int64_t otherwise) const;
  absl::StatusOr<double> Seconds(const char* key) const;
  absl::StatusOr<bool> Flag(const char* key) const;
  absl::StatusOr<std::vector<std::string>> Texts(const char* key) const;
  // Whole numbers from 0.
  absl::StatusOr<std::vector<uint64_t>> Seeds(const char* key) const;
  // The pairs of an object whose values are texts.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Pairs(
      const char* key) const;
  absl::StatusOr<std::vector<DoorInput>> Inputs(const char* key) const;
  // An error for a field that is none of these, nor "id" or "do".
  absl::Status AllowOnly(const std::vector<absl::string_view>& keys) const;

 private:
  absl::Status Wrong(const char* key, absl::string_view wanted) const;

  nlohmann::json fields_;
  int64_t id_ = 0;
  std::string name_;
};

// "double", "float" or "int64"; none else.
std::optional<ElementType> ElementOf(absl::string_view name);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_DOOR_REQUEST_H_
