// Aim: certificates of a CA make members, as keys do, and nothing else of a
// certificate does: files that are unfit are refused in words, an end that has
// no right certificate, or not its key, is heard by nobody and is told why, and
// nothing that was said opens anything when it is said again. Method: a CA of
// the test, whose certificates are wrong in one way each; channels that hand
// each other bytes; ports over loopback.
#include "routing/trust/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "routing/control/control_client.h"
#include "routing/control/control_socket.h"
#include "routing/control/secure_channel.h"
#include "routing/control/socket_address.h"
#include "routing/trust/credentials.h"
#include "routing/trust/key_ring.h"
#include "runtime/base/clock.h"
#include "tests/output/temporary_folder.h"
#include "tests/routing/site_authority.h"

namespace dogged {
namespace {

using Kind = ControlEvent::Kind;
using Side = SecureChannel::Side;
using testing::HasSubstr;
using testing::Not;

constexpr char kHead[] = "dgd2";  // of frames in clear

std::shared_ptr<const KeyRing> Ring(char digit) {
  return std::make_shared<const KeyRing>(
      *Key::Parse(std::string(2 * Key::kBytes, digit)));
}

// The proofs that an end has; null: not.
struct Proof {
  std::shared_ptr<const KeyRing> ring;
  std::shared_ptr<const Certificates> certificates;
};

// Two ends of a connection.
struct Ends {
  Ends(const Proof& from, const Proof& to)
      : client(*SecureContext::Create(from.certificates), Side::kConnects,
               from.ring, "there"),
        server(*SecureContext::Create(to.certificates), Side::kAccepts, to.ring,
               "here") {}

  // Bytes go from one to the other, after `edit`. False if there are none.
  static bool Carry(SecureChannel& from, SecureChannel& to, std::string& heard,
                    absl::Status& status, std::string& all,
                    const std::function<void(std::string&)>& edit) {
    std::string bytes(from.unsent());
    if (bytes.empty()) return false;
    from.NoteSent(bytes.size());
    if (edit != nullptr) edit(bytes);
    all += bytes;
    if (status.ok()) status = to.Take(bytes, heard);
    return true;
  }
  // Until both are quiet.
  void Settle() {
    bool goes_on = true;
    while (goes_on) {
      goes_on = Carry(client, server, server_heard, server_status, to_server,
                      to_server.empty() ? edit_hello : edit_answer);
      goes_on |= Carry(server, client, client_heard, client_status, to_client,
                       to_client.empty() ? edit_server_hello : nullptr);
    }
  }
  bool are_open() const { return client.is_open() && server.is_open(); }
  // A frame of the client is heard by the server.
  bool IsHeard() {
    if (!client.is_open()) return false;
    client.Seal("submit");
    Settle();
    return server_heard == "submit";
  }

  SecureChannel client;
  SecureChannel server;
  std::function<void(std::string&)> edit_hello;
  std::function<void(std::string&)> edit_server_hello;
  std::function<void(std::string&)> edit_answer;
  absl::Status client_status;
  absl::Status server_status;
  std::string to_server;
  std::string to_client;
  std::string server_heard;
  std::string client_heard;
};

class CertificatesTest : public testing::Test {
 protected:
  std::shared_ptr<const Certificates> Agent() {
    return site_.Member({.name = "node"});
  }
  // Files that a test has spoilt are read without a look at their use.
  std::shared_ptr<const Certificates> Read(const CertificatePaths& paths) {
    std::vector<FileVersion> versions;
    auto out = Certificates::Read(paths, versions);
    EXPECT_TRUE(out.ok()) << out.status();
    return *out;
  }
  static absl::Status Open(const CertificatePaths& paths,
                           std::vector<CertificateUse> uses = {
                               CertificateUse::kConnects}) {
    return CertificateFiles::Open(paths, std::move(uses)).status();
  }
  // The words of Open(), which does not succeed.
  static std::string Refused(const CertificatePaths& paths,
                             std::vector<CertificateUse> uses = {
                                 CertificateUse::kConnects}) {
    const absl::Status status = Open(paths, std::move(uses));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  }
  std::string Text(const std::string& path) { return ContentOf(path); }

