#include "routing/topology/site_topology.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/topology/site_readers.h"
#include "routing/topology/site_tree.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int kSuffixBits = 16;

using Hosts = std::map<std::string, TopologyId>;

enum class Format { kPlain, kSlurm, kIbnetdiscover };

Format FormatOf(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    if (absl::StartsWithIgnoreCase(line, "SwitchName=")) return Format::kSlurm;
    for (absl::string_view start :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=",
          "Switch\t", "Ca\t"}) {
      if (absl::StartsWith(line, start)) return Format::kIbnetdiscover;
    }
    return Format::kPlain;
  }
  return Format::kPlain;
}

// "3a1" or "0.3.1" in base `base`.
absl::StatusOr<TopologyId> ParseDigits(int base, absl::string_view digits) {
  return TopologyId::Parse(absl::StrCat(base, ":", digits));
}

class PlainReader {
 public:
  explicit PlainReader(int base) : base_(base) {}

  absl::Status Read(absl::string_view text) {
    int number = 0;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++number;
      const std::vector<absl::string_view> words =
          absl::StrSplit(line.substr(0, line.find('#')),
                         absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
      if (words.empty()) continue;
      const absl::Status status = ReadLine(words);
      if (!status.ok()) return LineError(number, status.message());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Hosts> Finish() {
    if (explicit_.empty()) return tree_.Number(base_);
    if (tree_.host_count() > 0) {
      return absl::InvalidArgumentError(
          "some hosts have an id, others a switch");
    }
    return std::move(explicit_);
  }

 private:
  absl::Status ReadLine(const std::vector<absl::string_view>& words) {
    if (words[0] == "base" && words.size() == 2) {
      if (!explicit_.empty() || !absl::SimpleAtoi(words[1], &base_) ||
          base_ < TopologyId::kBaseMin || base_ > TopologyId::kBaseMax) {
        return absl::InvalidArgumentError(
            "a base is 2 to 256 and stands before the hosts");
      }
      return absl::OkStatus();
    }
    const bool is_host = words[0] == "host";
    if (words.size() == 4 && words[2] == "in" &&
        (is_host || words[0] == "switch")) {
      return is_host ? tree_.PutHostIn(words[1], words[3])
                     : tree_.PutSwitchIn(words[1], words[3]);
    }
    if (is_host && words.size() == 4 && words[2] == "id") {
      DOGGED_ASSIGN_OR_RETURN(TopologyId id, ParseDigits(base_, words[3]));
      if (!explicit_.try_emplace(std::string(words[1]), std::move(id)).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("host ", words[1], " stands here a second time"));
      }
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "what is \"", absl::StrJoin(words, " "),
        "\"? Known are: base N; switch A in B; host A in B; host A id DIGITS"));
  }

  int base_;
  SiteTree tree_;
  Hosts explicit_;
};

// No two IDs are equal, and none is the beginning of another.
absl::Status CheckDistinct(const Hosts& hosts) {
  std::map<absl::string_view, absl::string_view> by_digits;
  for (const auto& [host, id] : hosts) {
    const auto [it, is_new] = by_digits.try_emplace(id.digits(), host);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("hosts ", it->second, " and ", host,
                       " have one topology ID, ", id.ToString()));
    }
  }
  for (auto it = by_digits.begin(); it != by_digits.end(); ++it) {
    const auto next = std::next(it);
    if (next != by_digits.end() && absl::StartsWith(next->first, it->first)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the topology ID of host ", it->second,
                       " is the beginning of that of ", next->second));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SiteTopology> SiteTopology::Parse(absl::string_view text,
                                                 int base) {
  if (base < TopologyId::kBaseMin || base > TopologyId::kBaseMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("base ", base, " is not in 2 to ", TopologyId::kBaseMax));
  }
  SiteTopology out;
  const Format format = FormatOf(text);
  if (format == Format::kPlain) {
    PlainReader reader(base);
    DOGGED_RETURN_IF_ERROR(reader.Read(text));
    DOGGED_ASSIGN_OR_RETURN(out.hosts_, reader.Finish());
  } else {
    DOGGED_ASSIGN_OR_RETURN(const SiteTree tree, format == Format::kSlurm
                                                     ? ReadSlurmTopology(text)
                                                     : ReadIbnetdiscover(text));
    DOGGED_ASSIGN_OR_RETURN(out.hosts_, tree.Number(base));
  }
  if (out.hosts_.empty()) {
    return absl::InvalidArgumentError("no host is named");
  }
  DOGGED_RETURN_IF_ERROR(CheckDistinct(out.hosts_));
  return out;
}

absl::StatusOr<TopologyId> SiteTopology::IdOf(absl::string_view host) const {
  auto it = hosts_.find(std::string(host));
  if (it == hosts_.end()) {
    it = hosts_.find(std::string(host.substr(0, host.find('.'))));
  }
  if (it == hosts_.end()) {
    return absl::NotFoundError(absl::StrCat("host ", host, " is not among the ",
                                            hosts_.size(), " hosts named"));
  }
  return it->second;
}

TopologyId ExtendTopologyId(const TopologyId& host, const HostPlace& place,
                            AgentId agent) {
  const int base = host.base();
  std::string digits(host.digits());
  digits.push_back(static_cast<char>(place.package % base));
  digits.push_back(static_cast<char>(place.numa_node % base));
  uint64_t random = Mix64(agent.value(), 0) >> (64 - kSuffixBits);
  for (uint64_t reach = 1; reach < 1u << kSuffixBits;
       reach *= static_cast<uint64_t>(base)) {
    digits.push_back(static_cast<char>(random % static_cast<uint64_t>(base)));
    random /= static_cast<uint64_t>(base);
  }
  // A description of a site as deep as an ID can be has no room for more.
  digits.resize(std::min<size_t>(digits.size(), TopologyId::kDigitsMax));
  absl::StatusOr<TopologyId> id = TopologyId::FromDigits(base, digits);
  DOGGED_CHECK(id.ok()) << id.status().ToString();
  return *std::move(id);
}

}  // namespace dogged
