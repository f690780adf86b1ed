// Adapter: the Engine port over RocksDB. A thread of its own does all work that
// may wait for the disk; RocksDB's write stalls reach 0.4 s.
//
// No write-ahead log: a put is durable once it was flushed, so replies to puts
// wait for the next flush. Values of 4 KB and more are RocksDB blobs, which
// compaction copies only out of files that are mostly dead.
#include "kvstore/storage/rocksdb_engine.h"

#include <fcntl.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

namespace fs = std::filesystem;

// Files in a directory: the lock of its user, the format, and the database
// itself.
constexpr char kLockName[] = "lock";
constexpr char kFormatName[] = "format";
constexpr char kDatabaseName[] = "values";
constexpr char kFormat[] = "dogged values 1";

constexpr uint64_t kBlobBytesMin = 4096;
constexpr size_t kWriteBufferBytes = 64 << 20;
// Dead bytes that are always left where they are.
constexpr uint64_t kDeadBytesMin = 256 << 20;

rocksdb::Slice ToSlice(absl::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

// The first key after all that begin with `prefix`.
std::string AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

// Instead of RocksDB's LOG file: that lies on the same disk, and where that is
// full, the line after the first that did not fit ends the process (it asserts
// that a file is not written to after an error). All that we need to know comes
// back as a status.
class NoLog : public rocksdb::Logger {
 public:
  NoLog() : Logger(rocksdb::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

rocksdb::Options DatabaseOptions() {
  rocksdb::Options out;
  out.create_if_missing = true;
  out.enable_blob_files = true;
  out.min_blob_size = kBlobBytesMin;
  out.enable_blob_garbage_collection = true;
  out.blob_garbage_collection_age_cutoff = 0;  // until much is dead
  out.write_buffer_size = kWriteBufferBytes;
  // Numbers with all their bits do not get smaller.
  out.compression = rocksdb::kNoCompression;
  out.max_background_jobs = 2;
  out.max_open_files = 256;
  out.info_log = std::make_shared<NoLog>();
  // A cache of blocks grows with each job, up to 8 MB of an agent's memory,
  // and few are read again: the system has their pages, too.
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return out;
}

// A lock on DIR that ends with this process. The file stays.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  ~DirectoryLock() {
    if (fd_ >= 0) close(fd_);
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  absl::Status Take(const std::string& directory) {
    const std::string path = absl::StrCat(directory, "/", kLockName);
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "directory ", directory, " can't be written: ", strerror(errno)));
    }
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(fd_, F_SETLK, &lock) == 0) return absl::OkStatus();
    if (errno != EAGAIN && errno != EACCES) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "directory ", directory, " can't be locked: ", strerror(errno)));
    }
    fcntl(fd_, F_GETLK, &lock);
    return absl::FailedPreconditionError(absl::StrCat(
        "directory ", directory, " is in use by another agent, process ",
        lock.l_pid, ": each needs one of its own"));
  }

 private:
  int fd_ = -1;
};

// DIR holds values of this format, or nothing at all yet.
absl::Status CheckFormat(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kFormatName);
  std::ifstream file(path);
  std::string line;
  if (file && std::getline(file, line)) {
    if (line == kFormat) return absl::OkStatus();
    // The directory has another version, or a foreign format.
    constexpr size_t kShownMax = 40;
    return absl::FailedPreconditionError(
        absl::StrCat("directory ", directory, " holds \"",
                     absl::CHexEscape(line.substr(0, kShownMax)),
                     "\", this agent reads and writes \"", kFormat,
                     "\": give it another directory, or empty this one"));
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name == kLockName || absl::StartsWith(name, kFormatName)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("directory ", directory, " holds ", name,
                     " and is no agent's: give it one that is empty"));
  }
  const std::string partial = absl::StrCat(path, ".partial");
  std::ofstream(partial) << kFormat << "\n";
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "directory ", directory, " can't be written: ", strerror(errno)));
  }
  return absl::OkStatus();
}

class RocksDbEngine : public Engine {
 public:
  explicit RocksDbEngine(const RocksDbOptions& options) : options_(options) {}

