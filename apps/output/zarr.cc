#include "apps/output/zarr.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/output/file.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
              "values are written to chunks as they lie in memory");

constexpr absl::string_view kMetadata = "zarr.json";
// The longest description of a store; an array has none longer.
constexpr int64_t kMetadataBytesMax = 1 << 20;

absl::string_view TypeName(ElementType type) {
  switch (type) {
    case ElementType::kDouble:
      return "float64";
    case ElementType::kFloat:
      return "float32";
    case ElementType::kInt64:
      return "int64";
  }
  return "";
}

// Bytes of `bytes / ElementBytes(type)` elements that no array has: NaN, or 0.
std::string FillOf(ElementType type, int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  const auto fill = [&out](auto nan) {
    for (size_t at = 0; at < out.size(); at += sizeof(nan)) {
      std::memcpy(out.data() + at, &nan, sizeof(nan));
    }
  };
  if (type == ElementType::kDouble) {
    fill(std::numeric_limits<double>::quiet_NaN());
  }
  if (type == ElementType::kFloat) {
    fill(std::numeric_limits<float>::quiet_NaN());
  }
  return out;
}

std::vector<int64_t> Numbers(const IndexVector& all) {
  return {all.begin(), all.end()};
}

std::string MetadataOf(const ArrayDescription& description,
                       const Shape& chunk) {
  using Json = nlohmann::ordered_json;
  Json fill = 0;
  if (description.type != ElementType::kInt64) fill = "NaN";
  Json attributes = {{"array", description.array},
                     {"labels", description.labels}};
  if (!description.indices.first.empty()) {
    attributes["first"] = Numbers(description.indices.first);
    attributes["step"] = Numbers(description.indices.step);
    for (const AxisScale& axis : description.indices.axes) {
      attributes["spacing"].push_back(axis.spacing);
      attributes["unit"].push_back(axis.unit);
    }
  }
  Json out = {
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", Numbers(description.shape)},
      {"data_type", std::string(TypeName(description.type))},
      {"chunk_grid",
       {{"name", "regular"},
        {"configuration", {{"chunk_shape", Numbers(chunk)}}}}},
      {"chunk_key_encoding",
       {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
      {"fill_value", fill},
      {"codecs", Json::array({{{"name", "bytes"},
                               {"configuration", {{"endian", "little"}}}}})},
      {"attributes", attributes}};
  if (!description.names.empty()) out["dimension_names"] = description.names;
  return out.dump(2) + "\n";
}

bool IsNumber(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

// Errors: kInvalidArgument if more than an array's own files would be lost
// with the folder.
absl::Status CheckIsStore(absl::string_view path, const std::string& folder) {
  const auto refused = [path](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot replace: ", why,
                     "; write to another name, or remove it first"));
  };
  absl::StatusOr<InputFile> file =
      InputFile::Open(absl::StrCat(folder, "/", kMetadata));
  if (!file.ok()) {
    return refused("is a folder that is no Zarr array, without a zarr.json");
  }
  std::string text(
      static_cast<size_t>(std::min(file->size(), kMetadataBytesMax)), '\0');
  DOGGED_RETURN_IF_ERROR(file->Read(absl::MakeSpan(text.data(), text.size())));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("node_type", nlohmann::json()) != "array")
    return refused("is a folder whose zarr.json is not that of an array");
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name == kMetadata || name == "c") continue;
    return refused(absl::StrCat("is a folder that holds ", name, ", too"));
  }
  const std::string chunks = absl::StrCat(folder, "/c");
  if (!error && fs::is_directory(chunks, error)) {
    auto entry = fs::recursive_directory_iterator(chunks, error);
    for (; !error && entry != fs::end(entry); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (IsNumber(name)) continue;
      return refused(absl::StrCat("holds ", name, " among its chunks"));
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return FileError(path, "cannot read", error.value());
  }
  return absl::OkStatus();
}

// A store's place: links followed.
struct Place {
  std::string target;
  std::optional<mode_t> mode;  // of the store that is there
};

