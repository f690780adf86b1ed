// Aim: parts that are written one by one make the file that was asked for, and
// nothing that comes from elsewhere reaches beyond it, or another file.
// Method: random boxes against an array in memory; parts and files that are
// not as they should be.
#include "apps/output/parted_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "apps/output/npy_header.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using testing::HasSubstr;

constexpr Digest kMark{.low = 1, .high = 2};

std::string ContentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Value Numbers(const Shape& shape, double first) {
  Value out = Value::Allocate(ElementType::kDouble, shape);
  for (double& x : out.mutable_span<double>()) x = first++;
  out.Seal();
  return out;
}

class PartedFileTest : public testing::Test {
 protected:
  static std::string HeaderOf(const Shape& shape) {
    return EncodeNpyHeader(ElementType::kDouble, shape);
  }
  PartedFile Create(const Shape& shape) {
    return PartedFile::Create(path_, HeaderOf(shape), 8 * ElementCount(shape),
                              kMark)
        .value();
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "u.npy";
};

// Tiles of a random grid, of which a random box is wanted.
TEST_F(PartedFileTest, PartsMakeTheArray) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const int64_t rows = 1 + rng.Below(9);
    const int64_t columns = 1 + rng.Below(9);
    const Shape tile = {1 + rng.Below(4), 1 + rng.Below(4)};
    const int64_t top = rng.Below(rows);
    const int64_t left = rng.Below(columns);
    const Shape shape = {rows - top, columns - left};
    PartedFile file = Create(shape);
    std::string expected = HeaderOf(shape);
    const auto header = std::ssize(expected);
    expected.resize(expected.size() + 8 * ElementCount(shape));
    auto* const numbers = reinterpret_cast<double*>(expected.data() + header);
    FileParts parts = FileParts::Open(file.path(), kMark).value();
    double next = 1;
    int64_t not_finite = 0;
    for (int64_t r = 0; r < rows; r += tile[0]) {
      for (int64_t c = 0; c < columns; c += tile[1]) {
        const Shape extents = {std::min(tile[0], rows - r),
                               std::min(tile[1], columns - c)};
        const Value value = Numbers(extents, next);
        next += 100;
        FilePart part{
            .extents = extents, .stride = {8 * shape[1], 8}, .offset = header};
        const int64_t first[] = {std::max(r, top), std::max(c, left)};
        part.first = {first[0] - r, first[1] - c};
        part.count = {r + extents[0] - first[0], c + extents[1] - first[1]};
        part.offset += 8 * ((first[0] - top) * shape[1] + first[1] - left);
        if (part.count[0] <= 0 || part.count[1] <= 0) continue;
        for (int64_t e = 0; e < part.count[0] * part.count[1]; ++e) {
          const int64_t i = e / part.count[1];
          const int64_t j = e % part.count[1];
          numbers[(first[0] - top + i) * shape[1] + first[1] - left + j] =
              value.span<double>()[(part.first[0] + i) * extents[1] +
                                   part.first[1] + j];
        }
        const Digest written = parts.Write(part, value, not_finite).value();
        EXPECT_EQ(parts.Read(part).value(), written);
      }
    }
    EXPECT_EQ(not_finite, 0);
    ASSERT_TRUE(file.Commit().ok());
    EXPECT_EQ(ContentOf(path_), expected);
  }
}

TEST_F(PartedFileTest, CountsWhatIsNotFinite) {
  PartedFile file = Create({4});
  Value value = Value::Allocate(ElementType::kDouble, {4});
  value.mutable_span<double>()[0] = 1;
  value.mutable_span<double>()[1] = std::numeric_limits<double>::quiet_NaN();
  value.mutable_span<double>()[2] = -std::numeric_limits<double>::infinity();
  value.mutable_span<double>()[3] = std::numeric_limits<double>::infinity();
  value.Seal();
  FileParts parts = FileParts::Open(file.path(), kMark).value();
  int64_t not_finite = 0;
  const FilePart part{
      .extents = {4}, .first = {0}, .count = {3}, .stride = {8}, .offset = 128};
  EXPECT_TRUE(parts.Write(part, value, not_finite).ok());
  EXPECT_EQ(not_finite, 2);
}

