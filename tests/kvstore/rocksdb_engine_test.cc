// Aim: writes that RocksDB's engine has answered outlive a SIGKILL; errors name
// a directory that is in use, foreign, full or damaged. Method: real files;
// processes that are killed at moments drawn from printed seeds.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "kvstore/storage/rocksdb_module.h"
#include "tests/kvstore/engine_contract.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// Written by an engine's thread, before the reply that wakes the test.
std::string damage_words;

// An engine and a pipe that its replies ring.
class RealEngine {
 public:
  explicit RealEngine(const std::string& directory) {
    EXPECT_EQ(pipe(bell_), 0);
    auto engine = LoadRocksDbEngine(
        DOGGED_MODULE_FOLDER,
        {.directory = directory,
         .on_reply =
             [fd = bell_[1]] {
               if (write(fd, "!", 1) != 1) _exit(3);
             },
         .on_damage = [](const std::string& words) { damage_words = words; }});
    status_ = engine.status();
    if (engine.ok()) engine_ = *std::move(engine);
  }
  ~RealEngine() {
    engine_.reset();
    close(bell_[0]);
    close(bell_[1]);
  }
  const absl::Status& status() const { return status_; }
  Engine& engine() { return *engine_; }
  void Wait() {
    char rung;
    ASSERT_EQ(read(bell_[0], &rung, 1), 1);
  }
  PatientEngine Patient() {
    return PatientEngine(*engine_, [this] { Wait(); });
  }

 private:
  int bell_[2] = {-1, -1};
  absl::Status status_;
  std::unique_ptr<Engine> engine_;
};

// Runs `body` in a process of its own; its end. RocksDB keeps threads for ever,
// and a process with threads can't fork one that uses RocksDB: so this process
// opens nothing itself.
int InAProcess(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void CheckInAProcess(const std::function<void()>& body) {
  EXPECT_EQ(InAProcess(body), 0);
}

// The directory opens.
void MarkRecomputing(const std::string& directory,
                     const std::function<void(PatientEngine&)>& check) {
  CheckInAProcess([&] {
    RealEngine real(directory);
    ASSERT_TRUE(real.status().ok()) << real.status();
    PatientEngine patient = real.Patient();
    check(patient);
  });
}

// Expects that the directory is refused with this error.
void ExpectRefused(const std::string& directory, absl::StatusCode code,
                   const testing::Matcher<std::string>& words) {
  CheckInAProcess([&] {
    RealEngine real(directory);
    EXPECT_EQ(real.status().code(), code);
    EXPECT_THAT(std::string(real.status().message()), words);
  });
}

std::string ValueOf(uint64_t i) {
  return std::string(i % 2 == 0 ? 100 : 20000, static_cast<char>('a' + i % 26));
}

TEST(RocksDbEngine, KeepsTheContractOfEngines) {
  TemporaryFolder folder;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    MarkRecomputing(folder / std::to_string(seed), [&](PatientEngine& patient) {
      CheckAgainstAMap(patient, seed);
    });
  }
}

// Puts for ever; says in `answered` which tickets have come back.
[[noreturn]] void PutForEver(const std::string& directory, int answered) {
  RealEngine real(directory);
  std::vector<EngineReply> replies;
  for (uint64_t i = 1;; ++i) {
    real.engine().Submit({.kind = EngineRequest::Kind::kPut,
                          .ticket = i,
                          .key = absl::StrCat("key", i),
                          .value = Bytes(ValueOf(i))});
    if (i % 50 == 0) real.Wait();
    replies.clear();
    real.engine().Poll(replies);
    for (const EngineReply& reply : replies) {
      if (!reply.status.ok()) _exit(4);
      if (write(answered, &reply.ticket, 8) != 8) _exit(5);
    }
  }
}

TEST(RocksDbEngine, WhatWasAnsweredOutlivesAKill) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TemporaryFolder folder;
    int answered[2];
    ASSERT_EQ(pipe(answered), 0);
    const pid_t child = fork();
    if (child == 0) PutForEver(folder / "db", answered[1]);
    close(answered[1]);
    std::set<uint64_t> durable;
    const int64_t enough = 1 + Rng(seed).Below(500);
    uint64_t ticket = 0;
    while (std::ssize(durable) < enough && read(answered[0], &ticket, 8) == 8) {
      durable.insert(ticket);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(answered[0], &ticket, 8) == 8) durable.insert(ticket);
    close(answered[0]);
    EXPECT_GE(std::ssize(durable), enough);
    MarkRecomputing(folder / "db", [&](PatientEngine& patient) {
      for (const uint64_t i : durable) {
        const EngineReply got = patient.Get(absl::StrCat("key", i));
        ASSERT_TRUE(got.status.ok()) << "key" << i << ": " << got.status;
        ASSERT_TRUE(got.value.view() == ValueOf(i)) << "key" << i;
      }
    });
  }
}

