// Aim: descriptions of a site become topology IDs that mean distance, and bad
// ones are refused with a word that helps. Method: small texts by hand; random
// trees in all bases against the distance in the tree; random bytes.
#include "routing/topology/site_topology.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/topology/site_tree.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

SiteTopology Parsed(absl::string_view text, int base = 16) {
  auto site = SiteTopology::Parse(text, base);
  EXPECT_TRUE(site.ok()) << site.status().ToString();
  return site.ok() ? *std::move(site) : SiteTopology();
}

std::string IdIn(const SiteTopology& site, absl::string_view host) {
  const auto id = site.IdOf(host);
  return id.ok() ? id->ToString() : std::string(id.status().message());
}

std::string ErrorOf(absl::string_view text, int base = 16) {
  const auto site = SiteTopology::Parse(text, base);
  return site.ok() ? "no error" : std::string(site.status().message());
}

TEST(SiteTopology, ReadsPlainText) {
  const SiteTopology site = Parsed(
      "# two rows\nbase 8\nswitch rack1 in row0\nswitch rack2 in row0\n"
      "switch rack3 in row1\nhost alpha in rack1\nhost beta in rack1 # here\n"
      "host gamma in rack2\nhost delta in rack3\n");
  EXPECT_EQ(IdIn(site, "alpha"), "8:000");
  EXPECT_EQ(IdIn(site, "beta"), "8:001");
  EXPECT_EQ(IdIn(site, "gamma"), "8:010");
  EXPECT_EQ(IdIn(site, "delta.example.org"), "8:100");
  EXPECT_EQ(IdIn(site, "omega"), "host omega is not among the 4 hosts named");
  EXPECT_EQ(IdIn(Parsed("host a id 3.0.255\nhost b id 3.1.0\n", 256), "a"),
            "256:3.0.255");
  EXPECT_EQ(IdIn(Parsed("host only in sw\n"), "only"), "16:0");
}

TEST(SiteTopology, ReadsSlurm) {
  const SiteTopology site = Parsed(
      "# topology.conf\nSwitchName=s0 Nodes=tux[0-3]\n"
      "SwitchName=s1 Nodes=tux[04-05,17],odd LinkSpeed=100\n"
      "SwitchName=s2 Switches=s[0-1]\n",
      4);
  EXPECT_EQ(site.hosts().size(), 8);
  EXPECT_EQ(IdIn(site, "tux2"), "4:02");
  EXPECT_EQ(IdIn(site, "tux05"), "4:11");
  EXPECT_EQ(IdIn(site, "tux17"), "4:12");
  EXPECT_EQ(IdIn(site, "odd"), "4:13");
}

// Two leaf switches under two spines: a spine is the root, the cables to the
// other spine are cross edges.
constexpr char kIbDump[] =
    "vendid=0x2c9\ndevid=0xbd36\nswitchguid=0x1(1)\n"
    "Switch\t36 \"S-01\"\t\t# \"leaf one\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-01\"[1](a)\t\t# \"alpha HCA-1\" lid 5 4xQDR\n"
    "[2]\t\"H-02\"[1](b)\t\t# \"beta HCA-1\" lid 6 4xQDR\n"
    "[35]\t\"S-03\"[1]\t\t# \"spine one\" lid 3 4xQDR\n"
    "[36]\t\"S-04\"[1]\t\t# \"spine two\" lid 4 4xQDR\n\n"
    "Switch\t36 \"S-02\"\t\t# \"leaf two\" enhanced port 0 lid 2 lmc 0\n"
    "[1]\t\"H-03\"[1](c)\t\t# \"gamma mlx5_0\" lid 7 4xQDR\n"
    "[35]\t\"S-03\"[2]\t\t# \"spine one\" lid 3 4xQDR\n"
    "[36]\t\"S-04\"[2]\t\t# \"spine two\" lid 4 4xQDR\n\n"
    "Switch\t36 \"S-03\"\t\t# \"spine one\"\n[1]\t\"S-01\"[35]\n"
    "[2]\t\"S-02\"[35]\n\nSwitch\t36 \"S-04\"\t\t# \"spine two\"\n"
    "[1]\t\"S-01\"[36]\n[2]\t\"S-02\"[36]\n\n"
    "Ca\t1 \"H-01\"\t\t# \"alpha HCA-1\"\n[1](a)\t\"S-01\"[1]\n\n"
    "Ca\t1 \"H-02\"\t\t# \"beta HCA-1\"\n[1](b)\t\"S-01\"[2]\n\n"
    "Ca\t1 \"H-03\"\t\t# \"gamma mlx5_0\"\n[1](c)\t\"S-02\"[1]\n";

