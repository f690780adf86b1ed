#include "routing/topology/site_readers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/topology/site_topology.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Takes the text between the first pair of double quotes off `text`.
std::optional<absl::string_view> TakeQuoted(absl::string_view& text) {
  const size_t open = text.find('"');
  if (open == absl::string_view::npos) return std::nullopt;
  const size_t close = text.find('"', open + 1);
  if (close == absl::string_view::npos) return std::nullopt;
  const absl::string_view quoted = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  return quoted;
}

// "[1-3,07]" without its brackets, appended to each of `heads`.
absl::Status AppendRanges(absl::string_view ranges,
                          std::vector<std::string>& heads) {
  std::vector<std::string> out;
  for (absl::string_view range : absl::StrSplit(ranges, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    int64_t first = 0;
    int64_t last = 0;
    const absl::string_view to =
        absl::StrContains(range, '-') ? ends.second : ends.first;
    if (!absl::SimpleAtoi(ends.first, &first) || !absl::SimpleAtoi(to, &last) ||
        first < 0 || last < first ||
        (last - first + std::ssize(out) / std::ssize(heads)) >=
            SiteTopology::kHostsMax / std::ssize(heads)) {
      return absl::InvalidArgumentError(
          absl::StrCat("[", ranges, "] is no range of numbers"));
    }
    for (const std::string& head : heads) {
      for (int64_t i = first; i <= last; ++i) {
        std::string number = absl::StrCat(i);
        if (number.size() < ends.first.size()) {
          number.insert(0, ends.first.size() - number.size(), '0');
        }
        out.push_back(head + number);
      }
    }
  }
  heads = std::move(out);
  return absl::OkStatus();
}

}  // namespace

absl::Status LineError(int number, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", what));
}

absl::StatusOr<std::vector<std::string>> ExpandHostList(
    absl::string_view text) {
  std::vector<std::string> out;
  std::vector<std::string> heads = {""};
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      out.insert(out.end(), heads.begin(), heads.end());
      heads = {""};
    } else if (text[i] == '[') {
      const size_t close = text.find(']', i);
      if (close == absl::string_view::npos) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", text, "\": a bracket does not close"));
      }
      DOGGED_RETURN_IF_ERROR(
          AppendRanges(text.substr(i + 1, close - i - 1), heads));
      i = close;
    } else {
      for (std::string& head : heads) head.push_back(text[i]);
    }
    if (std::ssize(out) > SiteTopology::kHostsMax) {
      return absl::InvalidArgumentError("more than a million hosts");
    }
  }
  return out;
}

absl::StatusOr<SiteTree> ReadSlurmTopology(absl::string_view text) {
  SiteTree tree;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = line.substr(0, line.find('#'));
    std::string name;
    std::vector<std::string> switches;
    std::vector<std::string> hosts;
    for (absl::string_view word :
         absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      const std::string key = absl::AsciiStrToLower(parts.first);
      if (key == "linkspeed") continue;
      absl::StatusOr<std::vector<std::string>> names =
          ExpandHostList(parts.second);
      if (!names.ok()) return LineError(number, names.status().message());
      if (key == "switchname") {
        name = names->front();
      } else if (key == "switches") {
        switches = *std::move(names);
      } else if (key == "nodes") {
        hosts = *std::move(names);
      } else {
        return LineError(number, absl::StrCat("what is \"", word, "\"?"));
      }
    }
    if (name.empty() && switches.empty() && hosts.empty()) continue;
    absl::Status status = tree.PutSwitch(name);
    for (const std::string& below : switches) {
      if (status.ok()) status = tree.PutSwitchIn(below, name);
    }
    for (const std::string& host : hosts) {
      if (status.ok()) status = tree.PutHostIn(host, name);
    }
    if (!status.ok()) return LineError(number, status.message());
  }
  return tree;
}