TEST(RocksDbEngine, OneAgentAtATime) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [&](PatientEngine&) {
    ExpectRefused(folder / "db", absl::StatusCode::kFailedPrecondition,
                  AllOf(HasSubstr("in use by another agent"),
                        HasSubstr(std::to_string(getpid()))));
  });
  MarkRecomputing(folder / "db", [](PatientEngine&) {});
}

TEST(RocksDbEngine, RefusesAnotherFormat) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [](PatientEngine&) {});
  std::ofstream(folder / "db/format") << "dogged values 2\n";
  ExpectRefused(folder / "db", absl::StatusCode::kFailedPrecondition,
                AllOf(HasSubstr("\"dogged values 2\""),
                      HasSubstr("\"dogged values 1\"")));
  // Foreign contents are shown in printable form, and cut.
  std::ofstream(folder / "db/format") << "\x1b[2J" << std::string(1000, 'x');
  ExpectRefused(folder / "db", absl::StatusCode::kFailedPrecondition,
                AllOf(HasSubstr("\"\\x1b[2Jx"), Not(HasSubstr("\x1b")),
                      Not(HasSubstr(std::string(50, 'x')))));
}

TEST(RocksDbEngine, RefusesADirectoryOfSomethingElse) {
  TemporaryFolder folder;
  folder.Write("thesis.tex", "all of it");
  ExpectRefused(folder / "", absl::StatusCode::kFailedPrecondition,
                HasSubstr("thesis.tex"));
  EXPECT_EQ(ContentOf(folder / "thesis.tex"), "all of it");
}

TEST(RocksDbEngine, SaysThatADirectoryCantBeMade) {
  TemporaryFolder folder;
  folder.Write("file", "");
  ExpectRefused(folder / "file/db", absl::StatusCode::kResourceExhausted,
                HasSubstr("can't be made"));
}

// A limit on the length of files stands for a disk that is full.
TEST(RocksDbEngine, AFullDiskIsAnAnswer) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [&](PatientEngine& patient) {
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_TRUE(patient.Put("a", ValueOf(1)).status.ok());
    const rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const absl::Status full =
        patient.Put("b", std::string(3 << 20, 'b')).status;
    EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(full.message()), HasSubstr(folder / "db"));
    EXPECT_TRUE(patient.Get("a").value.view() == ValueOf(1));
    // A write that does not fit is given up; a write that does is taken.
    EXPECT_TRUE(patient.Put("c", ValueOf(2)).status.ok());
    EXPECT_TRUE(patient.Get("c").value.view() == ValueOf(2));
    EXPECT_FALSE(patient.Get("b").status.ok());
  });
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    EXPECT_TRUE(patient.Get("a").value.view() == ValueOf(1));
  });
}

// No byte fits anywhere, also not into RocksDB's files of its own; then the
// disk has room again.
TEST(RocksDbEngine, ADiskWithoutAByteLeftIsAnAnswer) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [&](PatientEngine& patient) {
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_TRUE(patient.Put("a", ValueOf(1)).status.ok());
    rlimit room;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &room), 0);
    const rlimit full = {.rlim_cur = 0, .rlim_max = room.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(patient.Put("b", ValueOf(2)).status.code(),
                absl::StatusCode::kResourceExhausted);
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &room), 0);
    EXPECT_TRUE(patient.Put("c", ValueOf(2)).status.ok());
    EXPECT_TRUE(patient.Get("a").value.view() == ValueOf(1));
  });
  // A log there would be on the same disk, and RocksDB asserts that its second
  // line after a full disk can be written: late, so that no limit shows it here
  // each time.
  EXPECT_FALSE(std::filesystem::exists(folder / "db/values/LOG"));
}

// Writes over a byte of the one file in `folder` whose name contains `part`.
void Damage(const std::filesystem::path& folder, const std::string& part,
            int offset) {
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find(part) == std::string::npos) {
      continue;
    }
    std::fstream file(entry.path(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file.put('!');
    ++damaged;
  }
  ASSERT_GE(damaged, 1);
}

TEST(RocksDbEngine, SaysThatAValueIsDamaged) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    ASSERT_TRUE(patient.Put("a", ValueOf(1)).status.ok());
  });
  Damage(folder / "db/values", ".blob", 10000);
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    EXPECT_EQ(patient.Get("a").status.code(), absl::StatusCode::kDataLoss);
  });
}

// Keys that go to disk together: their values lie in one file.
void PutTogether(RealEngine& real, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    real.engine().Submit({.kind = EngineRequest::Kind::kPut,
                          .key = key,
                          .value = Bytes(ValueOf(1))});
  }
  std::vector<EngineReply> replies;
  while (replies.size() < keys.size()) {
    real.Wait();
    real.engine().Poll(replies);
  }
  for (const EngineReply& reply : replies) EXPECT_TRUE(reply.status.ok());
}

