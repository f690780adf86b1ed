#include "apps/output/npy.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "apps/output/file.h"
#include "apps/output/mapped_value.h"
#include "apps/output/npy_header.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are written to .npy as they lie in memory");

constexpr absl::string_view kNpyMagic("\x93NUMPY", 6);
constexpr int64_t kPreludeBytes = 8;  // magic and version
// NumPy's own limit is 10,000; a header longer than this is a lie.
constexpr int64_t kHeaderBytesMax = 1 << 20;
// Smaller ones are read: that is no slower, and nobody can change them then.
constexpr int64_t kMappedBytesMin = 256 << 20;

absl::Status NotNpy() {
  return absl::InvalidArgumentError(
      "is not an .npy file; write one with np.save(file, array)");
}

// Allocate() ends the process when memory is short; a file of the user's must
// not do that.
absl::StatusOr<Value> AllocateFor(const NpyHeader& header) {
  const size_t bytes = static_cast<size_t>(header.data_bytes) + 4096;
  const std::unique_ptr<void, void (*)(void*)> probe(std::malloc(bytes),
                                                     std::free);
  if (probe == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("needs ", header.data_bytes, " bytes of memory"));
  }
  return Value::Allocate(header.type, header.shape);
}

// Copies a column-major array to a row-major one of the same shape.
void CopyFromFortran(const char* source, Value& target) {
  const Shape& shape = target.shape();
  const int64_t bytes = ElementBytes(target.type());
  IndexVector strides;  // of `source`, in elements
  int64_t stride = 1;
  for (const int64_t extent : shape) {
    strides.push_back(stride);
    stride *= extent;
  }
  auto* out = static_cast<char*>(target.mutable_data());
  IndexVector at;
  for (int d = 0; d < shape.size(); ++d) at.push_back(0);
  int64_t offset = 0;
  for (int64_t i = 0; i < target.element_count(); ++i) {
    std::memcpy(out + i * bytes, source + offset * bytes,
                static_cast<size_t>(bytes));
    for (int d = shape.size() - 1; d >= 0; --d) {
      offset += strides[d];
      if (++at[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
}

void TurnBytes(Value& value) {
  const auto bytes = static_cast<size_t>(ElementBytes(value.type()));
  const absl::Span<char> all = value.mutable_span<char>();
  for (size_t at = 0; at < all.size(); at += bytes) {
    std::reverse(all.data() + at, all.data() + at + bytes);
  }
}

absl::StatusOr<int64_t> ReadHeaderLength(InputFile& file) {
  if (file.size() < kPreludeBytes + 2) return NotNpy();
  char prelude[kPreludeBytes];
  DOGGED_RETURN_IF_ERROR(file.Read(absl::MakeSpan(prelude)));
  if (absl::string_view(prelude, kNpyMagic.size()) != kNpyMagic)
    return NotNpy();
  const int major = static_cast<unsigned char>(prelude[6]);
  const int minor = static_cast<unsigned char>(prelude[7]);
  // 3.0 is 2.0 with other letters in names of fields.
  if (major < 1 || major > 3 || minor != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("is of .npy version ", major, ".", minor,
                     "; 1.0, 2.0 and 3.0 are read, and np.save writes them"));
  }
  const int64_t length_bytes = major == 1 ? 2 : 4;
  unsigned char digits[4] = {};
  if (file.size() < kPreludeBytes + length_bytes) return NotNpy();
  DOGGED_RETURN_IF_ERROR(file.Read(absl::MakeSpan(
      reinterpret_cast<char*>(digits), static_cast<size_t>(length_bytes))));
  int64_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | digits[i];
  const int64_t left = file.size() - kPreludeBytes - length_bytes;
  if (length > left) {
    return absl::DataLossError(absl::StrCat("promises a header of ", length,
                                            " bytes, but has ", left,
                                            " left; write it again"));
  }
  if (length > kHeaderBytesMax) {
    return absl::DataLossError(
        absl::StrCat("promises a header of ", length,
                     " bytes, which is beyond the limit of ", kHeaderBytesMax,
                     "; write it again"));
  }
  return length;
}

absl::StatusOr<Value> ReadOpenNpy(InputFile& file, bool may_map) {
  DOGGED_ASSIGN_OR_RETURN(const int64_t length, ReadHeaderLength(file));
  std::string text(static_cast<size_t>(length), '\0');
  DOGGED_RETURN_IF_ERROR(file.Read(absl::MakeSpan(text.data(), text.size())));
  DOGGED_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyDictionary(text));
  const int64_t data_bytes = file.size() - file.position();
  if (data_bytes != header.data_bytes) {
    return absl::DataLossError(absl::StrCat(
        "holds ", data_bytes, " bytes of data, but its header promises ",
        header.data_bytes, " for shape ", ShapeText(header.shape), " of ",
        ElementName(header.type), "; write it again"));
  }
  const bool needs_transposing =
      header.is_fortran_order && header.shape.size() > 1;
  if (may_map && !needs_transposing && data_bytes >= kMappedBytesMin) {
    Value mapped =
        MapValue(file.descriptor(), file.position(), header.type, header.shape);
    if (!mapped.IsNone()) return mapped;
  }
  DOGGED_ASSIGN_OR_RETURN(Value value, AllocateFor(header));
  if (needs_transposing) {
    DOGGED_ASSIGN_OR_RETURN(Value columns, AllocateFor(header));
    DOGGED_RETURN_IF_ERROR(file.Read(columns.mutable_span<char>()));
    CopyFromFortran(static_cast<const char*>(columns.data()), value);
  } else {
    DOGGED_RETURN_IF_ERROR(file.Read(value.mutable_span<char>()));
  }
  if (header.is_big_endian) TurnBytes(value);
  value.SealLazily();  // of a large one nobody may ask
  return value;
}

}  // namespace

std::string ShapeText(const Shape& shape) {
  std::string text = "(";
  for (int d = 0; d < shape.size(); ++d) {
    absl::StrAppend(&text, d == 0 ? "" : " ", shape[d],
                    d + 1 < shape.size() || shape.size() == 1 ? "," : "");
  }
  return text + ")";
}

absl::StatusOr<Value> ReadNpy(absl::string_view path, bool may_map) {
  DOGGED_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  absl::StatusOr<Value> value = ReadOpenNpy(file, may_map);
  // Errors of the file itself name it already.
  if (value.ok() || absl::StartsWith(value.status().message(), path)) {
    return value;
  }
  return Annotate(value.status(), path);
}

absl::Status WriteNpy(absl::string_view path, const Value& value) {
  DOGGED_CHECK(!value.IsNone()) << "no value for " << path;
  const std::string header = EncodeNpyHeader(value.type(), value.shape());
  const absl::string_view pieces[] = {header, value.view()};
  return WriteWholeFile(path, pieces);
}

}  // namespace dogged