absl::StatusOr<Place> PlaceOf(absl::string_view path) {
  Place out{.target = ResolveLinks(std::string(path)), .mode = std::nullopt};
  struct stat status = {};
  if (stat(out.target.c_str(), &status) != 0) {
    if (errno != ENOENT) return FileError(path, "cannot create", errno);
    DOGGED_RETURN_IF_ERROR(CheckFolderOf(path, out.target));
    return out;
  }
  if (!S_ISDIR(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": cannot replace: is a file, and a .zarr is a folder; write to "
        "another name, or remove it first"));
  }
  if (access(out.target.c_str(), W_OK) != 0) {
    return FileError(path, "cannot write", errno);
  }
  DOGGED_RETURN_IF_ERROR(CheckIsStore(path, out.target));
  out.mode = status.st_mode & 0777;
  return out;
}

// A store beside its place, until it is whole: a file that this process holds,
// and a folder of its name with kUnfinishedFolder behind it.
class StoreBeside {
 public:
  // Errors: as FileError().
  static absl::StatusOr<StoreBeside> Make(absl::string_view path,
                                          const Place& place) {
    std::string name;
    const int file = OpenBeside(place.target, 0600, name);
    if (file < 0) return FileError(path, "cannot create", errno);
    return MakeFolder(path, place, file, std::move(name));
  }
  // The folder for a file that is there, `name`, open as `file`.
  static absl::StatusOr<StoreBeside> MakeFolder(absl::string_view path,
                                                const Place& place, int file,
                                                std::string name) {
    StoreBeside out(place.target, std::move(name), file);
    const std::string folder = out.folder();
    const mode_t mode = place.mode.value_or(0777);
    if (mkdir(folder.c_str(), mode) == 0) return out;
    std::error_code ignored;
    // A process of this number has left it there.
    fs::remove_all(folder, ignored);
    if (mkdir(folder.c_str(), mode) == 0) return out;
    return FileError(path, "cannot create", errno);
  }
  StoreBeside(StoreBeside&& other) noexcept
      : target_(std::move(other.target_)),
        name_(std::move(other.name_)),
        file_(std::exchange(other.file_, -1)) {}
  StoreBeside& operator=(StoreBeside&&) = delete;
  ~StoreBeside() {
    if (file_ < 0) return;
    RemoveUnfinished(target_, name_);
    close(file_);
  }

  const std::string& name() const { return name_; }
  int file() const { return file_; }
  std::string folder() const { return absl::StrCat(name_, kUnfinishedFolder); }
  std::string former() const { return absl::StrCat(name_, kFormerFolder); }

 private:
  StoreBeside(std::string target, std::string name, int file)
      : target_(std::move(target)), name_(std::move(name)), file_(file) {}
  std::string target_;
  std::string name_;
  int file_;  // -1: moved from
};

// `path` is what the user calls the store that has it.
absl::Status Sync(absl::string_view path, const std::string& name) {
  const int descriptor = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return FileError(path, "cannot write", errno);
  // Not every file system can sync.
  const bool is_synced =
      fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
  const int system_error = errno;
  close(descriptor);
  return is_synced ? absl::OkStatus()
                   : FileError(path, "cannot write", system_error);
}

// UnfinishedStore: a folder that is filled with chunks, and takes its place
// once they are there.
class UnfinishedStore {
 public:
  UnfinishedStore(absl::string_view path, Place place, StoreBeside beside)
      : path_(path),
        place_(std::move(place)),
        beside_(std::move(beside)),
        folder_(beside_.folder()) {}
  const std::string& path() const { return path_; }  // as the user wrote it
  const std::string& folder() const { return folder_; }
  const StoreBeside& beside() const { return beside_; }

  // Errors: as FileError.
  absl::Status Finish(const ArrayDescription& description, const Shape& chunk) {
    const std::string metadata = MetadataOf(description, chunk);
    const absl::string_view pieces[] = {metadata};
    DOGGED_RETURN_IF_ERROR(
        Named(WriteWholeFile(absl::StrCat(folder_, "/", kMetadata), pieces)));
    DOGGED_RETURN_IF_ERROR(SyncAll());
    return TakePlace();
  }

 private:
  // Errors name the store, not the file in it.
  absl::Status Named(const absl::Status& status) const {
    if (status.ok()) return status;
    std::string text(status.message());
    const size_t begin = text.find(folder_);
    if (begin != std::string::npos) {
      text.replace(begin, folder_.size(), path_);
    }
    return absl::Status(status.code(), text);
  }

