// Aim: keys are made, kept, derived and changed as docs/COMMAND.md says, and a
// key file that others could read, or that is no key file, is refused in words
// that have no digit of a key.
// Method: rings from texts, files in a folder of the test; HKDF against values
// that Python's hmac module gave.
#include "routing/trust/key_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "routing/trust/key_file.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHex[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

std::string Hex(char digit) { return std::string(2 * Key::kBytes, digit); }

std::string WordsOf(absl::string_view text) {
  return std::string(KeyRing::Parse(text).status().message());
}

int ModeOf(const std::string& path) {
  struct stat file {};
  EXPECT_EQ(stat(path.c_str(), &file), 0) << path;
  return static_cast<int>(file.st_mode & 07777);
}

std::string WriteKeys(const TemporaryFolder& folder, const std::string& name,
                      const std::string& text) {
  std::string path = folder.Write(name, text);
  EXPECT_EQ(chmod(path.c_str(), 0600), 0);
  return path;
}

TEST(Key, IsNamedByItsDigest) {
  // echo -n $HEX | xxd -r -p | sha256sum
  EXPECT_EQ(Key::Parse(kHex)->id(), "630d");
  EXPECT_EQ(Key::Parse(kHex)->ToHex(), kHex);
  EXPECT_EQ(*Key::Parse(Hex('a')), *Key::Parse(Hex('A')));
}

TEST(Key, RandomOnesDiffer) {
  EXPECT_FALSE(*Key::Make() == *Key::Make());
  EXPECT_NE(Key::Make()->ToHex(), Key::Make()->ToHex());
}

TEST(Key, DerivesByHkdf) {
  const Key key = *Key::Parse(kHex);
  EXPECT_EQ(absl::BytesToHexString(key.Derive("dogged test", 42)),
            "ac1a001e59d40a87d041d6d42c6499289daf9c943c"
            "eecb88698b60da7fa378bc991ba82c24d30721d53a");
  EXPECT_NE(key.Derive("dogged test", 32), key.Derive("dogged tesu", 32));
  EXPECT_NE(key.Derive("dogged test", 32),
            Key::Parse(Hex('1'))->Derive("dogged test", 32));
}

TEST(KeyRing, TextsComeBack) {
  const auto ring = KeyRing::Parse(
      absl::StrCat("# mine\r\n\n accept ", kHex, "  # old\n use\t", Hex('1')));
  ASSERT_TRUE(ring.ok()) << ring.status();
  ASSERT_EQ(ring->keys().size(), 2);
  EXPECT_EQ(ring->used(), *Key::Parse(Hex('1')));
  EXPECT_EQ(ring->Ids(), absl::StrCat(ring->used().id(), ", 630d"));
  const auto again = KeyRing::Parse(ring->Encode());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->keys(), ring->keys());
}

TEST(KeyRing, MalformedTextsAreRefusedWithoutTheirDigits) {
  EXPECT_THAT(WordsOf(""), HasSubstr("no key is in it"));
  EXPECT_THAT(WordsOf("# nothing\n"), HasSubstr("no key is in it"));
  EXPECT_THAT(WordsOf(absl::StrCat("accept ", kHex)),
              HasSubstr("is to be used"));
  EXPECT_THAT(WordsOf(absl::StrCat("use ", kHex, "\nuse ", Hex('1'))),
              HasSubstr("line 2: a second key to use"));
  EXPECT_THAT(WordsOf(absl::StrCat("use ", kHex, "\naccept ", kHex)),
              HasSubstr("line 2: key 630d is there already"));
  const std::string cut(kHex, 20);
  const std::string unlike = absl::StrCat(std::string(kHex, 63), "x");
  for (const std::string& text :
       {absl::StrCat("use ", cut), absl::StrCat("use ", unlike),
        std::string(kHex), absl::StrCat("keep ", kHex),
        absl::StrCat("use ", kHex, " ", Hex('1'))}) {
    EXPECT_THAT(WordsOf(text), HasSubstr("line 1: ")) << text;
    EXPECT_THAT(WordsOf(text), Not(HasSubstr("0203"))) << text;
  }
  std::string many = absl::StrCat("use ", kHex, "\n");
  for (char digit = '0'; digit <= '9'; ++digit) {
    absl::StrAppend(&many, "accept ", Hex(digit), "\n");
  }
  for (char digit = 'a'; digit <= 'f'; ++digit) {
    absl::StrAppend(&many, "accept ", Hex(digit), "\n");
  }
  EXPECT_THAT(WordsOf(many), HasSubstr("line 17: 16 keys"));
}

