// Aim: a store is whole or not there, takes the place of nothing but a store,
// and has chunks of the size that it says.
// Method: stores in folders of the test's own, a limit of file sizes in a
// child. zarr_test.py reads what the command writes.
#include "apps/output/zarr.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ArrayDescription Doubles(const Shape& shape) {
  return {.shape = shape,
          .array = "u",
          .labels = "u(0:4)",
          .names = {},
          .indices = {}};
}

absl::Status Write(const std::string& path, const Shape& shape,
                   const std::string& elements) {
  auto store = CreateZarr(path, Doubles(shape));
  if (!store.ok()) return store.status();
  const absl::Status appended = (*store)->Append(elements);
  return appended.ok() ? (*store)->Commit() : appended;
}

std::string Bytes(int64_t elements, char fill) {
  return std::string(static_cast<size_t>(elements) * 8, fill);
}

TEST(ChunkShape, IsRowsTogether) {
  constexpr auto kDouble = ElementType::kDouble;
  EXPECT_EQ(ChunkShape(kDouble, {}), Shape{});
  EXPECT_EQ(ChunkShape(kDouble, {5, 3}), (Shape{5, 3}));
  EXPECT_EQ(ChunkShape(kDouble, {0, 3}), (Shape{1, 3}));
  EXPECT_EQ(ChunkShape(kDouble, {2000, 1000}), (Shape{1000, 1000}));
  EXPECT_EQ(ChunkShape(kDouble, {2000, 1001}), (Shape{1000, 1001}));
  EXPECT_EQ(ChunkShape(kDouble, {7, 3, 3 << 20}), (Shape{1, 1, 1 << 20}));
  EXPECT_EQ(ChunkShape(ElementType::kFloat, {7, 3, 1 << 20}),
            (Shape{1, 2, 1 << 20}));
}