  absl::Status SyncAll() const {
    std::error_code error;
    auto entry = fs::recursive_directory_iterator(folder_, error);
    for (; !error && entry != fs::end(entry); entry.increment(error)) {
      DOGGED_RETURN_IF_ERROR(Sync(path_, entry->path().string()));
    }
    if (error) return FileError(path_, "cannot write", error.value());
    return Sync(path_, folder_);
  }

  absl::Status TakePlace() {
    const char* const from = folder_.c_str();
    const char* const to = place_.target.c_str();
    // Somebody may have put something else there since it was created.
    DOGGED_ASSIGN_OR_RETURN(const Place now, PlaceOf(place_.target));
    if (!now.mode.has_value()) {
      return rename(from, to) == 0 ? absl::OkStatus()
                                   : FileError(path_, "cannot create", errno);
    }
    // The former store has the temporary name then, and goes with `beside_`.
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
      return absl::OkStatus();
    }
    // Some file systems can't exchange names. If the second step fails, or this
    // process is killed before it, the former store goes back.
    const bool is_moved = rename(to, beside_.former().c_str()) == 0;
    if (is_moved && rename(from, to) == 0) return absl::OkStatus();
    return FileError(path_, "cannot replace", errno);
  }

  const std::string path_;
  const Place place_;
  const StoreBeside beside_;
  const std::string folder_;
};