TEST(SiteTopology, ReadsIbnetdiscover) {
  const SiteTopology site = Parsed(kIbDump, 2);
  EXPECT_EQ(IdIn(site, "alpha"), "00");
  EXPECT_EQ(IdIn(site, "beta"), "01");
  EXPECT_EQ(IdIn(site, "gamma"), "10");
}

TEST(SiteTopology, RefusesWithAWord) {
  EXPECT_EQ(ErrorOf(""), "no host is named");
  EXPECT_EQ(ErrorOf("switch a in b\n"), "no host is named");
  EXPECT_EQ(ErrorOf("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"
                    "SwitchName=c Nodes=x\n"),
            "switch a is within itself");
  EXPECT_EQ(ErrorOf("switch a in b\nswitch b in c\nswitch c in a\n"
                    "host x in a\n"),
            "switch c is within itself");
  EXPECT_EQ(ErrorOf("switch a in a\nhost x in a\n"),
            "switch a is within itself");
  EXPECT_EQ(ErrorOf("host x in a\nhost x in b\n"),
            "line 2: x is in a and in b");
  EXPECT_EQ(ErrorOf("host x in a\nhost y in x\n"),
            "line 2: x is a host and a switch");
  EXPECT_EQ(ErrorOf("host x id 01\nhost y id 01\n"),
            "hosts x and y have one topology ID, 16:01");
  EXPECT_EQ(ErrorOf("host x id 01\nhost y id 012\n"),
            "the topology ID of host x is the beginning of that of y");
  EXPECT_EQ(ErrorOf("base 8\nhost x id 08\n"),
            "line 2: topology ID \"08\": '8' is no digit of base 8");
  EXPECT_EQ(ErrorOf("host x id 01\nhost x id 02\n"),
            "line 2: host x stands here a second time");
  EXPECT_EQ(ErrorOf("host x id 01\nhost y in a\n"),
            "some hosts have an id, others a switch");
  EXPECT_EQ(ErrorOf("base 1\n"),
            "line 1: a base is 2 to 256 and stands before the hosts");
  EXPECT_EQ(ErrorOf("host x in a", 257), "base 257 is not in 2 to 256");
  EXPECT_EQ(ErrorOf("SwitchName=a Nodes=x[3-1]\n"),
            "line 1: [3-1] is no range of numbers");
  EXPECT_EQ(ErrorOf("SwitchName=a Nodes=x[0-99999999]\n"),
            "line 1: [0-99999999] is no range of numbers");
  EXPECT_EQ(ErrorOf("SwitchName=a Nodes=x[0-3\n"),
            "line 1: \"x[0-3\": a bracket does not close");
  EXPECT_EQ(ErrorOf("SwitchName=a Colour=red\n"),
            "line 1: what is \"Colour=red\"?");
  EXPECT_EQ(ErrorOf("Ca\t1 \"H-01\"\n"),
            "line 1: a node without its quoted name");
  std::string deep = "host x in s0\nhost y in s0\n";
  for (int i = 0; i < 70; ++i) {
    absl::StrAppend(&deep, "switch s", i, " in s", i + 1, "\nhost h", i,
                    " in s", i + 1, "\n");
  }
  EXPECT_EQ(ErrorOf(deep, 2), "topology ID: 71 digits; 1 to 64 are possible");
}

