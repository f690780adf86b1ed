// Aim: what stands in a pool's folder is read as its agents mean it, and what
// nobody means is no harm. Method: folders on disk, written by several agents
// and by others; times of files are set, not waited for.
#include "apps/dogged/rendezvous/pool_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/rendezvous/meeting_point.h"
#include "apps/dogged/rendezvous/point_listing.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PoolFolderTest : public ::testing::Test {
 protected:
  PoolFolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "poolXXXXXX");
    path_ = mkdtemp(name.data());
    folder_.emplace((path_ / "pool").string());
    EXPECT_TRUE(folder_->Prepare().ok());
  }
  ~PoolFolderTest() override { std::filesystem::remove_all(path_); }

  std::filesystem::path Place(const std::string& name) const {
    return path_ / "pool" / name;
  }
  void Write(uint64_t agent, const std::string& address, int64_t seconds_ago,
             std::vector<std::string> keys = {},
             const std::string& host = "h") {
    ASSERT_TRUE(
        folder_->Write(AgentId(agent), EntryOf(address, keys, host)).ok());
    SetAge(PoolFolder::NameOf(AgentId(agent)), seconds_ago);
  }
  static PoolEntry EntryOf(const std::string& address,
                           std::vector<std::string> keys = {},
                           const std::string& host = "h") {
    return {.name = {},
            .address = address,
            .host = host,
            .keys = std::move(keys),
            .age = {}};
  }
  void SetAge(const std::string& name, int64_t seconds_ago) const {
    const timespec when = {.tv_sec = 1'000'000 - seconds_ago, .tv_nsec = 0};
    const timespec times[] = {when, when};
    ASSERT_EQ(utimensat(AT_FDCWD, Place(name).c_str(), times, 0), 0);
  }
  PointListing List(const PointReader& reader) const {
    return ListPoint({MeetingPoint::Kind::kFolder, folder_->path()}, reader);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> out;
    for (const auto& file :
         std::filesystem::directory_iterator(path_ / "pool")) {
      out.push_back(file.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  std::filesystem::path path_;
  std::optional<PoolFolder> folder_;
};

TEST_F(PoolFolderTest, TheFreshestEntriesComeFirstAndBackWhenTheyWereCleared) {
  EXPECT_THAT(List({}).addresses, IsEmpty());
  Write(1, "10.0.0.1:7000", 5);
  Write(2, "[fe80::1]:7000", 3);
  Write(3, "10.0.0.3:7000", 4);
  const PointListing listing = List({});
  EXPECT_THAT(listing.addresses,
              ElementsAre("[fe80::1]:7000", "10.0.0.3:7000", "10.0.0.1:7000"));
  EXPECT_THAT(listing.stale, IsEmpty());
  EXPECT_EQ(listing.trouble, "");
  EXPECT_TRUE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
  EXPECT_EQ(List({}).addresses.front(), "10.0.0.1:7000");
  folder_->Remove(AgentId(1));
  EXPECT_FALSE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
  EXPECT_THAT(Files(),
              ElementsAre("0000000000000002.agent", "0000000000000003.agent"));
}

TEST_F(PoolFolderTest, EntriesThatNobodyHasAreStaleAndFilesOfOthersAreNot) {
  Write(1, "10.0.0.1:7000", 3601);  // not freshened for an hour
  Write(2, "10.0.0.2:7000", 60);    // its port is another one's now
  Write(3, "10.0.0.2:7000", 0);
  std::ofstream(Place("0000000000000004.agent")) << "address nobody\n";
  SetAge("0000000000000004.agent", 1);
  std::ofstream(Place("0000000000000005.agent"))
      << std::string(1 << 20, 'x') << "address 10.0.0.5:1\n";
  SetAge("0000000000000005.agent", 2);
  std::ofstream(Place("notes.agent")) << "address 10.0.0.6:7000\n";
  std::filesystem::create_directory(Place("0000000000000007.agent"));
  std::ofstream(Place("0000000000000008.agent.new")) << "add";
  SetAge("0000000000000008.agent.new", 61);
  std::ofstream(Place("0000000000000009.agent.new")) << "add";
  SetAge("0000000000000009.agent.new", 59);
  const PointListing listing = List({.host = "h", .agent = AgentId(3)});
  EXPECT_THAT(listing.addresses, ElementsAre("10.0.0.2:7000"));
  EXPECT_THAT(listing.names, ElementsAre("0000000000000003.agent"));
  std::vector<std::string> stale;
  for (const PoolEntry& entry : listing.stale) stale.push_back(entry.name);
  std::sort(stale.begin(), stale.end());
  EXPECT_THAT(stale,
              ElementsAre("0000000000000001.agent", "0000000000000002.agent",
                          "0000000000000004.agent", "0000000000000005.agent"));
  EXPECT_EQ(std::filesystem::exists(Place("0000000000000008.agent.new")),
            false);
  EXPECT_EQ(std::filesystem::exists(Place("0000000000000009.agent.new")), true);
  EXPECT_EQ(std::filesystem::exists(Place("notes.agent")), true);
}

TEST_F(PoolFolderTest, EntriesOfAnotherClusterAreLeftAloneAndSaid) {
  Write(1, "10.0.0.1:7000", 0, {"c201"});
  Write(2, "10.0.0.2:7000", 1, {"7f3a", "c201"});
  Write(3, "10.0.0.3:7000", 2, {"beef"});
  Write(4, "10.0.0.4:7000", 3);
  const PointListing ours = List({.host = "h", .keys = {"aaaa", "c201"}});
  EXPECT_THAT(ours.addresses, ElementsAre("10.0.0.1:7000", "10.0.0.2:7000"));
  EXPECT_THAT(ours.stale, IsEmpty());
  EXPECT_THAT(ours.trouble,
              HasSubstr("2 of its agents are of another cluster (theirs none, "
                        "ours aaaa c201)"));
  EXPECT_THAT(List({.host = "h", .keys = {}}).addresses,
              ElementsAre("10.0.0.4:7000"));
}

TEST_F(PoolFolderTest, LoopbackOfAnotherHostIsNobodysAddressHere) {
  Write(1, "127.0.0.1:7000", 0, {}, "near");
  Write(2, "127.0.0.1:7000", 1, {}, "far");
  Write(3, "127.0.0.1:7000", 2, {}, "far");  // of a former one there
  const PointListing listing = List({.host = "near", .keys = {}});
  EXPECT_THAT(listing.names, ElementsAre("0000000000000001.agent"));
  ASSERT_EQ(listing.stale.size(), 1);
  EXPECT_EQ(listing.stale[0].name, "0000000000000003.agent");
  EXPECT_THAT(listing.trouble, HasSubstr("--listen"));
}

TEST_F(PoolFolderTest, ManyStaleEntriesHideNoFreshOne) {
  for (uint64_t agent = 1; agent <= 1000; ++agent) {
    Write(agent, absl::StrCat("10.1.", agent / 256, ".", agent % 256, ":1"),
          100);
  }
  Write(5000, "10.0.0.1:7000", 0);
  const PointListing listing = List({});
  EXPECT_EQ(listing.addresses.front(), "10.0.0.1:7000");
  EXPECT_EQ(listing.addresses.size(), 32);
}

// A stranger who may write to the folder does not write elsewhere by the
// agent's hand.
TEST_F(PoolFolderTest, LinksAreNotFollowed) {
  std::ofstream(path_ / "secret") << "secret";
  const std::string name = PoolFolder::NameOf(AgentId(1));
  for (const std::string& at : {name, name + ".new"}) {
    std::filesystem::create_symlink(path_ / "secret", Place(at));
  }
  EXPECT_FALSE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
  Write(1, "10.0.0.1:7000", 0);
  std::string kept;
  std::ifstream(path_ / "secret") >> kept;
  EXPECT_EQ(kept, "secret");
  EXPECT_THAT(List({}).addresses, ElementsAre("10.0.0.1:7000"));
  // Nobody writes to a pipe here: to open it would hang.
  std::filesystem::remove(Place(name));
  ASSERT_EQ(mkfifo(Place(name).c_str(), 0666), 0);
  ASSERT_EQ(mkfifo(Place(name + ".new").c_str(), 0666), 0);
  EXPECT_FALSE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
  Write(1, "10.0.0.1:7000", 0);
  EXPECT_THAT(List({}).addresses, ElementsAre("10.0.0.1:7000"));
}

TEST_F(PoolFolderTest, AnEntryThatOthersChangedIsWrittenAgain) {
  Write(1, "10.0.0.1:7000", 0);
  EXPECT_TRUE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
  std::ofstream(Place(PoolFolder::NameOf(AgentId(1))))
      << "address 10.9.9.9:1\nhost h\n";
  EXPECT_FALSE(folder_->Freshen(AgentId(1), EntryOf("10.0.0.1:7000")));
}

TEST_F(PoolFolderTest, ATimeInTheFutureMakesNoEntryOld) {
  Write(1, "10.0.0.1:7000", 0);
  Write(2, "10.0.0.2:7000", 5);
  // Some seventy years ahead of any clock here.
  Write(3, "10.0.0.3:7000", -4'000'000'000, {"beef"});
  Write(4, "10.0.0.4:7000", 3601);
  const PointListing listing = List({.host = "h", .agent = AgentId(1)});
  EXPECT_THAT(listing.addresses, ElementsAre("10.0.0.1:7000", "10.0.0.2:7000"));
  ASSERT_EQ(listing.stale.size(), 1);
  EXPECT_EQ(listing.stale[0].name, PoolFolder::NameOf(AgentId(4)));
  // A reader without an entry there knows of no time.
  const PointListing of_client = List({});
  EXPECT_EQ(of_client.addresses.size(), 3u);
  EXPECT_THAT(of_client.stale, IsEmpty());
}

TEST_F(PoolFolderTest, WordsThatWouldSteerATerminalAreNoEntry) {
  Write(1, "10.0.0.1:7000", 0, {"\x1b[31mbeef"});
  const PointListing listing = List({});
  EXPECT_THAT(listing.addresses, IsEmpty());
  EXPECT_EQ(listing.trouble, "");
  EXPECT_EQ(listing.stale.size(), 1);
}

TEST_F(PoolFolderTest, FoldersThatCanNotBeAreNamed) {
  std::ofstream(path_ / "file") << "x";
  for (const char* path : {"file", "file/pool", "none/pool"}) {
    const absl::Status status = PoolFolder((path_ / path).string()).Prepare();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
  const auto trouble =
      ListPoint({MeetingPoint::Kind::kFolder, (path_ / "none").string()}, {});
  EXPECT_THAT(trouble.trouble, HasSubstr("No such file or directory"));
}

TEST(MeetingPoint, WordsAreAddressesFoldersAndNames) {
  const auto points = ParseMeetingPoints(
      {"10.0.0.1:7000,[::1]:7", "file:/a/b", "dns:pool.example:7000", "n:1"},
      "--join");
  ASSERT_TRUE(points.ok()) << points.status();
  std::vector<std::string> words;
  std::vector<bool> asked;
  for (const MeetingPoint& point : *points) {
    words.push_back(point.ToString());
    asked.push_back(point.HasToBeAsked());
  }
  EXPECT_THAT(words, ElementsAre("10.0.0.1:7000", "[::1]:7", "file:/a/b",
                                 "dns:pool.example:7000", "n:1"));
  EXPECT_THAT(asked, ElementsAre(false, false, true, true, true));
  for (const char* word :
       {"", "file:", "dns:", "dns:name", "dns::1", "dns:name:0", "dns:name:x",
        "10.0.0.1", "a:1,", ":1", "a:65536"}) {
    const auto wrong = ParseMeetingPoints({word}, "--join");
    EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument)
        << word;
    EXPECT_THAT(wrong.status().message(), HasSubstr("--join"));
  }
}

}  // namespace
}  // namespace dogged