// Not much less than the bound either, where there is more.
TEST(ChunkShape, IsOfSomeMegabytes) {
  for (int64_t rows = 1; rows < 3'000'000; rows = rows * 5 / 3 + 1) {
    for (const int64_t row : {int64_t{1}, int64_t{17}, int64_t{90'000},
                              int64_t{1'000'001}, int64_t{40'000'000}}) {
      const Shape shape{2, rows, row};
      const int64_t all = ElementCount(shape) * 8;
      const int64_t chunk =
          ElementCount(ChunkShape(ElementType::kDouble, shape)) * 8;
      EXPECT_LE(chunk, kChunkBytesMax) << shape.ToString();
      EXPECT_GE(chunk, std::min(all, kChunkBytesMax / 3)) << shape.ToString();
    }
  }
}

TEST(Zarr, ChunksHaveTheirWholeShape) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  // 1500 rows are two chunks of 750, 2001 three of 667: one short.
  ASSERT_TRUE(Write(path, {1500, 1000}, Bytes(1'500'000, 'a')).ok());
  EXPECT_EQ(ContentOf(path + "/c/0/0"), Bytes(750'000, 'a'));
  EXPECT_EQ(ContentOf(path + "/c/1/0"), Bytes(750'000, 'a'));
  ASSERT_TRUE(Write(path, {2, 1001, 2000}, Bytes(4'004'000, 'b')).ok());
  for (const std::string chunk : {"0", "1"}) {
    EXPECT_EQ(ContentOf(path + "/c/" + chunk + "/0/0").size(), 501 * 16'000u);
    const std::string last = ContentOf(path + "/c/" + chunk + "/1/0");
    EXPECT_EQ(last.substr(0, 500 * 16'000), Bytes(1'000'000, 'b'));
    std::string nans;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < 2000; ++i) {
      nans.append(reinterpret_cast<const char*>(&nan), 8);
    }
    EXPECT_EQ(last.substr(500 * 16'000), nans);
  }
  EXPECT_EQ(folder.FileCount(), 1);
}

TEST(Zarr, PiecesMayBeAny) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  auto store = CreateZarr(path, Doubles({3, 1'000'000}));
  ASSERT_TRUE(store.ok()) << store.status();
  for (int64_t left = 24'000'000; left > 0; left -= 1'000'003) {
    const auto bytes = static_cast<size_t>(std::min<int64_t>(left, 1'000'003));
    ASSERT_TRUE((*store)->Append(std::string(bytes, 'x')).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "before it is whole";
  ASSERT_TRUE((*store)->Commit().ok());
  for (const std::string chunk : {"0", "1", "2"}) {
    EXPECT_EQ(ContentOf(path + "/c/" + chunk + "/0"), Bytes(1'000'000, 'x'));
  }
}

// The order of pieces is no matter.
TEST(Zarr, PiecesMayComeAnyhow) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  constexpr int64_t kBytes = 2 * 1001 * 16'000;
  std::string all(kBytes, '\0');
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<char>('a' + i / 1'000 % 26);
  }
  ASSERT_TRUE(Write(path, {2, 1001, 2000}, all).ok());
  const auto chunks = [&path] {
    std::string out;
    for (const char* chunk : {"0/0", "0/1", "1/0", "1/1"}) {
      out += ContentOf(path + "/c/" + chunk + "/0");
    }
    return out;
  };
  const std::string expected = chunks();
  auto store = CreateZarr(path, Doubles({2, 1001, 2000}));
  ASSERT_TRUE(store.ok()) << store.status();
  constexpr int64_t kPiece = 700'001;
  constexpr int64_t kPieces = kBytes / kPiece + 1;
  for (int64_t i = 0; i < kPieces; ++i) {
    const int64_t offset = i * 7 % kPieces * kPiece;  // 46 pieces
    ASSERT_TRUE((*store)
                    ->WriteAt(offset, absl::string_view(all).substr(
                                          static_cast<size_t>(offset), kPiece))
                    .ok());
  }
  ASSERT_TRUE((*store)->Commit().ok());
  EXPECT_EQ(chunks(), expected);
}

TEST(LastFirst, MovesTheLastDimension) {
  Value value = Value::Allocate(ElementType::kInt64, {2, 2, 3});
  for (int64_t i = 0; i < 12; ++i) {
    value.mutable_span<int64_t>()[i] = i;
  }
  value.Seal();
  const Value turned = LastFirst(value);
  EXPECT_EQ(turned.shape(), (Shape{3, 2, 2}));
  EXPECT_THAT(turned.span<int64_t>(),
              ::testing::ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TEST(Zarr, OneNumberIsAChunk) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  ASSERT_TRUE(Write(path, {}, Bytes(1, 'x')).ok());
  EXPECT_EQ(ContentOf(path + "/c"), Bytes(1, 'x'));
  EXPECT_THAT(ContentOf(path + "/zarr.json"), HasSubstr("\"shape\": []"));
}

TEST(Zarr, TakesThePlaceOfAStore) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  ASSERT_TRUE(Write(path, {2, 1'000'000}, Bytes(2'000'000, 'a')).ok());
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  const std::string link = folder / "link.zarr";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(CheckStoreWritable(link).ok());
  ASSERT_TRUE(Write(link, {1, 5}, Bytes(5, 'b')).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ContentOf(path + "/c/0/0"), Bytes(5, 'b'));
  EXPECT_FALSE(std::filesystem::exists(path + "/c/1"));
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(folder.FileCount(), 2);
}

// A process that writes a store and is killed before that is whole.
class KilledWriter {
 public:
  explicit KilledWriter(const std::string& path) {
    int ends[2] = {};
    if (pipe(ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      auto store = CreateZarr(path, Doubles({2, 1'000'000}));
      const bool is_begun =
          store.ok() && (*store)->Append(Bytes(1'500'000, 'h')).ok();
      const ssize_t n = write(ends[1], is_begun ? "y" : "n", 1);
      while (n == 1) pause();
      _exit(1);
    }
    char answer = 0;
    has_begun_ = read(ends[0], &answer, 1) == 1 && answer == 'y';
    close(ends[0]);
    close(ends[1]);
  }
  ~KilledWriter() { Kill(); }

  bool has_begun() const { return has_begun_; }
  void Kill() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  bool has_begun_ = false;
};

// Such a store goes as the next one is written; one that is being written
// stays.
TEST(Zarr, RemovesWhatKilledWritersOfItLeft) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  std::filesystem::create_directory(folder / "u.zarr.part-of-mine");
  KilledWriter writer(path);
  ASSERT_TRUE(writer.has_begun());
  EXPECT_EQ(folder.FileCount(), 3) << "two of the writer's";
  ASSERT_TRUE(Write(path, {5}, Bytes(5, 'a')).ok());
  EXPECT_EQ(folder.FileCount(), 4) << "it still writes";
  writer.Kill();
  ASSERT_TRUE(Write(path, {5}, Bytes(5, 'b')).ok());
  EXPECT_EQ(ContentOf(path + "/c/0"), Bytes(5, 'b'));
  EXPECT_EQ(folder.FileCount(), 2);
}

// Where names can't be exchanged a writer may be killed as neither store has
// its place.
TEST(Zarr, PutsBackTheStoreThatAKilledWriterMoved) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  ASSERT_TRUE(Write(path, {5}, Bytes(5, 'a')).ok());
  const std::string mark = folder.Write("u.zarr.part-1", "");
  std::filesystem::rename(path, mark + "-former");
  {
    const auto store = CreateZarr(path, Doubles({5}));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(ContentOf(path + "/c/0"), Bytes(5, 'a'));
  }
  EXPECT_EQ(folder.FileCount(), 1);
  // A former store whose successor is in place is of no use any more.
  folder.Write("u.zarr.part-1", "");
  std::filesystem::copy(path, mark + "-former",
                        std::filesystem::copy_options::recursive);
  ASSERT_TRUE(Write(path, {5}, Bytes(5, 'b')).ok());
  EXPECT_EQ(ContentOf(path + "/c/0"), Bytes(5, 'b'));
  EXPECT_EQ(folder.FileCount(), 1);
}

// Nobody's files go with a store.
TEST(Zarr, TakesThePlaceOfNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  const auto expect = [&](absl::string_view words) {
    for (const absl::Status& status :
         {CheckStoreWritable(path), Write(path, {1}, Bytes(1, 'x'))}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(std::string(status.message()), StartsWith(path));
      EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    }
    EXPECT_EQ(folder.FileCount(), 1);
  };
  folder.Write("u.zarr", "x");
  expect("is a file, and a .zarr is a folder");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expect("is a folder that is no Zarr array, without a zarr.json");
  for (const char* other : {"", "{", "[1]", "{\"node_type\": \"group\"}"}) {
    folder.Write("u.zarr/zarr.json", other);
    expect("whose zarr.json is not that of an array");
  }
  folder.Write("u.zarr/zarr.json", "{\"node_type\": \"array\"}");
  folder.Write("u.zarr/notes.txt", "mine");
  expect("holds notes.txt, too");
  std::filesystem::remove(path + "/notes.txt");
  std::filesystem::create_directories(path + "/c/0");
  folder.Write("u.zarr/c/0/mine", "x");
  expect("holds mine among its chunks");
  std::filesystem::remove(path + "/c/0/mine");
  EXPECT_TRUE(Write(path, {1}, Bytes(1, 'x')).ok());
}

TEST(Zarr, MissingFoldersAreSaid) {
  const TemporaryFolder folder;
  const std::string path = folder / "none/u.zarr";
  for (const absl::Status& status :
       {CheckStoreWritable(path), Write(path, {1}, Bytes(1, 'x'))}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), StartsWith(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr("make it first"));
  }
}

TEST(Zarr, AWriteThatFailsHalfwayLeavesTheOldStore) {
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  ASSERT_TRUE(Write(path, {5}, Bytes(5, 'a')).ok());
  // The limit counts for the whole process, so a child has it.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 5'000'000, .rlim_max = 5'000'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const absl::Status status =
        Write(path, {3, 1'000'000}, Bytes(3'000'000, 'b'));
    const std::string words(status.message());
    const bool is_said =
        status.code() == absl::StatusCode::kResourceExhausted &&
        words.find(path + "/c/0/0: cannot write: ") == 0;
    _exit(is_said ? 0 : 1);
  }
  int wait_status = -1;
  ASSERT_EQ(waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(wait_status, 0);
  EXPECT_EQ(ContentOf(path + "/c/0"), Bytes(5, 'a'));
  EXPECT_EQ(folder.FileCount(), 1);
}

// Chunks of 2 x 3 of an array of 3 x 4: two end beyond it.
TEST(PartedStore, HasPartsOfItsChunks) {
  constexpr Digest kMark{.low = 1, .high = 2};
  const TemporaryFolder folder;
  const std::string path = folder / "u.zarr";
  auto store = CreatePartedZarr(path, Doubles({3, 4}), {2, 3}, kMark).value();
  const std::string chunks = store->path() + "-new";
  Value value = Value::Allocate(ElementType::kDouble, {1, 4});
  std::fill_n(value.mutable_span<double>().data(), 4, 7.0);
  value.Seal();
  int64_t not_finite = 0;
  // The last row's first three numbers.
  FilePart part{
      .extents = {1, 4}, .first = {0, 0}, .count = {1, 3}, .stride = {24, 8}};
  {
    FileParts parts =
        FileParts::Open(chunks + ChunkName({1, 0}), kMark).value();
    const Digest written = parts.Write(part, value, not_finite).value();
    EXPECT_EQ(parts.Read(part).value(), written);
    part.offset = 32;
    EXPECT_EQ(parts.Write(part, value, not_finite).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(parts.Sign(3).code(), absl::StatusCode::kInvalidArgument);
  }
  // Nothing else is opened by the mark, nor a chunk by another one.
  for (const char* const name :
       {"", "/zarr.json", "/c/../c/1/0", "/c/1/0/x", "/c/", "/c/2/0", "/c/1"}) {
    EXPECT_EQ(FileParts::Open(chunks + name, kMark).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << name;
  }
  EXPECT_EQ(FileParts::Open(chunks + "/c/1/0", {.low = 1}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(FileParts::Open(store->path(), kMark).value().Sign(5).ok());
  EXPECT_TRUE(store->HasSign(5));
  ASSERT_TRUE(store->Commit().ok());
  store.reset();
  const auto numbers = [&](const std::string& name) {
    std::vector<double> out(6);
    std::ifstream in(path + name, std::ios::binary);
    in.read(reinterpret_cast<char*>(out.data()), 48);
    return out;
  };
  EXPECT_THAT(numbers("/c/1/0"),
              ::testing::ElementsAre(7, 7, 7, ::testing::IsNan(),
                                     ::testing::IsNan(), ::testing::IsNan()));
  EXPECT_THAT(numbers("/c/0/1"),
              ::testing::ElementsAre(0, ::testing::IsNan(), ::testing::IsNan(),
                                     0, ::testing::IsNan(), ::testing::IsNan()))
      << "zero where there was no part";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}),
            1);
}

}  // namespace
}  // namespace dogged
