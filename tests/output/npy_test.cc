// Aim: a written file is read back as it was; every wrong file is a clear
// error, and costs no more memory than it has bytes.
// Method: round trips, hand-made files, every truncation and every changed
// byte of a small one.
#include "apps/output/npy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "apps/output/npy_header.h"
#include "gmock/gmock.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Value Counting(ElementType type, const Shape& shape) {
  Value value = Value::Allocate(type, shape);
  for (size_t i = 0; i < static_cast<size_t>(value.element_count()); ++i) {
    const auto x = static_cast<int64_t>(i);
    if (type == ElementType::kDouble) {
      value.mutable_span<double>()[i] = static_cast<double>(x) - 0.5;
    } else if (type == ElementType::kFloat) {
      value.mutable_span<float>()[i] = static_cast<float>(x) - 0.5F;
    } else {
      value.mutable_span<int64_t>()[i] = x - 3;
    }
  }
  value.Seal();
  return value;
}

// A file of version 1.0 (or `major`) with this dictionary and data.
std::string Npy(absl::string_view dictionary, size_t data_bytes,
                char major = 1) {
  std::string file("\x93NUMPY", 6);
  file.push_back(major);
  file.push_back(0);
  const size_t size = dictionary.size();
  file.push_back(static_cast<char>(size & 0xff));
  file.push_back(static_cast<char>(size >> 8));
  if (major > 1) file.append(2, '\0');
  return absl::StrCat(file, dictionary, std::string(data_bytes, '\0'));
}

std::string Dictionary(absl::string_view descr, absl::string_view shape,
                       absl::string_view order = "False") {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order,
                      ", 'shape': ", shape, ", }\n");
}

// Reads `content`; expects an error that names the file.
std::string ErrorOf(absl::string_view content, absl::StatusCode code) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("in.npy", content);
  const absl::StatusOr<Value> value = ReadNpy(path);
  EXPECT_EQ(value.status().code(), code) << value.status();
  EXPECT_THAT(std::string(value.status().message()), StartsWith(path + ": "));
  return std::string(value.status().message());
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  for (const ElementType type :
       {ElementType::kDouble, ElementType::kFloat, ElementType::kInt64}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{5001}, Shape{3, 4},
                               Shape{2, 0, 3}, Shape{2, 1, 2, 1, 2, 3}}) {
      const Value value = Counting(type, shape);
      ASSERT_TRUE(WriteNpy(path, value).ok());
      const absl::StatusOr<Value> back = ReadNpy(path);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->type(), type);
      EXPECT_EQ(back->shape(), shape);
      EXPECT_EQ(back->view(), value.view());
      EXPECT_EQ(back->digest(), value.digest());
    }
  }
}

TEST(Npy, HeaderIsThatOfNumPy) {
  const std::string header = EncodeNpyHeader(ElementType::kDouble, {5001});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(header.substr(10),
              StartsWith("{'descr': '<f8', 'fortran_order': False, 'shape': "
                         "(5001,), }    "));
  EXPECT_EQ(header.back(), '\n');
}

TEST(Npy, FortranOrderIsConverted) {
  const TemporaryFolder folder;
  std::string file = Npy(Dictionary("<i8", "(2, 3)", "True"), 48);
  for (int64_t i = 0; i < 6; ++i) {
    std::memcpy(file.data() + file.size() - 48 + 8 * i, &i, 8);
  }
  const absl::StatusOr<Value> value = ReadNpy(folder.Write("f.npy", file));
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_THAT(value->span<int64_t>(), testing::ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  const TemporaryFolder folder;
  for (const char major : {'\x02', '\x03'}) {
    const std::string path =
        folder.Write("later.npy", Npy(Dictionary("<f4", "(3,)"), 12, major));
    const absl::StatusOr<Value> value = ReadNpy(path);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->shape(), Shape{3});
  }
}

TEST(Npy, EitherOrderOfBytesIsRead) {
  const TemporaryFolder folder;
  for (const bool is_big : {false, true}) {
    for (const ElementType type :
         {ElementType::kDouble, ElementType::kFloat, ElementType::kInt64}) {
      for (const absl::string_view order : {"True", "False"}) {
        const Value value = Counting(type, {2, 3});
        std::string data(value.view());
        const auto bytes = static_cast<size_t>(ElementBytes(type));
        if (is_big) {
          for (size_t at = 0; at < data.size(); at += bytes) {
            std::reverse(data.data() + at, data.data() + at + bytes);
          }
        }
        const std::string descr = absl::StrCat(
            is_big ? ">" : "=", type == ElementType::kInt64 ? "i" : "f", bytes);
        const absl::StatusOr<Value> read = ReadNpy(folder.Write(
            "a.npy",
            absl::StrCat(Npy(Dictionary(descr, "(2, 3)", order), 0), data)));
        ASSERT_TRUE(read.ok()) << read.status();
        EXPECT_EQ(read->type(), type);
        EXPECT_EQ(read->view() == value.view(), order == "False");
        EXPECT_EQ(read->view().substr(0, bytes), value.view().substr(0, bytes));
      }
    }
  }
}