  TemporaryFolder folder_;
  SiteAuthority site_{folder_, "Site CA"};
  SiteAuthority other_{folder_, "Other CA"};
};

TEST_F(CertificatesTest, UnfitFilesAreRefusedInWords) {
  const CertificatePaths good = site_.Issue({});
  ASSERT_TRUE(Open(good).ok());
  const auto with = [&](std::string CertificatePaths::*which,
                        const std::string& path) {
    CertificatePaths out = good;
    out.*which = path;
    return out;
  };
  const std::string garbage = folder_.Write("garbage", "no PEM at all\n");
  const std::string half = folder_.Write(
      "half",
      Text(good.certificate).substr(0, Text(good.certificate).size() / 2));
  std::string spoilt_text = Text(good.certificate);
  spoilt_text.replace(60, 8, "########");
  const std::string spoilt = folder_.Write("spoilt", spoilt_text);
  const std::string then_half =
      folder_.Write("then_half", Text(good.certificate) + Text(half));
  const std::string long_one = folder_.Write("long", std::string(70'000, 'x'));
  const std::string empty = folder_.Write("empty", "");
  for (const std::string& path :
       {garbage, half, spoilt, then_half, long_one, empty}) {
    chmod(path.c_str(), 0600);
  }
  for (const auto& [which, kind] :
       {std::pair(&CertificatePaths::ca, "file of CAs "),
        std::pair(&CertificatePaths::certificate, "certificate "),
        std::pair(&CertificatePaths::key, "private key ")}) {
    for (const auto& [path, words] :
         {std::pair(garbage, "in PEM"),
          std::pair(folder_ / "none", "not there"),
          std::pair(folder_ / "", "is a folder"),
          std::pair(std::string("/dev/null"), "is no file"),
          std::pair(empty, "is empty"), std::pair(long_one, "is too long")}) {
      const std::string said = Refused(with(which, path));
      EXPECT_THAT(said, HasSubstr(absl::StrCat(kind, path, ": "))) << kind;
      EXPECT_THAT(said, HasSubstr(words));
    }
  }
  for (const auto which :
       {&CertificatePaths::ca, &CertificatePaths::certificate}) {
    EXPECT_THAT(Refused(with(which, half)), HasSubstr("certificate"));
    EXPECT_THAT(Refused(with(which, spoilt)), HasSubstr("certificate"));
  }
  EXPECT_THAT(Refused(with(&CertificatePaths::certificate, then_half)),
              HasSubstr("can't be read"));
  EXPECT_THAT(Refused(with(&CertificatePaths::ca, good.certificate)),
              HasSubstr("CN = alice, issued by CN = Site CA, is no CA"));
  EXPECT_THAT(Refused(with(&CertificatePaths::key, "")),
              HasSubstr("go together"));
  // A chain that is longer than an end that accepts would hear.
  std::string many = Text(good.certificate);
  while (many.size() < 24'000) many += Text(site_.ca_path());
  const std::string chain = folder_.Write("chain", many);
  chmod(chain.c_str(), 0644);
  EXPECT_THAT(Refused(with(&CertificatePaths::certificate, chain)),
              HasSubstr("bytes, and others take 12288; leave out those that "
                        "the file of CAs has"));
  const CertificatePaths bob = site_.Issue({.name = "bob"});
  EXPECT_THAT(Refused(with(&CertificatePaths::key, bob.key)),
              HasSubstr("is not that of the certificate"));
}

TEST_F(CertificatesTest, FilesOfOthersAreRefused) {
  const CertificatePaths paths = site_.Issue({});
  for (const mode_t mode : {0640, 0604, 0620, 0601}) {
    ASSERT_EQ(chmod(paths.key.c_str(), mode), 0);
    EXPECT_THAT(Refused(paths), HasSubstr("chmod 600")) << mode;
  }
  ASSERT_EQ(chmod(paths.key.c_str(), 0600), 0);
  for (const std::string& path : {paths.ca, paths.certificate}) {
    for (const mode_t mode : {0664, 0646}) {
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      EXPECT_THAT(Refused(paths), HasSubstr("others may change it"));
    }
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  }
  EXPECT_TRUE(Open(paths).ok());
  if (geteuid() != 0) return;  // only root gives files away
  for (const std::string& path : {paths.ca, paths.certificate, paths.key}) {
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_THAT(Refused(paths), HasSubstr("belongs to user 12345"));
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
}

// No words have a byte of it.
TEST_F(CertificatesTest, PrivateKeysAreInNoWords) {
  const CertificatePaths paths = site_.Issue({});
  const std::string secret = Text(paths.key).substr(30, 40);
  CertificatePaths wrong = site_.Issue({.name = "bob"});
  wrong.key = paths.key;
  EXPECT_THAT(Refused(wrong), Not(HasSubstr(secret)));
  wrong.ca = paths.key;
  EXPECT_THAT(Refused(wrong), Not(HasSubstr(secret)));
  wrong.ca = paths.ca;
  wrong.certificate = paths.key;
  EXPECT_THAT(Refused(wrong), Not(HasSubstr(secret)));
}

TEST_F(CertificatesTest, WrongCertificatesAreRefusedInWords) {
  const absl::Duration day = absl::Hours(24);
  for (const auto& [wish, words] :
       std::vector<std::pair<SiteAuthority::Wish, std::string>>{
           {{.until = -absl::Seconds(1)}, "certificate has expired"},
           {{.from = day, .until = 2 * day}, "certificate is not yet valid"},
           {{.usages = "serverAuth"}, "its extendedKeyUsage has no clientAuth"},
           {{.usages = "emailProtection"}, "has no clientAuth"},
           {{.usages = "anyExtendedKeyUsage"}, "has no clientAuth"},
           {{.usages = ""}, "its extendedKeyUsage has no clientAuth"},
           {{.curve = "", .rsa_bits = 1024}, "key too weak"},
           {{.digest = EVP_sha1()}, "digest algorithm too weak"},
           {{.curve = "secp256k1"}, "(secp256k1); have the CA"}}) {
    const std::string said = Refused(site_.Issue(wish));
    EXPECT_THAT(said, HasSubstr(words));
    EXPECT_THAT(said, HasSubstr("the CA"));
    EXPECT_THAT(said, HasSubstr(folder_ / "alice.pem"));
  }
  // Expired ones of another use, and of another CA.
  EXPECT_THAT(Refused(site_.Issue({.usages = "clientAuth"}),
                      {CertificateUse::kConnects, CertificateUse::kAccepts}),
              HasSubstr("has no serverAuth"));
  CertificatePaths foreign = other_.Issue({});
  foreign.ca = site_.ca_path();
  EXPECT_THAT(Refused(foreign),
              HasSubstr("CN = alice, issued by CN = Other CA: unable to get "
                        "local issuer certificate; those are taken that CN = "
                        "Site CA issues for clientAuth"));
  // Right ones.
  EXPECT_TRUE(Open(site_.Issue({.curve = ""})).ok());
  EXPECT_TRUE(Open(site_.Issue({.curve = "P-384"})).ok());
}

// A name of a stranger is in the log: it makes no lines there.
TEST_F(CertificatesTest, NamesAreWords) {
  const auto node = Agent();
  CertificatePaths paths =
      other_.Issue({.name = "a\nb\x1b[31m\xc3\xa9" + std::string(40, 'x')});
  paths.ca = site_.ca_path();
  const auto foreign = Read(paths);
  Ends ends({nullptr, foreign}, {nullptr, node});
  ends.Settle();
  const std::string said(ends.server_status.message());
  EXPECT_THAT(said, HasSubstr("xxxxx"));
  for (const char letter : said) {
    EXPECT_TRUE(letter >= ' ' && letter < 127) << said;
  }
}

TEST_F(CertificatesTest, MembersHearEachOtherByWhatTheyHaveInCommon) {
  const auto node = Agent();
  const auto alice = site_.Member({.usages = "clientAuth"});
  const auto one = Ring('1');
  const auto two = Ring('2');
  const auto three = Ring('3');
  for (const auto& [from, to, are_members] :
       std::vector<std::tuple<Proof, Proof, bool>>{
           {{nullptr, alice}, {nullptr, node}, true},
           {{nullptr, alice}, {one, node}, true},
           {{one, nullptr}, {one, node}, true},
           {{one, alice}, {one, node}, true},
           {{two, alice}, {one, node}, true},
           {{one, alice}, {one, nullptr}, true},
           {{one, alice}, {nullptr, node}, true},
           {{two, nullptr}, {one, node}, false},
           {{one, nullptr}, {nullptr, node}, false},
           {{nullptr, alice}, {one, nullptr}, false},
           {{two, alice}, {three, nullptr}, false}}) {
    Ends ends(from, to);
    ends.Settle();
    EXPECT_EQ(ends.are_open(), are_members) << ends.server_status;
    EXPECT_EQ(ends.IsHeard(), are_members) << ends.client_status;
    if (are_members) continue;
    EXPECT_EQ(ends.server_heard, "");
    // Each end is told in words, without TLS.
    EXPECT_TRUE(absl::IsPermissionDenied(ends.server_status))
        << ends.server_status;
    EXPECT_TRUE(absl::IsPermissionDenied(ends.client_status))
        << ends.client_status;
    EXPECT_THAT(std::string(ends.client_status.message()), HasSubstr("there "))
        << ends.client_status;
  }
}

TEST_F(CertificatesTest, StrangersAreToldWithinTls) {
  const auto node = Agent();
  CertificatePaths mallory = other_.Issue({.name = "mallory"});
  const auto server_only =
      site_.Member({.name = "www", .usages = "serverAuth"});
  const auto expired = site_.Member({.name = "past", .until = -absl::Hours(1)});
  const auto early = site_.Member(
      {.name = "early", .from = absl::Hours(1), .until = absl::Hours(2)});
  // Strangers take the agent's certificate.
  mallory.ca = site_.ca_path();
  for (const auto& [shown, words] :
       {std::pair(Read(mallory), "CN = mallory, issued by CN = Other CA"),
        std::pair(server_only, "has no clientAuth"),
        std::pair(expired, "certificate has expired"),
        std::pair(early, "certificate is not yet valid")}) {
    Ends ends({nullptr, shown}, {Ring('1'), node});
    ends.Settle();
    EXPECT_FALSE(ends.server.is_open());
    EXPECT_FALSE(ends.IsHeard());
    EXPECT_EQ(ends.server_heard, "");
    EXPECT_THAT(std::string(ends.server_status.message()), HasSubstr(words));
    EXPECT_THAT(ends.client_heard, HasSubstr(words));
    EXPECT_THAT(ends.to_client, Not(HasSubstr(kHead)));
    EXPECT_THAT(ends.to_client, Not(HasSubstr("mallory")));
  }
}

TEST_F(CertificatesTest, AgentsShowCertificatesOfAgents) {
  const auto alice = site_.Member({});
  const auto client_only =
      site_.Member({.name = "bob", .usages = "clientAuth"});
  const auto expired = site_.Member({.name = "past", .until = -absl::Hours(1)});
  const auto foreign = other_.Member({.name = "mallory"});
  for (const auto& [shown, words] :
       {std::pair(client_only,
                  "CN = bob, issued by CN = Site CA: its "
                  "extendedKeyUsage has no serverAuth"),
        std::pair(expired, "certificate has expired"),
        std::pair(foreign, "CN = mallory, issued by CN = Other CA")}) {
    Ends ends({nullptr, alice}, {nullptr, shown});
    ends.Settle();
    EXPECT_FALSE(ends.client.is_open());
    EXPECT_TRUE(absl::IsPermissionDenied(ends.client_status));
    EXPECT_THAT(std::string(ends.client_status.message()), HasSubstr(words));
    EXPECT_FALSE(ends.server.is_open());
  }
}

// It is the private key that proves, not the certificate, which anybody may
// have seen.
TEST_F(CertificatesTest, ACertificateWithoutItsKeyIsNone) {
  const auto node = Agent();
  for (const bool is_client : {true, false}) {
    CertificatePaths stolen = site_.Issue({.name = "stolen"});
    folder_.Write("stolen.key", ForgedKey(stolen.certificate));
    const auto thief = Read(stolen);
    const auto member = site_.Member({.name = "alice"});
    Ends ends({nullptr, is_client ? thief : member},
              {nullptr, is_client ? node : thief});
    ends.Settle();
    EXPECT_FALSE(is_client ? ends.server.is_open() : ends.client.is_open());
    EXPECT_FALSE(ends.IsHeard());
    EXPECT_EQ(ends.server_heard + ends.client_heard, "");
    EXPECT_FALSE((is_client ? ends.server_status : ends.client_status).ok());
  }
}

TEST_F(CertificatesTest, RecordedBytesOpenNothing) {
  const auto node = Agent();
  const auto alice = site_.Member({});
  Ends first({nullptr, alice}, {Ring('1'), node});
  first.Settle();
  ASSERT_TRUE(first.IsHeard());
  // Also in pieces, as they were sent.
  for (const size_t piece : {first.to_server.size(), size_t{300}, size_t{1}}) {
    std::string heard;
    SecureChannel server(*SecureContext::Create(node), Side::kAccepts,
                         Ring('1'), "here");
    SecureChannel client(*SecureContext::Create(alice), Side::kConnects,
                         nullptr, "there");
    absl::Status taken;
    for (size_t at = 0; at < first.to_server.size() && taken.ok();
         at += piece) {
      taken = server.Take(first.to_server.substr(at, piece), heard);
    }
    EXPECT_FALSE(taken.ok());
    EXPECT_FALSE(server.is_open());
    EXPECT_FALSE(client.Take(first.to_client, heard).ok());
    EXPECT_FALSE(client.is_open());
    EXPECT_EQ(heard, "");
  }
}

// Where records of TLS have their version, which nobody reads.
std::set<size_t> VersionsOf(absl::string_view records) {
  std::set<size_t> out;
  for (size_t at = 0; at + 5 <= records.size();) {
    out.insert({at + 1, at + 2});
    at += 5 + 256 * static_cast<uint8_t>(records[at + 3]) +
          static_cast<uint8_t>(records[at + 4]);
  }
  return out;
}

// A changed byte of either hello, or of what follows the agent's: no end is
// talked into less than it has, such as another key or an older version.
TEST_F(CertificatesTest, ChangedHandshakesDoNotOpen) {
  const auto node = Agent();
  const auto alice = site_.Member({});
  const Proof from{Ring('2'), alice};
  const Proof to{Ring('1'), node};
  Ends whole(from, to);
  const size_t hello = whole.client.unsent().size();
  whole.Settle();
  ASSERT_TRUE(whole.are_open());
  for (const bool is_hello : {true, false}) {
    const absl::string_view said =
        is_hello ? absl::string_view(whole.to_server).substr(0, hello)
                 : whole.to_client;
    const std::set<size_t> unread = VersionsOf(said);
    // A signature is some bytes longer or shorter, now and then.
    for (size_t at = 0; at + 8 < said.size(); ++at) {
      if (unread.contains(at)) continue;
      Ends ends(from, to);
      (is_hello ? ends.edit_hello
                : ends.edit_server_hello) = [at](std::string& bytes) {
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
      };
      ends.Settle();
      EXPECT_FALSE(ends.are_open()) << is_hello << at;
      EXPECT_FALSE(ends.IsHeard()) << is_hello << at;
    }
  }
}

TEST_F(CertificatesTest, GarbageAtEachStageEnds) {
  const auto node = Agent();
  const auto alice = site_.Member({});
  const std::vector<std::string> garbages = {
      std::string(40, '\0'),
      std::string("\x17\3\3\0\x20", 5) + std::string(32, 'g'),
      std::string("\x15\3\3\0\2\1\0", 7), "GET / HTTP/1.1\r\n\r\n",
      std::string("\x16\3\3\0\4\x0b\0\0\0", 9)};
  for (const std::string& garbage : garbages) {
    // In place of the first, and of the second words of the client.
    for (const bool is_first : {true, false}) {
      Ends ends({nullptr, alice}, {Ring('1'), node});
      const auto edit = [&](std::string& bytes) { bytes = garbage; };
      (is_first ? ends.edit_hello : ends.edit_answer) = edit;
      ends.Settle();
      EXPECT_FALSE(ends.server.is_open());
      EXPECT_EQ(ends.server_heard, "");
      EXPECT_FALSE(ends.server_status.ok() && is_first &&
                   !absl::StartsWith(garbage, "\x16"));
    }
    // Of the agent.
    Ends ends({nullptr, alice}, {Ring('1'), node});
    ends.edit_server_hello = [&](std::string& bytes) { bytes = garbage; };
    ends.Settle();
    EXPECT_FALSE(ends.client.is_open());
    // After the handshake.
    Ends open({nullptr, alice}, {Ring('1'), node});
    open.Settle();
    ASSERT_TRUE(open.are_open());
    std::string heard;
    (void)open.server.Take(garbage, heard);
    EXPECT_EQ(heard, "");
  }
}

// Endless handshakes are cut where certificates are taken, too.
TEST_F(CertificatesTest, LongHandshakesEnd) {
  SecureChannel server(*SecureContext::Create(Agent()), Side::kAccepts, nullptr,
                       "here");
  std::string heard;
  absl::Status taken = server.Take(std::string("\x16\3\1\x3f\xff"), heard);
  for (int i = 0; taken.ok() && i < 100; ++i) {
    taken = server.Take(std::string(1000, '\1'), heard);
  }
  EXPECT_FALSE(taken.ok());
}

// Words of a certificate's refusal come within TLS alone: in clear anybody
// could put them there.
TEST_F(CertificatesTest, WordsInClearAreNotShown) {
  const std::string frame =
      Refusal{.reason = Refusal::Reason::kOtherCertificate,
              .ids = {},
              .words = "send your key to eve"}
          .EncodeFrame();
  SecureChannel client(*SecureContext::Create(site_.Member({})),
                       Side::kConnects, nullptr, "there");
  std::string heard;
  const absl::Status taken = client.Take(frame, heard);
  EXPECT_FALSE(taken.ok());
  EXPECT_THAT(taken.ToString(), Not(HasSubstr("eve")));
}

TEST_F(CertificatesTest, FilesAreReadAgain) {
  const CertificatePaths paths = site_.Issue({.name = "node"});
  const auto files = *CertificateFiles::Open(
      paths, {CertificateUse::kConnects, CertificateUse::kAccepts});
  const auto first = files->certificates();
  absl::Time now = absl::UnixEpoch();
  EXPECT_FALSE(files->Refresh(now));
  const auto changes = [&] {
    now += absl::Seconds(2);
    return files->Refresh(now);
  };
  EXPECT_FALSE(changes());
  const auto put = [&](const std::string& from, const std::string& to) {
    ASSERT_EQ(rename(from.c_str(), to.c_str()), 0);
  };
  // In two steps: the key first, which goes with the next certificate.
  const CertificatePaths next = site_.Issue({.name = "next"});
  put(next.key, paths.key);
  EXPECT_FALSE(changes());
  EXPECT_EQ(files->certificates(), first);
  put(next.certificate, paths.certificate);
  EXPECT_TRUE(changes());
  EXPECT_NE(files->certificates(), first);
  EXPECT_THAT(files->certificates()->OwnText(), HasSubstr("CN = next"));
  // Ones that no other end would take don't take its place, nor none.
  const auto second = files->certificates();
  for (const SiteAuthority::Wish& wish : std::vector<SiteAuthority::Wish>{
           {.name = "past", .until = -absl::Hours(1)},
           {.name = "user", .usages = "clientAuth"}}) {
    const CertificatePaths unfit = site_.Issue(wish);
    put(unfit.key, paths.key);
    put(unfit.certificate, paths.certificate);
    EXPECT_FALSE(changes());
    EXPECT_EQ(files->certificates(), second);
  }
  ASSERT_EQ(unlink(paths.key.c_str()), 0);
  EXPECT_FALSE(changes());
  EXPECT_EQ(files->certificates(), second);
}

// Ports: one polled by the test itself, as in an agent.
class CertificatePorts : public CertificatesTest {
 protected:
  std::unique_ptr<Credentials> Have(const std::string& name, char digit) {
    std::shared_ptr<KeyFile> keys;
    if (digit != 0) {
      const std::string path = folder_.Write(
          absl::StrCat("key", name),
          KeyRing(*Key::Parse(std::string(2 * Key::kBytes, digit))).Encode());
      EXPECT_EQ(chmod(path.c_str(), 0600), 0);
      keys = *KeyFile::Open(path);
    }
    return std::make_unique<Credentials>(
        std::move(keys), *CertificateFiles::Open(site_.Issue({.name = name}),
                                                 {CertificateUse::kConnects,
                                                  CertificateUse::kAccepts}));
  }
  // Polls both for as long as twenty seconds.
  static bool Serve(
      const std::vector<ControlPort*>& ports,
      const std::function<void(ControlPort&, const ControlEvent&)>& take,
      const std::function<bool()>& is_done) {
    SystemClock clock;
    const absl::Time deadline = clock.Now() + absl::Seconds(20);
    while (!is_done()) {
      if (clock.Now() > deadline) return false;
      for (ControlPort* const port : ports) {
        std::vector<ControlEvent> events;
        port->Poll(events);
        for (const ControlEvent& event : events) take(*port, event);
      }
    }
    return true;
  }
};

// What agents seal for each other is opened by a key. With certificates alone
// in common they would take each other for members, and for dead.
TEST_F(CertificatePorts, AgentsThatSealConnectByTheirKey) {
  for (const auto& [digit, is_member] :
       {std::pair('1', true), std::pair('2', false)}) {
    const auto ours = Have("here", digit);
    const auto theirs = Have("there", '1');
    const auto here = *ControlPort::Listen(
        "127.0.0.1:0", {.credentials = ours.get(), .connects_by_key = true});
    const auto there =
        *ControlPort::Listen("127.0.0.1:0", {.credentials = theirs.get()});
    here->Connect(there->address());
    bool is_connected = false;
    std::string cause;
    const auto take = [&](ControlPort& port, const ControlEvent& event) {
      if (&port != here.get()) return;
      if (event.kind == Kind::kConnected) is_connected = true;
      if (event.kind != Kind::kClosed) return;
      EXPECT_TRUE(event.is_refusal);
      cause = event.cause;
    };
    EXPECT_TRUE(Serve({here.get(), there.get()}, take,
                      [&] { return is_connected || !cause.empty(); }));
    EXPECT_EQ(is_connected, is_member);
    if (is_member) continue;
    EXPECT_THAT(cause, HasSubstr(absl::StrCat("does not take our key (theirs ",
                                              Ring('1')->Ids(), ", ours ",
                                              Ring('2')->Ids(), ")")));
  }
}

TEST_F(CertificatePorts, RefusedOnesAreToldByTheirConnection) {
  const auto theirs = Have("there", 0);
  const auto there =
      *ControlPort::Listen("127.0.0.1:0", {.credentials = theirs.get()});
  CertificatePaths paths = other_.Issue({.name = "mallory"});
  paths.ca = site_.ca_path();
  SecureChannel channel(*SecureContext::Create(Read(paths)), Side::kConnects,
                        nullptr, "there");
  const auto at = *ResolveAddress(there->address());
  const int fd = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  const absl::Cleanup closes = [fd] { close(fd); };
  ASSERT_EQ(connect(fd, at.get(), at.size), 0);
  std::string heard;
  bool has_ended = false;
  const auto take = [&](ControlPort&, const ControlEvent&) {
    ADD_FAILURE() << "an event of a stranger";
  };
  const auto is_done = [&] {
    if (!channel.unsent().empty()) {
      const ssize_t sent = send(fd, channel.unsent().data(),
                                channel.unsent().size(), MSG_NOSIGNAL);
      if (sent > 0) channel.NoteSent(static_cast<size_t>(sent));
    }
    char bytes[4096];
    const ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0) {
      EXPECT_TRUE(channel.Take({bytes, static_cast<size_t>(got)}, heard).ok());
    }
    has_ended = got == 0;
    return has_ended;
  };
  EXPECT_TRUE(Serve({there.get()}, take, is_done));
  EXPECT_THAT(heard, HasSubstr("CN = mallory, issued by CN = Other CA"));
  EXPECT_EQ(there->refused_count(), 1);
}

// Hellos that were recorded, or begun, and nothing after them.
TEST_F(CertificatePorts, HalfOpenHellosKeepNoMemberOut) {
  const auto theirs = Have("there", '1');
  const auto there =
      *ControlPort::Listen("127.0.0.1:0", {.credentials = theirs.get()});
  const auto ours = Have("here", 0);
  const auto here =
      *ControlPort::Listen("127.0.0.1:0", {.credentials = ours.get()});
  const SecureChannel recorded(*SecureContext::Create(ours->certificates()),
                               Side::kConnects, nullptr, "");
  const std::string hello(recorded.unsent());
  const auto at = *ResolveAddress(there->address());
  std::vector<int> fds;
  const absl::Cleanup closes = [&] {
    for (const int fd : fds) close(fd);
  };
  std::vector<ControlEvent> events;
  for (int i = 0; i < 600; ++i) {
    const int fd = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(fd, at.get(), at.size), 0);
    fds.push_back(fd);
    const size_t size = i % 2 == 0 ? hello.size() : hello.size() / 2;
    ASSERT_EQ(send(fd, hello.data(), size, MSG_NOSIGNAL),
              static_cast<ssize_t>(size));
    there->Poll(events);
  }
  EXPECT_LE(there->connection_count(), 257);
  EXPECT_TRUE(events.empty());
  here->Connect(there->address());
  bool is_connected = false;
  const auto take = [&](ControlPort& port, const ControlEvent& event) {
    if (&port == here.get()) is_connected |= event.kind == Kind::kConnected;
  };
  EXPECT_TRUE(
      Serve({here.get(), there.get()}, take, [&] { return is_connected; }));
}

}  // namespace
}  // namespace dogged