namespace {

// Contents of a dump of ibnetdiscover: switches, hosts, cables.
struct IbFabric {
  std::vector<std::string> switches;
  std::map<std::string, std::string> hosts;  // port's GUID -> name
  std::map<std::string, std::vector<std::string>> cables;
};

absl::StatusOr<IbFabric> ParseIbDump(absl::string_view text) {
  IbFabric fabric;
  std::string current;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const bool is_switch = absl::StartsWith(line, "Switch");
    const bool is_host = absl::StartsWith(line, "Ca");
    absl::string_view rest = line;
    if (is_switch || is_host) {
      const auto guid = TakeQuoted(rest);
      const auto words = TakeQuoted(rest);
      if (!guid || (is_host && (!words || words->empty()))) {
        return LineError(number, "a node without its quoted name");
      }
      current = std::string(*guid);
      if (is_switch) fabric.switches.push_back(current);
      // "alpha HCA-1": the host is the first word.
      if (is_host) {
        fabric.hosts[current] = std::string(words->substr(0, words->find(' ')));
      }
    } else if (absl::StartsWith(line, "[")) {
      const auto peer = TakeQuoted(rest);
      if (!peer || current.empty()) {
        return LineError(number, "a cable from or to nowhere");
      }
      fabric.cables[current].push_back(std::string(*peer));
    }
  }
  std::sort(fabric.switches.begin(), fabric.switches.end());
  return fabric;
}

// Steps from each switch to the nearest of `starts`, over switches only.
std::map<std::string, int> StepsFrom(
    const IbFabric& fabric, std::vector<std::string> starts,
    std::map<std::string, std::string>* parents) {
  std::map<std::string, int> steps;
  for (const std::string& start : starts) steps[start] = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto cables = fabric.cables.find(starts[i]);
    if (cables == fabric.cables.end()) continue;
    std::vector<std::string> peers = cables->second;
    std::sort(peers.begin(), peers.end());
    for (const std::string& peer : peers) {
      if (fabric.hosts.contains(peer)) continue;
      if (!steps.try_emplace(peer, steps[starts[i]] + 1).second) continue;
      if (parents != nullptr) (*parents)[peer] = starts[i];
      starts.push_back(peer);
    }
  }
  return steps;
}

}  // namespace

absl::StatusOr<SiteTree> ReadIbnetdiscover(absl::string_view text) {
  DOGGED_ASSIGN_OR_RETURN(const IbFabric fabric, ParseIbDump(text));
  std::map<std::string, std::string> home;  // host's GUID -> switch
  std::vector<std::string> leaves;
  for (const std::string& name : fabric.switches) {
    const auto cables = fabric.cables.find(name);
    if (cables == fabric.cables.end()) continue;
    for (const std::string& peer : cables->second) {
      if (!fabric.hosts.contains(peer)) continue;
      home.try_emplace(peer, name);  // a host with two ports: its first
      if (leaves.empty() || leaves.back() != name) leaves.push_back(name);
    }
  }
  SiteTree tree;
  // The root is as far from hosts as can be: a spine of a fat tree. From it,
  // a breadth-first tree, as up/down routing has one [AG 2.1].
  std::map<std::string, int> height = StepsFrom(fabric, leaves, nullptr);
  std::map<std::string, std::string> parents;
  while (!height.empty()) {
    const auto top = std::max_element(
        height.begin(), height.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    DOGGED_RETURN_IF_ERROR(tree.PutSwitch(top->first));
    for (const auto& [name, steps] :
         StepsFrom(fabric, {top->first}, &parents)) {
      height.erase(name);  // switches left over have no link to here
    }
  }
  for (const auto& [child, parent] : parents) {
    DOGGED_RETURN_IF_ERROR(tree.PutSwitchIn(child, parent));
  }
  std::map<std::string, std::string> placed;  // host -> switch
  for (const auto& [guid, leaf] : home) {
    const std::string& host = fabric.hosts.at(guid);
    // A host with two adapters stands where the first one is.
    if (!placed.try_emplace(host, leaf).second) continue;
    DOGGED_RETURN_IF_ERROR(tree.PutHostIn(host, leaf));
  }
  return tree;
}

}  // namespace dogged