TEST(Npy, WhatIsNoNpyIsSaid) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ErrorOf("", kInvalid), HasSubstr("is not an .npy file"));
  EXPECT_THAT(ErrorOf("ten bytes!", kInvalid),
              AllOf(HasSubstr("is not an .npy file"), HasSubstr("np.save")));
  std::string third = Npy(Dictionary("<f8", "(1,)"), 8);
  third[6] = 4;
  EXPECT_THAT(ErrorOf(third, kInvalid), HasSubstr("version 4.0"));
  EXPECT_THAT(ErrorOf(Npy(Dictionary("<c16", "(1,)"), 16), kInvalid),
              AllOf(HasSubstr("complex"), HasSubstr("a.imag"),
                    testing::Not(HasSubstr("astype"))));
  EXPECT_THAT(ErrorOf(Npy(Dictionary("|O", "(1,)"), 8), kInvalid),
              HasSubstr("Python objects"));
  EXPECT_THAT(ErrorOf(Npy(Dictionary("<i4", "(1,)"), 4), kInvalid),
              HasSubstr("'<i4'"));
  EXPECT_THAT(ErrorOf(Npy("{'descr': [('x', '<f8')], 'fortran_order': False, "
                          "'shape': (1,), }\n",
                          8),
                      kInvalid),
              HasSubstr("records"));
  EXPECT_THAT(
      ErrorOf(Npy(Dictionary("<f8", "(1, 1, 1, 1, 1, 1, 1)"), 8), kInvalid),
      HasSubstr("more than 6 dimensions"));
}

TEST(Npy, AFolderIsNoFile) {
  const TemporaryFolder folder;
  const absl::StatusOr<Value> value = ReadNpy(folder / "");
  EXPECT_EQ(value.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(value.status().message()),
              HasSubstr("Is a directory"));
}

TEST(Npy, HeadersThatLieCostNoMemory) {
  constexpr auto kLoss = absl::StatusCode::kDataLoss;
  const int64_t before = Value::LiveBytes();
  EXPECT_THAT(ErrorOf(Npy(Dictionary("<f8", "(1000000000000,)"), 8), kLoss),
              AllOf(HasSubstr("holds 8 bytes of data"),
                    HasSubstr("promises 8000000000000"),
                    HasSubstr("(1000000000000,)")));
  EXPECT_THAT(ErrorOf(Npy(Dictionary("<f8", "(2,)"), 24), kLoss),
              HasSubstr("holds 24 bytes"));
  // 2^32 * 2^32 elements: the product overflows.
  EXPECT_THAT(ErrorOf(Npy(Dictionary("<f8", "(4294967296, 4294967296)"), 0),
                      absl::StatusCode::kInvalidArgument),
              HasSubstr("beyond all memory"));
  std::string longer = Npy(Dictionary("<f8", "(1,)"), 8);
  longer[8] = '\xff';
  longer[9] = '\xff';
  EXPECT_THAT(ErrorOf(longer, kLoss), HasSubstr("a header of 65535 bytes"));
  std::string long_one = Npy("", 2 << 20, 2);
  long_one[10] = 0x11;
  EXPECT_THAT(ErrorOf(long_one, kLoss),
              AllOf(HasSubstr("a header of 1114112 bytes"),
                    HasSubstr("the limit of 1048576"),
                    testing::Not(HasSubstr("left"))));
  EXPECT_EQ(Value::LiveBytes(), before);
}

TEST(Npy, NoTruncationAndNoChangedByteIsFatal) {
  const TemporaryFolder folder;
  const Value value = Counting(ElementType::kDouble, {2, 3});
  const std::string path = folder / "a.npy";
  ASSERT_TRUE(WriteNpy(path, value).ok());
  const std::string whole = ContentOf(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadNpy(folder.Write("cut", whole.substr(0, size))).ok());
  }
  for (size_t at = 0; at < whole.size() - 48; ++at) {
    for (const char byte : {'\0', '9', '(', '\'', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      const absl::StatusOr<Value> read =
          ReadNpy(folder.Write("changed", changed));
      if (!read.ok()) continue;
      EXPECT_EQ(read->bytes(), 48);
    }
  }
}

}  // namespace
}  // namespace dogged