  ~RocksDbEngine() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Open() {
    std::error_code error;
    fs::create_directories(options_.directory, error);
    if (error) {
      return absl::ResourceExhaustedError(
          absl::StrCat("directory ", options_.directory,
                       " can't be made: ", error.message()));
    }
    DOGGED_RETURN_IF_ERROR(lock_.Take(options_.directory));
    DOGGED_RETURN_IF_ERROR(CheckFormat(options_.directory));
    DOGGED_RETURN_IF_ERROR(KeepFromOthers());
    // RocksDB's threads and this engine's: the system may have none left.
    try {
      DOGGED_RETURN_IF_ERROR(OpenDatabase());
      thread_ = std::thread([this] { Work(); });
    } catch (const std::exception& exception) {
      return absl::ResourceExhaustedError(
          absl::StrCat("directory ", options_.directory,
                       " can't be opened: no memory or no thread for it (",
                       exception.what(), "); raise `ulimit -v`"));
    }
    return absl::OkStatus();
  }

  void Submit(EngineRequest request) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    changed_.notify_one();
  }

  void Poll(std::vector<EngineReply>& replies) override {
    const std::lock_guard lock(mutex_);
    for (EngineReply& reply : replies_) replies.push_back(std::move(reply));
    replies_.clear();
  }

  absl::Duration BusyTime() const override {
    return absl::Nanoseconds(busy_nanoseconds_.load(std::memory_order_relaxed));
  }

 private:
  std::string DamageWords(const rocksdb::Status& status) const {
    return absl::StrCat(
        "directory ", options_.directory, " is damaged (", status.ToString(),
        "); values are made again where they are needed: empty it, or give "
        "another one");
  }

  // RocksDB meets bytes that it can't read when it moves old values, too, and
  // writes nothing more beside them, nor where files have gone.
  static bool IsDamage(const rocksdb::Status& status) {
    return status.IsCorruption() || status.IsPathNotFound();
  }

  absl::Status WriteError(const rocksdb::Status& status) const {
    if (IsDamage(status) && options_.on_damage) {
      options_.on_damage(DamageWords(status));
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("directory ", options_.directory,
                     " takes no more: ", status.ToString()));
  }

  // Programs, inputs and results are their user's: RocksDB's files may be
  // anybody's to read, so their folder is not.
  absl::Status KeepFromOthers() const {
    const std::string path =
        absl::StrCat(options_.directory, "/", kDatabaseName);
    std::error_code error;
    fs::create_directory(path, error);
    if (!error) {
      fs::permissions(path, fs::perms::owner_all, error);
    }
    if (!error) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "directory ", path,
        " can't be made one for its owner alone: ", error.message()));
  }

  absl::Status OpenDatabase() {
    rocksdb::DB* database = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(
        DatabaseOptions(), absl::StrCat(options_.directory, "/", kDatabaseName),
        &database);
    if (IsDamage(opened)) {
      return absl::DataLossError(DamageWords(opened));
    }
    if (!opened.ok()) return WriteError(opened);
    database_.reset(database);
    collects_ = false;
    return absl::OkStatus();
  }

  // After an error RocksDB refuses writes until it has flushed its memory,
  // which it may never be able to. All those writes were answered with the
  // error, so they are given up. Without success there is no database, and the
  // next request tries again.
  absl::Status Recover() {
    if (database_ != nullptr) {
      (void)database_->SetDBOptions({{"avoid_flush_during_shutdown", "true"}});
      database_.reset();
    }
    const absl::Status opened = OpenDatabase();
    if (absl::IsDataLoss(opened) && options_.on_damage) {
      options_.on_damage(std::string(opened.message()));
    }
    return opened;
  }

  absl::Status ReadError(const rocksdb::Status& status) const {
    if (status.ok()) return absl::OkStatus();
    if (status.IsNotFound()) return absl::NotFoundError("no such key");
    return absl::DataLossError(
        absl::StrCat("directory ", options_.directory,
                     " can't be read: ", status.ToString()));
  }

  void Work() {
    std::deque<EngineRequest> batch;
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const bool flush_is_due =
          !unflushed_.empty() && (clock_.Now() >= flush_deadline_ ||
                                  unflushed_bytes_ >= options_.flush_bytes);
      if (flush_is_due || !requests_.empty()) {
        if (!flush_is_due) batch.swap(requests_);
        lock.unlock();
        const absl::Time begin = clock_.Now();
        if (flush_is_due) Flush();
        for (EngineRequest& request : batch) {
          // An erasure makes space for what is put behind it.
          if (request.kind == EngineRequest::Kind::kPut) FreeSpace();
          Serve(request);
        }
        FreeSpace();
        batch.clear();
        busy_nanoseconds_ += absl::ToInt64Nanoseconds(clock_.Now() - begin);
        lock.lock();
      } else if (unflushed_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_for(
            lock, absl::ToChronoMicroseconds(flush_deadline_ - clock_.Now()));
      }
    }
  }

  void Reply(EngineReply reply) {
    bool was_empty;
    {
      const std::lock_guard lock(mutex_);
      was_empty = replies_.empty();
      replies_.push_back(std::move(reply));
    }
    if (was_empty && options_.on_reply) options_.on_reply();
  }

  void Serve(const EngineRequest& request) {
    EngineReply reply{.kind = request.kind, .ticket = request.ticket};
    if (database_ == nullptr) reply.status = Recover();
    if (!reply.status.ok()) return Reply(std::move(reply));
    switch (request.kind) {
      case EngineRequest::Kind::kGet:
        Get(request, reply);
        break;
      case EngineRequest::Kind::kPut:
        Put(request);
        return;  // the reply follows from the flush
      case EngineRequest::Kind::kErase:
        if (auto s = database_->Delete(write_options_, ToSlice(request.key));
            !s.ok()) {
          reply.status = WriteError(s);
        }
        break;
      case EngineRequest::Kind::kErasePrefix:
        ErasePrefix(request.key, std::move(reply));
        return;  // the reply follows from FreeSpace()
      case EngineRequest::Kind::kScan:
        Scan(request, reply);
        break;
    }
    Reply(std::move(reply));
  }

  void Get(const EngineRequest& request, EngineReply& reply) {
    auto found = std::make_shared<std::string>();
    reply.status = ReadError(database_->Get(rocksdb::ReadOptions(),
                                            ToSlice(request.key), found.get()));
    if (reply.status.ok()) reply.value = Bytes(found, *found);
  }

  void Put(const EngineRequest& request) {
    const rocksdb::Slice key = ToSlice(request.key);
    const std::array<rocksdb::Slice, 2> value = {ToSlice(request.value.view()),
                                                 ToSlice(request.rest.view())};
    rocksdb::WriteBatch batch;
    rocksdb::Status status = batch.Put(
        rocksdb::SliceParts(&key, 1),
        rocksdb::SliceParts(value.data(), static_cast<int>(value.size())));
    if (status.ok()) status = database_->Write(write_options_, &batch);
    if (unflushed_.empty()) {
      flush_deadline_ = clock_.Now() + options_.flush_interval;
    }
    unflushed_bytes_ += request.value.size() + request.rest.size();
    unflushed_.push_back(
        {.kind = request.kind,
         .ticket = request.ticket,
         .status = status.ok() ? absl::OkStatus() : WriteError(status)});
  }

  void Flush() {
    const rocksdb::Status status = database_->Flush(rocksdb::FlushOptions());
    if (!status.ok()) (void)Recover();
    for (EngineReply& reply : unflushed_) {
      if (reply.status.ok() && !status.ok()) reply.status = WriteError(status);
      Reply(std::move(reply));
    }
    unflushed_.clear();
    unflushed_bytes_ = 0;
    if (status.ok()) ChooseCollection();
  }

  // Bytes of values in all files, and of those that are dead.
  struct Sizes {
    uint64_t all = 0;
    uint64_t dead = 0;
    bool AreMostDead() const { return dead > all / 2; }
  };
  Sizes ValueSizes() const {
    Sizes out;
    (void)database_->GetIntProperty(rocksdb::DB::Properties::kLiveBlobFileSize,
                                    &out.all);
    (void)database_->GetIntProperty(
        rocksdb::DB::Properties::kLiveBlobFileGarbageSize, &out.dead);
    return out;
  }

  // A file is deleted once all its values are dead. Live values are moved only
  // where dead ones are more than half, so no more bytes are moved than were
  // written.
  void ChooseCollection() {
    const Sizes sizes = ValueSizes();
    const bool must_collect = sizes.AreMostDead() && sizes.dead > kDeadBytesMin;
    if (must_collect == collects_) return;
    const rocksdb::Status set = database_->SetOptions(
        {{"blob_garbage_collection_age_cutoff", must_collect ? "1.0" : "0.0"}});
    if (set.ok()) collects_ = must_collect;
  }

  void ErasePrefix(const std::string& prefix, EngineReply reply) {
    // An erasure makes space, so it must not fail for writes that do not fit.
    if (!unflushed_.empty()) Flush();
    if (database_ == nullptr) reply.status = Recover();
    if (reply.status.ok()) {
      const std::string end = AfterPrefix(prefix);
      const rocksdb::Status status = database_->DeleteRange(
          write_options_, database_->DefaultColumnFamily(), ToSlice(prefix),
          ToSlice(end));
      if (!status.ok()) reply.status = WriteError(status);
      if (erased_to_.empty()) erased_from_ = prefix;
      erased_from_ = std::min(erased_from_, prefix);
      erased_to_ = std::max(erased_to_, end);
    }
    erasures_.push_back(std::move(reply));
  }

  // The space of what was erased is wanted back, not only the keys gone: for
  // all erasures that come together at once, as each rewrites the keys of
  // others. The values of others stay where they are, unless most are dead.
  void FreeSpace() {
    if (erasures_.empty()) return;
    absl::Status error;
    if (database_ != nullptr && !erased_to_.empty()) {
      const rocksdb::Slice from = ToSlice(erased_from_);
      const rocksdb::Slice to = ToSlice(erased_to_);
      rocksdb::CompactRangeOptions compact;
      compact.bottommost_level_compaction =
          rocksdb::BottommostLevelCompaction::kForce;
      rocksdb::Status status = database_->CompactRange(compact, &from, &to);
      if (status.ok() && ValueSizes().AreMostDead()) {
        compact.blob_garbage_collection_policy =
            rocksdb::BlobGarbageCollectionPolicy::kForce;
        compact.blob_garbage_collection_age_cutoff = 1;
        status = database_->CompactRange(compact, nullptr, nullptr);
      }
      if (!status.ok()) error = WriteError(status);
    }
    erased_to_.clear();
    for (EngineReply& reply : erasures_) {
      if (reply.status.ok()) reply.status = error;
      Reply(std::move(reply));
    }
    erasures_.clear();
  }

  void Scan(const EngineRequest& request, EngineReply& reply) {
    const std::unique_ptr<rocksdb::Iterator> it(
        database_->NewIterator(rocksdb::ReadOptions()));
    const std::string& from = std::max(request.key, request.after);
    int64_t bytes = 0;
    for (it->Seek(ToSlice(from)); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString();
      if (!absl::StartsWith(key, request.key)) break;
      if (key == request.after) continue;
      if (bytes >= request.bytes_max) {
        reply.more = true;
        break;
      }
      reply.found.emplace_back(key, Bytes(it->value().ToString()));
      bytes += std::ssize(it->value());
    }
    reply.status = ReadError(it->status());
  }

  const RocksDbOptions options_;
  SystemClock clock_;
  DirectoryLock lock_;
  std::unique_ptr<rocksdb::DB> database_;
  const rocksdb::WriteOptions write_options_ = [] {
    rocksdb::WriteOptions out;
    out.disableWAL = true;
    return out;
  }();

  // Used by the engine's thread only.
  std::vector<EngineReply> unflushed_;  // written, not yet durable
  int64_t unflushed_bytes_ = 0;
  absl::Time flush_deadline_;
  bool collects_ =
      false;  // compaction moves values out of files with dead ones
  std::vector<EngineReply> erasures_;  // done, their space not freed yet
  std::string erased_from_;            // their first key
  std::string erased_to_;              // the one behind the last; empty: none

  std::atomic<int64_t> busy_nanoseconds_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EngineRequest> requests_;  // under mutex_
  std::vector<EngineReply> replies_;    // under mutex_
  bool stop_ = false;                   // under mutex_
  std::thread thread_;                  // last: it uses all of the above
};

}  // namespace

// Fits MakeRocksDbEngine.
extern "C" Engine* DoggedMakeRocksDbEngine(const RocksDbOptions& options,
                                           absl::Status& status) {
  auto engine = std::make_unique<RocksDbEngine>(options);
  status = engine->Open();
  return status.ok() ? engine.release() : nullptr;
}

}  // namespace dogged