// To an open file that the user calls `shown`. Errors: as FileError.
absl::Status WriteAllAt(int file, absl::string_view shown, int64_t offset,
                        absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(shown, "cannot write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
  return absl::OkStatus();
}

// Makes the folders that a chunk is in. Errors: as FileError.
absl::Status MakeFoldersOf(const std::string& chunk,
                           const UnfinishedStore& store) {
  for (size_t at = chunk.find('/', 1); at != std::string::npos;
       at = chunk.find('/', at + 1)) {
    std::error_code error;
    fs::create_directory(store.folder() + chunk.substr(0, at), error);
    if (error) return FileError(store.path(), "cannot write", error.value());
  }
  return absl::OkStatus();
}

class ZarrStore : public ArrayFile {
 public:
  ZarrStore(absl::string_view path, Place place, StoreBeside beside,
            const ArrayDescription& description)
      : store_(path, std::move(place), std::move(beside)),
        description_(description),
        chunk_(ChunkShape(description.type, description.shape)) {
    const Shape& shape = description.shape;
    while (split_ + 1 < shape.size() && chunk_[split_] == 1) ++split_;
    row_bytes_ = ElementBytes(description.type);
    for (int d = split_ + 1; d < shape.size(); ++d) row_bytes_ *= shape[d];
  }
  ~ZarrStore() override {
    if (descriptor_ >= 0) close(descriptor_);
  }

  absl::Status WriteAt(int64_t offset, absl::string_view elements) override {
    const int64_t rows_bytes = Extent(description_.shape) * row_bytes_;
    const int64_t chunk_bytes = Extent(chunk_) * row_bytes_;
    while (!elements.empty()) {
      // Places along the dimensions before, and bytes behind them.
      const int64_t outer = offset / rows_bytes;
      const int64_t inner = offset % rows_bytes;
      const int64_t number = inner / chunk_bytes;
      const int64_t begin = inner % chunk_bytes;
      const int64_t end =
          std::min(chunk_bytes, rows_bytes - number * chunk_bytes);
      const auto taken = static_cast<size_t>(
          std::min<int64_t>(end - begin, std::ssize(elements)));
      DOGGED_RETURN_IF_ERROR(OpenChunk(outer, number, end, chunk_bytes));
      DOGGED_RETURN_IF_ERROR(WriteToChunk(begin, elements.substr(0, taken)));
      elements.remove_prefix(taken);
      offset += static_cast<int64_t>(taken);
    }
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    DOGGED_RETURN_IF_ERROR(CloseChunk());
    return store_.Finish(description_, chunk_);
  }

 private:
  int64_t Extent(const Shape& shape) const {
    return shape.empty() ? 1 : shape[split_];
  }

  // Opens chunk `number` along the split dimension, of place number `outer`
  // along those before; it has `bytes`, and the array's end at `end`.
  absl::Status OpenChunk(int64_t outer, int64_t number, int64_t end,
                         int64_t bytes) {
    if (descriptor_ >= 0 && outer == outer_ && number == number_) {
      return absl::OkStatus();
    }
    DOGGED_RETURN_IF_ERROR(CloseChunk());
    outer_ = outer;
    number_ = number;
    IndexVector at = description_.shape;
    for (int d = at.size() - 1; d >= 0; --d) {
      at[d] = d > split_    ? 0
              : d == split_ ? number
                            : outer % description_.shape[d];
      if (d < split_) outer /= description_.shape[d];
    }
    chunk_name_ = ChunkName(at);
    DOGGED_RETURN_IF_ERROR(MakeFoldersOf(chunk_name_, store_));
    descriptor_ = open((store_.folder() + chunk_name_).c_str(),
                       O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    struct stat status = {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      return ChunkError();
    }
    // A chunk has its whole shape, also where the array ends in it.
    if (status.st_size > 0 || end == bytes) return absl::OkStatus();
    return WriteToChunk(end, FillOf(description_.type, bytes - end));
  }

  absl::Status WriteToChunk(int64_t offset, absl::string_view bytes) {
    return WriteAllAt(descriptor_, store_.path() + chunk_name_, offset, bytes);
  }

  absl::Status CloseChunk() {
    // Some network file systems report a full disk only here.
    if (descriptor_ < 0 || close(std::exchange(descriptor_, -1)) == 0) {
      return absl::OkStatus();
    }
    return ChunkError();
  }

  absl::Status ChunkError() const {
    return FileError(store_.path() + chunk_name_, "cannot write", errno);
  }

  UnfinishedStore store_;
  const ArrayDescription description_;
  const Shape chunk_;
  // Chunks are parts along this dimension, single places along those before,
  // and whole along those behind.
  int split_ = 0;
  int64_t row_bytes_ = 0;
  // The chunk that is open: see OpenChunk().
  int descriptor_ = -1;  // -1: none
  int64_t outer_ = 0;
  int64_t number_ = 0;
  std::string chunk_name_;  // in the store: "/c/0/3"
};

// The store that several processes write.
class PartedStore : public PartedOutput {
 public:
  PartedStore(absl::string_view path, Place place, StoreBeside beside,
              const ArrayDescription& description, const Shape& chunk)
      : store_(path, std::move(place), std::move(beside)),
        description_(description),
        chunk_(chunk) {}

  // The files of all chunks. Errors: as FileError.
  absl::Status MakeChunks() const {
    const Shape& shape = description_.shape;
    if (ElementCount(shape) == 0) return absl::OkStatus();
    IndexVector at = shape;
    for (int d = 0; d < at.size(); ++d) at[d] = 0;
    while (true) {
      DOGGED_RETURN_IF_ERROR(MakeChunk(at));
      int d = at.size() - 1;
      while (d >= 0 && ++at[d] * chunk_[d] >= shape[d]) at[d--] = 0;
      if (d < 0) return absl::OkStatus();
    }
  }

  const std::string& path() const override { return store_.beside().name(); }
  absl::Status Commit() override {
    DOGGED_RETURN_IF_ERROR(CheckIsMarked(store_.path(), store_.beside().file(),
                                         store_.beside().name()));
    return store_.Finish(description_, chunk_);
  }

 private:
  absl::Status MakeChunk(const IndexVector& at) const {
    const std::string name = ChunkName(at);
    const std::string shown = store_.path() + name;
    DOGGED_RETURN_IF_ERROR(MakeFoldersOf(name, store_));
    const int file =
        open((store_.folder() + name).c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) return FileError(shown, "cannot create", errno);
    const absl::Status filled = FillChunk(at, file, shown);
    if (close(file) == 0 || !filled.ok()) return filled;
    return FileError(shown, "cannot write", errno);
  }

  // A chunk has its whole shape, also where the array ends in it.
  absl::Status FillChunk(const IndexVector& at, int file,
                         const std::string& shown) const {
    const int64_t bytes =
        ElementCount(chunk_) * ElementBytes(description_.type);
    // A full disk is found before anybody writes, where the file system can
    // tell.
    const int room = posix_fallocate(file, 0, bytes);
    if (room != 0 && room != EINVAL && room != EOPNOTSUPP) {
      return FileError(shown, "cannot write", room);
    }
    if (ftruncate(file, bytes) != 0) {
      return FileError(shown, "cannot write", errno);
    }
    IndexVector inside = chunk_;  // extents of the array's part of it
    for (int d = 0; d < at.size(); ++d) {
      inside[d] =
          std::min(chunk_[d], description_.shape[d] - at[d] * chunk_[d]);
    }
    return inside == chunk_ ? absl::OkStatus()
                            : FillBeyond(inside, file, shown);
  }

  // Zero, as there may be no label, within `inside`; fill beyond it.
  absl::Status FillBeyond(const IndexVector& inside, int file,
                          const std::string& shown) const {
    constexpr size_t kPieceMax = 1 << 20;
    const auto element = static_cast<size_t>(ElementBytes(description_.type));
    const std::string fill =
        FillOf(description_.type, ElementBytes(description_.type));
    const int64_t count = ElementCount(chunk_);
    IndexVector place = chunk_;
    for (int d = 0; d < place.size(); ++d) place[d] = 0;
    std::string piece;
    int64_t offset = 0;
    for (int64_t i = 0; i < count; ++i) {
      bool is_inside = true;
      for (int d = 0; d < place.size(); ++d) {
        is_inside = is_inside && place[d] < inside[d];
      }
      is_inside ? piece.append(element, '\0') : piece.append(fill);
      int d = place.size() - 1;
      while (d >= 0 && ++place[d] == chunk_[d]) place[d--] = 0;
      if (piece.size() < kPieceMax && i + 1 < count) continue;
      DOGGED_RETURN_IF_ERROR(WriteAllAt(file, shown, offset, piece));
      offset += std::ssize(piece);
      piece.clear();
    }
    return absl::OkStatus();
  }

  UnfinishedStore store_;
  const ArrayDescription description_;
  const Shape chunk_;
};

}  // namespace

std::string ChunkName(const IndexVector& at) {
  std::string out = "/c";
  for (const int64_t place : at) absl::StrAppend(&out, "/", place);
  return out;
}

Shape ChunkShape(ElementType type, const Shape& shape) {
  Shape out = shape;
  int64_t bytes = ElementBytes(type);
  for (int d = shape.size() - 1; d >= 0; --d) {
    const int64_t extent = std::max<int64_t>(1, shape[d]);
    const int64_t rows = std::max<int64_t>(1, kChunkBytesMax / bytes);
    const int64_t parts = (extent + rows - 1) / rows;
    out[d] = (extent + parts - 1) / parts;
    bytes *= out[d];
    // Behind a part, no other dimension can be together.
    if (parts == 1) continue;
    for (int before = 0; before < d; ++before) out[before] = 1;
    break;
  }
  return out;
}

absl::Status CheckStoreWritable(absl::string_view path) {
  DOGGED_ASSIGN_OR_RETURN(const Place place, PlaceOf(path));
  return StoreBeside::Make(path, place).status();
}

absl::StatusOr<std::unique_ptr<ArrayFile>> CreateZarr(
    absl::string_view path, const ArrayDescription& description) {
  // First: it may bring a store back.
  RemoveStaleBeside(ResolveLinks(std::string(path)));
  DOGGED_ASSIGN_OR_RETURN(Place place, PlaceOf(path));
  DOGGED_ASSIGN_OR_RETURN(StoreBeside beside, StoreBeside::Make(path, place));
  return std::make_unique<ZarrStore>(path, std::move(place), std::move(beside),
                                     description);
}

absl::StatusOr<std::unique_ptr<PartedOutput>> CreatePartedZarr(
    absl::string_view path, const ArrayDescription& description,
    const Shape& chunk, const Digest& mark) {
  // As of CreateZarr().
  RemoveStaleBeside(ResolveLinks(std::string(path)));
  DOGGED_ASSIGN_OR_RETURN(Place place, PlaceOf(path));
  if (!place.mode.has_value()) place.target = AbsolutePath(place.target);
  std::string name;
  // Agents may run as other users of the file's group.
  DOGGED_ASSIGN_OR_RETURN(const int file,
                          CreateMarked(path, place.target, 0666, mark, name));
  DOGGED_ASSIGN_OR_RETURN(
      StoreBeside beside,
      StoreBeside::MakeFolder(path, place, file, std::move(name)));
  auto out = std::make_unique<PartedStore>(
      path, std::move(place), std::move(beside), description, chunk);
  DOGGED_RETURN_IF_ERROR(out->MakeChunks());
  return out;
}

}  // namespace dogged