TEST(KeyRing, KeysAreAddedUsedAndRemoved) {
  KeyRing ring(*Key::Parse(kHex));
  const Key other = *Key::Parse(Hex('1'));
  ASSERT_TRUE(ring.Add(other).ok());
  EXPECT_EQ(ring.used().id(), "630d");
  EXPECT_FALSE(ring.Add(other).ok());
  EXPECT_THAT(ring.Remove("630d").ToString(), HasSubstr("is the one in use"));
  EXPECT_THAT(ring.Use("0bad").ToString(), HasSubstr("no key 0bad"));
  ASSERT_TRUE(ring.Use(other.id()).ok());
  EXPECT_EQ(ring.used(), other);
  ASSERT_NE(ring.Find("630d"), nullptr);
  ASSERT_TRUE(ring.Remove("630d").ok());
  EXPECT_EQ(ring.Find("630d"), nullptr);
  EXPECT_EQ(ring.Ids(), other.id());
}

TEST(KeyFile, NewOnesAreForTheirOwnerAlone) {
  const TemporaryFolder folder;
  const std::string path = folder / "deep/key";
  const mode_t mask = umask(0);
  const auto made = KeyFile::Create(path);
  umask(mask);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(ModeOf(path), 0600);
  EXPECT_EQ(ModeOf(folder / "deep"), 0700);
  const std::string before = ContentOf(path);
  EXPECT_THAT(KeyFile::Create(path).status().ToString(),
              HasSubstr("is not overwritten"));
  EXPECT_EQ(ContentOf(path), before);
  const auto opened = KeyFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->ring()->keys(), (*made)->ring()->keys());
}

TEST(KeyFile, UnfitFilesAreRefusedInWords) {
  const TemporaryFolder folder;
  const auto words = [](const std::string& path) {
    const absl::Status status = KeyFile::Open(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(words(folder / "none"), HasSubstr("is not there"));
  EXPECT_THAT(words(folder / ""), HasSubstr("is a folder"));
  EXPECT_THAT(words(""), HasSubstr("empty"));
  EXPECT_THAT(words("/dev/null"), HasSubstr("is no file"));
  EXPECT_THAT(words(kHex), HasSubstr("a key stands where"));
  EXPECT_THAT(words(kHex), Not(HasSubstr("0203")));
  EXPECT_THAT(words(WriteKeys(folder, "empty", "")), HasSubstr("is empty"));
  EXPECT_THAT(words(WriteKeys(folder, "long", std::string(70'000, '\n'))),
              HasSubstr("is too long"));
  const std::string path =
      WriteKeys(folder, "key", absl::StrCat("use ", kHex, "\n"));
  EXPECT_TRUE(KeyFile::Open(path).ok());
  for (const int mode : {0640, 0604, 0660, 0602, 0644, 0610}) {
    ASSERT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    EXPECT_THAT(words(path), HasSubstr("chmod 600")) << std::oct << mode;
  }
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_TRUE(KeyFile::Open(path).ok());
}

TEST(KeyFile, ChangesAreSeen) {
  const TemporaryFolder folder;
  const std::string path = folder / "key";
  const auto file = KeyFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  absl::Time now = absl::UnixEpoch();
  EXPECT_FALSE((*file)->Refresh(now));
  const std::shared_ptr<const KeyRing> before = (*file)->ring();
  const auto editor = KeyFile::Open(path);
  KeyRing ring = *before;
  ASSERT_TRUE(ring.Add(*Key::Parse(kHex)).ok());
  ASSERT_TRUE((*editor)->Replace(ring).ok());
  EXPECT_EQ(ModeOf(path), 0600);
  EXPECT_FALSE((*file)->Refresh(now));  // within the second
  EXPECT_TRUE((*file)->Refresh(now += absl::Seconds(1)));
  EXPECT_NE((*file)->ring()->Find("630d"), nullptr);
  EXPECT_EQ(before->Find("630d"), nullptr);
  // A file that is spoilt, or gone, changes nothing until it is well again.
  WriteKeys(folder, "key", "rubbish");
  EXPECT_FALSE((*file)->Refresh(now += absl::Seconds(1)));
  std::filesystem::remove(path);
  EXPECT_FALSE((*file)->Refresh(now += absl::Seconds(1)));
  EXPECT_NE((*file)->ring()->Find("630d"), nullptr);
  WriteKeys(folder, "key", absl::StrCat("use ", Hex('1')));
  EXPECT_TRUE((*file)->Refresh(now += absl::Seconds(1)));
  EXPECT_EQ((*file)->ring()->keys().size(), 1);
}

TEST(KeyFile, IsReplacedByOneAtATimeThroughLinks) {
  const TemporaryFolder folder;
  const std::string path = folder / "key";
  ASSERT_TRUE(KeyFile::Create(path).ok());
  std::filesystem::create_symlink(path, folder / "link");
  const auto linked = KeyFile::Open(folder / "link");
  ASSERT_TRUE(linked.ok()) << linked.status();
  const KeyRing ring(*Key::Parse(kHex));
  folder.Write("key.new", "");
  EXPECT_THAT((*linked)->Replace(ring).ToString(), HasSubstr("key.new"));
  std::filesystem::remove(folder / "key.new");
  ASSERT_TRUE((*linked)->Replace(ring).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ((*KeyFile::Open(path))->ring()->Ids(), "630d");
  EXPECT_EQ(folder.FileCount(), 2);
}

}  // namespace
}  // namespace dogged