// RocksDB finds it out as it moves keys, and then writes nothing more.
TEST(RocksDbEngine, SaysWhatTurnsOutToBeDamaged) {
  TemporaryFolder folder;
  CheckInAProcess([&] {
    RealEngine real(folder / "db");
    for (int i = 0; i < 3; ++i) {
      PutTogether(real, {absl::StrCat("a", i), absl::StrCat("b", i)});
    }
  });
  Damage(folder / "db/values", ".sst", 10);
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    EXPECT_THAT(damage_words, IsEmpty());
    (void)patient.ErasePrefix("b");
    EXPECT_THAT(damage_words, AllOf(HasSubstr("db is damaged (Corruption"),
                                    HasSubstr("empty it")));
  });
}

// A user has tidied up.
TEST(RocksDbEngine, SaysThatItsFilesAreGone) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [&](PatientEngine& patient) {
    ASSERT_TRUE(patient.Put("a", ValueOf(1)).status.ok());
    std::filesystem::remove_all(folder / "db");
    for (int i = 0; i < 100 && damage_words.empty(); ++i) {
      (void)patient.Put(absl::StrCat("b", i), ValueOf(1));
    }
    EXPECT_THAT(damage_words,
                AllOf(HasSubstr("db is damaged (IO error: No such"),
                      HasSubstr("empty it")));
  });
}

// Not that it is full.
TEST(RocksDbEngine, SaysThatADirectoryIsDamaged) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    ASSERT_TRUE(patient.Put("a", ValueOf(1)).status.ok());
  });
  Damage(folder / "db/values", "MANIFEST", 10);
  ExpectRefused(folder / "db", absl::StatusCode::kDataLoss,
                AllOf(HasSubstr("is damaged"), HasSubstr("empty it")));
}

std::set<std::string> BlobFiles(const std::filesystem::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".blob") {
      out.insert(entry.path().filename().string());
    }
  }
  return out;
}

// An erasure that rewrote what others have would cost as much as all of that,
// for each job that ends.
TEST(RocksDbEngine, AnErasureLeavesTheValuesOfOthersWhereTheyAre) {
  TemporaryFolder folder;
  CheckInAProcess([&] {
    RealEngine real(folder / "db");
    PutTogether(real, {"a1", "a2"});
    PutTogether(real, {"c1", "c2"});
    const std::set<std::string> others = BlobFiles(folder / "db/values");
    PutTogether(real, {"b1", "b2"});
    EXPECT_GT(BlobFiles(folder / "db/values").size(), others.size());
    PatientEngine patient = real.Patient();
    ASSERT_TRUE(patient.ErasePrefix("b").status.ok());
    EXPECT_EQ(BlobFiles(folder / "db/values"), others);
    EXPECT_EQ(patient.Get("a2").value.view(), ValueOf(1));
    EXPECT_EQ(patient.Get("b1").status.code(), absl::StatusCode::kNotFound);
  });
}

// But those of a file of which most is dead: a job's program lies among its
// values, and stays a while.
TEST(RocksDbEngine, AFewValuesKeepNoLargeFile) {
  TemporaryFolder folder;
  CheckInAProcess([&] {
    RealEngine real(folder / "db");
    std::vector<std::string> keys = {"z"};
    for (int i = 0; i < 50; ++i) keys.push_back(absl::StrCat("b", i));
    PutTogether(real, keys);
    PatientEngine patient = real.Patient();
    ASSERT_TRUE(patient.ErasePrefix("b").status.ok());
    const std::filesystem::path values = folder / "db/values";
    for (const std::string& file : BlobFiles(values)) {
      EXPECT_LT(std::filesystem::file_size(values / file), 50000);
    }
    EXPECT_EQ(patient.Get("z").value.view(), ValueOf(1));
  });
}

// Erased keys leave no bytes behind.
TEST(RocksDbEngine, GivesTheSpaceOfAPrefixBack) {
  TemporaryFolder folder;
  MarkRecomputing(folder / "db", [](PatientEngine& patient) {
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(patient.Put(absl::StrCat("a", i), std::string(100000, 'x'))
                      .status.ok());
    }
    ASSERT_TRUE(patient.ErasePrefix("a").status.ok());
  });
  MarkRecomputing(folder / "db", [](PatientEngine&) {});
  int64_t bytes = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder / "db")) {
    if (!entry.is_regular_file()) continue;
    bytes += static_cast<int64_t>(entry.file_size());
  }
  EXPECT_LT(bytes, 1000000);
}

}  // namespace
}  // namespace dogged