// In a random tree, of two hosts the one with the longer common prefix hangs
// below a deeper common switch; for any base.
TEST(SiteTopology, LongerPrefixesMeanShorterWays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    const int base = seed == 0 ? 256 : 2 + static_cast<int>(rng.Below(20));
    const int64_t switches = 1 + rng.Below(12);
    std::vector<int64_t> parent(static_cast<size_t>(switches), -1);
    std::string text;
    for (int64_t i = 1; i < switches; ++i) {
      parent[i] = rng.Below(i);
      absl::StrAppend(&text, "switch s", i, " in s", parent[i], "\n");
    }
    std::vector<int64_t> home;
    for (int64_t i = 0; i < 1 + rng.Below(40); ++i) {
      home.push_back(rng.Below(switches));
      absl::StrAppend(&text, "host h", i, " in s", home.back(), "\n");
    }
    const SiteTopology site = Parsed(text, base);
    const auto shared_depth = [&](int64_t a, int64_t b) {
      std::vector<int64_t> way_a, way_b;
      for (; a >= 0; a = parent[a]) way_a.push_back(a);
      for (; b >= 0; b = parent[b]) way_b.push_back(b);
      int depth = 0;
      while (!way_a.empty() && !way_b.empty() && way_a.back() == way_b.back()) {
        way_a.pop_back();
        way_b.pop_back();
        ++depth;
      }
      return depth;
    };
    for (size_t x = 0; x < home.size(); ++x) {
      const TopologyId at = *site.IdOf(absl::StrCat("h", x));
      std::vector<int> longest(20, -1), shortest(20, 1000);
      for (size_t y = 0; y < home.size(); ++y) {
        if (x == y) continue;
        const int prefix = CommonPrefix(at, *site.IdOf(absl::StrCat("h", y)));
        const auto depth = static_cast<size_t>(shared_depth(home[x], home[y]));
        longest[depth] = std::max(longest[depth], prefix);
        shortest[depth] = std::min(shortest[depth], prefix);
      }
      for (size_t near = 1; near < 20; ++near) {
        for (size_t far = 0; far < near; ++far) {
          EXPECT_LE(longest[far], shortest[near]);
        }
      }
    }
  }
}

TEST(SiteTopology, SurvivesGarbage) {
  const std::string texts[] = {
      kIbDump, "SwitchName=s0 Nodes=tux[0-3,7]\nSwitchName=s2 Switches=s0\n",
      "base 8\nswitch a in b\nhost x in a\nhost y id 0.1\n"};
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string text = texts[seed % 3];
    for (int64_t i = 0; i < 1 + rng.Below(8); ++i) {
      const auto at = static_cast<size_t>(rng.Below(std::ssize(text)));
      if (rng.Chance(0.5)) {
        text[at] = static_cast<char>("[]=,\"\n -09ab"[rng.Below(12)]);
      } else {
        text.erase(at, static_cast<size_t>(rng.Below(9)));
      }
      if (text.empty()) break;
    }
    const auto site = SiteTopology::Parse(text, 8);
    EXPECT_TRUE(site.ok() || !site.status().message().empty()) << seed;
  }
}

TEST(SiteTopology, AgentsOfAPlaceShareItsDigits) {
  for (int base : {2, 7, 16, 256}) {
    const TopologyId host = *TopologyId::FromDigits(base, std::string(3, '\1'));
    int64_t clashes = 0;
    std::vector<TopologyId> ids;
    for (uint64_t i = 1; i <= 60; ++i) {
      const TopologyId id = ExtendTopologyId(host, {1, 2}, AgentId(i));
      EXPECT_EQ(id, ExtendTopologyId(host, {1, 2}, AgentId(i)));
      EXPECT_EQ(CommonPrefix(id, host), 3);
      for (const TopologyId& other : ids) {
        EXPECT_GE(CommonPrefix(id, other), 5);
        EXPECT_EQ(id.size(), other.size());
        clashes += id == other;
      }
      ids.push_back(id);
    }
    EXPECT_LE(clashes, 1);
    EXPECT_EQ(CommonPrefix(ids[0], ExtendTopologyId(host, {0, 2}, AgentId(1))),
              3);
  }
  EXPECT_EQ(HashedHostId("alpha").size(), 4);
  EXPECT_NE(HashedHostId("alpha"), HashedHostId("beta"));
}

}  // namespace
}  // namespace dogged