TEST_F(PartedFileTest, PartsStayInTheFileAndTheValue) {
  PartedFile file = Create({4, 4});
  const Value value = Numbers({4, 4}, 0);
  FileParts parts = FileParts::Open(file.path(), kMark).value();
  const FilePart good{.extents = {4, 4},
                      .first = {1, 1},
                      .count = {2, 3},
                      .stride = {32, 8},
                      .offset = 128};
  int64_t not_finite = 0;
  EXPECT_TRUE(parts.Write(good, value, not_finite).ok());
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  std::vector<FilePart> bad(17, good);
  bad[0].offset = 127;
  bad[1].offset = 128 + 16 * 8 - 32;
  bad[2].offset = -8;
  bad[3].offset = kHuge;
  bad[4].count = {2, 4};
  bad[5].count = {0, 1};
  bad[6].count = {kHuge, kHuge};
  bad[7].first = {-1, 1};
  bad[8].first = {kHuge, 1};
  bad[9].stride = {kHuge, 8};
  bad[10].stride = {-8, 8};
  bad[11].stride = {32, 0};
  bad[12].element_bytes = 4;
  bad[13].element_bytes = 0;
  bad[14].extents = {4, 5};
  bad[15].extents = {4};
  bad[16].extents = {kHuge, kHuge};
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(parts.Write(bad[i], value, not_finite).status().code(),
              absl::StatusCode::kInvalidArgument)
        << i;
    if (i == 12 || i == 14) continue;  // fits the file alone
    EXPECT_FALSE(parts.Read(bad[i]).ok()) << i;
  }
  EXPECT_EQ(parts.Write(good, Value(), not_finite).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PartedFileTest, OpensNoOtherFile) {
  const std::string other = folder_ / "other";
  std::ofstream(other) << std::string(500, 'x');
  ASSERT_EQ(symlink(other.c_str(), (folder_ / "link").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* const name : {"other", "link", "pipe", "none", ""}) {
    const auto opened = FileParts::Open(folder_ / name, kMark);
    EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition)
        << name;
  }
  const PartedFile file = Create({4});
  EXPECT_TRUE(FileParts::Open(file.path(), kMark).ok());
  EXPECT_THAT(std::string(FileParts::Open(file.path(), {.low = 1, .high = 3})
                              .status()
                              .message()),
              HasSubstr("is another file there"));
  // Under its own name there is nothing yet.
  EXPECT_FALSE(FileParts::Open(path_, kMark).ok());
}

TEST_F(PartedFileTest, ASignIsSeenByTheMaker) {
  const PartedFile file = Create({4});
  EXPECT_FALSE(file.HasSign(7));
  ASSERT_TRUE(FileParts::Open(file.path(), kMark)->Sign(7).ok());
  EXPECT_TRUE(file.HasSign(7));
  EXPECT_FALSE(file.HasSign(8));
}

TEST_F(PartedFileTest, PartsOfARequestDoNotOverlap) {
  const PartedFile file = Create({30, 30});
  const FileParts parts = FileParts::Open(file.path(), kMark).value();
  const FilePart row{.extents = {30},
                     .first = {0},
                     .count = {30},
                     .stride = {8},
                     .offset = 128};
  EXPECT_TRUE(parts.CheckAll(std::vector<FilePart>(30, row)).ok());
  EXPECT_FALSE(parts.CheckAll(std::vector<FilePart>(40, row)).ok());
  const FilePart again{.extents = {3000, 3000, 3000},
                       .first = {0, 0, 0},
                       .count = {2, 500, 2},
                       .stride = {8, 8, 8},
                       .offset = 128};
  EXPECT_FALSE(parts.CheckAll({again}).ok());
}

TEST_F(PartedFileTest, TakesNoOtherFileForItsOwn) {
  PartedFile file = Create({4});
  const std::string other = folder_ / "other";
  std::ofstream(other) << std::string(500, 'V');
  ASSERT_EQ(rename(other.c_str(), file.path().c_str()), 0);
  const std::string temporary = file.path();
  EXPECT_EQ(file.Commit().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::ifstream(path_).good());
  EXPECT_EQ(ContentOf(temporary), std::string(500, 'V'));
}

TEST_F(PartedFileTest, NamesMayBeLong) {
  const std::string path = folder_ / (std::string(250, 'u') + ".npy");
  PartedFile file = PartedFile::Create(path, HeaderOf({4}), 32, kMark).value();
  EXPECT_TRUE(file.Commit().ok());
  EXPECT_NE(ContentOf(path), "");
}

TEST_F(PartedFileTest, LeavesWhatWasThereUntilItIsWhole) {
  std::ofstream(path_) << "before";
  std::string temporary;
  {
    const PartedFile file = Create({4});
    temporary = file.path();
    EXPECT_EQ(ContentOf(path_), "before");
    EXPECT_NE(ContentOf(temporary), "");
  }
  EXPECT_EQ(ContentOf(path_), "before");
  EXPECT_FALSE(std::ifstream(temporary).good());
}

}  // namespace
}  // namespace dogged
