#include "apps/output/npy_header.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "apps/output/npy.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY\x01\x00", 8);
// NumPy aligns the data to this many bytes.
constexpr size_t kAlignment = 64;

// Reads the few Python literals that headers are made of, left to right.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : rest_(text) {}

  bool Take(char wanted) {
    SkipSpace();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A quoted string without escapes.
  std::optional<absl::string_view> TakeString() {
    SkipSpace();
    if (rest_.empty()) return std::nullopt;
    const char quote = rest_.front();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == absl::string_view::npos) return std::nullopt;
    const absl::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  // Letters and digits: True, False, 5001, 5001L.
  absl::string_view TakeWord() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && absl::ascii_isalnum(rest_[size])) ++size;
    const absl::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  bool IsAtEnd() {
    SkipSpace();
    return rest_.empty();
  }

 private:
  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  absl::string_view rest_;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the .npy header is damaged: ", what));
}

bool HasByteOrder(absl::string_view descr) {
  return !descr.empty() && absl::StrContains("<>=|", descr.substr(0, 1));
}

absl::Status NotRead(absl::string_view descr) {
  const absl::string_view kind = descr.substr(HasByteOrder(descr) ? 1 : 0, 1);
  if (kind == "O") {
    return absl::InvalidArgumentError(
        "holds Python objects ('|O'), which are not read; save numbers, as in "
        "np.save(file, a.astype('<f8'))");
  }
  if (kind == "c") {
    return absl::InvalidArgumentError(absl::StrCat(
        "holds complex numbers ('", descr,
        "'), which there are none of here; save the parts as two arrays:  "
        "np.save(file, a.real)  and  np.save(other, a.imag)"));
  }
  const bool is_integer = !kind.empty() && absl::StrContains("iubmM", kind);
  return absl::InvalidArgumentError(absl::StrCat(
      "holds elements of type '", descr,
      "'; '<f8', '<f4' and '<i8' are read, in either byte order: "
      "np.save(file, a.astype('",
      "<f8'))", is_integer ? ", or '<i8' for an array of integers" : ""));
}

// Takes "<f8", and names of the same type in this computer's or the other order
// of bytes.
absl::Status TakeType(absl::string_view descr, NpyHeader& header) {
  absl::string_view type = descr;
  if (HasByteOrder(descr)) type.remove_prefix(1);
  header.is_big_endian = descr.substr(0, 1) == ">";
  if (type == "f8") {
    header.type = ElementType::kDouble;
  } else if (type == "f4") {
    header.type = ElementType::kFloat;
  } else if (type == "i8") {
    header.type = ElementType::kInt64;
  } else {
    return NotRead(descr);
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ParseShape(Scanner& in) {
  if (!in.Take('(')) return Malformed("no '(' after 'shape'");
  Shape shape;
  while (!in.Take(')')) {
    absl::string_view word = in.TakeWord();
    // Python 2 wrote long integers so.
    if (!word.empty() && word.back() == 'L') word.remove_suffix(1);
    int64_t extent = 0;
    if (!absl::SimpleAtoi(word, &extent) || extent < 0) {
      return Malformed("an extent in 'shape' is not a number");
    }
    if (shape.size() == kMaxIndices) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has more than ", kMaxIndices, " dimensions; reshape it"));
    }
    shape.push_back(extent);
    if (in.Take(',')) continue;
    if (in.Take(')')) break;
    return Malformed("'shape' has no end");
  }
  return shape;
}

// The bytes of an array, nothing if no computer could hold them.
std::optional<int64_t> DataBytes(ElementType type, const Shape& shape) {
  int64_t bytes = ElementBytes(type);
  for (const int64_t extent : shape) {
    if (extent == 0) return 0;
  }
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view text) {
  Scanner in(text);
  if (!in.Take('{')) return Malformed("it is no dictionary");
  NpyHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  while (!in.Take('}')) {
    const std::optional<absl::string_view> key = in.TakeString();
    if (!key.has_value() || !in.Take(':')) return Malformed("a key is missing");
    if (*key == "descr") {
      const std::optional<absl::string_view> descr = in.TakeString();
      if (!descr.has_value()) {
        return absl::InvalidArgumentError(
            "holds records; save one field of them, as in np.save(file, "
            "a['x'].astype('<f8'))");
      }
      DOGGED_RETURN_IF_ERROR(TakeType(*descr, header));
      has_type = true;
    } else if (*key == "fortran_order") {
      const absl::string_view word = in.TakeWord();
      if (word != "True" && word != "False") {
        return Malformed("'fortran_order' is neither True nor False");
      }
      header.is_fortran_order = word == "True";
      has_order = true;
    } else if (*key == "shape") {
      DOGGED_ASSIGN_OR_RETURN(header.shape, ParseShape(in));
      has_shape = true;
    } else {
      return Malformed(absl::StrCat("unknown key '", *key, "'"));
    }
    if (in.Take(',')) continue;
    if (in.Take('}')) break;
    return Malformed("it has no end");
  }
  if (!in.IsAtEnd()) return Malformed("there is more behind the dictionary");
  if (!has_type || !has_order || !has_shape) {
    return Malformed("'descr', 'fortran_order' or 'shape' is missing");
  }
  const std::optional<int64_t> bytes = DataBytes(header.type, header.shape);
  if (!bytes.has_value()) return Malformed("its shape is beyond all memory");
  header.data_bytes = *bytes;
  return header;
}

std::string EncodeNpyHeader(ElementType type, const Shape& shape) {
  absl::string_view descr = "<f8";
  if (type == ElementType::kFloat) descr = "<f4";
  if (type == ElementType::kInt64) descr = "<i8";
  std::string dictionary =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, ",
                   "'shape': ", ShapeText(shape), ", }");
  // Two bytes of length in front, a line end behind.
  const size_t unpadded = kMagic.size() + 2 + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary.push_back('\n');
  std::string header(kMagic);
  header.push_back(static_cast<char>(dictionary.size() & 0xff));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

}  // namespace dogged
