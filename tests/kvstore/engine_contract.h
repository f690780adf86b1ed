// The contract of engines, as functions that tests of engines call. The caller
// tells how to wait for replies.
#ifndef DOGGED_TESTS_KVSTORE_ENGINE_CONTRACT_H_
#define DOGGED_TESTS_KVSTORE_ENGINE_CONTRACT_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "kvstore/storage/engine.h"
#include "runtime/base/random.h"

namespace dogged {

// An engine whose every call is waited for.
class PatientEngine {
 public:
  // `wait` lets time pass until there may be replies.
  PatientEngine(Engine& engine, std::function<void()> wait)
      : engine_(engine), wait_(std::move(wait)) {}

  EngineReply Call(EngineRequest request) {
    request.ticket = ++ticket_;
    const EngineRequest::Kind kind = request.kind;
    engine_.Submit(std::move(request));
    std::vector<EngineReply> replies;
    while (replies.empty()) {
      wait_();
      engine_.Poll(replies);
    }
    EXPECT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0].ticket, ticket_);
    EXPECT_EQ(replies[0].kind, kind);
    return std::move(replies[0]);
  }
  EngineReply Put(const std::string& key, const std::string& value) {
    return Call(
        {.kind = EngineRequest::Kind::kPut, .key = key, .value = Bytes(value)});
  }
  EngineReply Get(const std::string& key) {
    return Call({.kind = EngineRequest::Kind::kGet, .key = key});
  }
  EngineReply Erase(const std::string& key) {
    return Call({.kind = EngineRequest::Kind::kErase, .key = key});
  }
  EngineReply ErasePrefix(const std::string& key) {
    return Call({.kind = EngineRequest::Kind::kErasePrefix, .key = key});
  }
  EngineReply Scan(const std::string& key, const std::string& after,
                   int64_t bytes_max) {
    return Call({.kind = EngineRequest::Kind::kScan,
                 .key = key,
                 .after = after,
                 .bytes_max = bytes_max});
  }
  // All of a scan, page by page.
  std::map<std::string, std::string> ScanAll(const std::string& key,
                                             int64_t bytes_max) {
    std::map<std::string, std::string> out;
    std::string after;
    bool more = true;
    while (more) {
      const EngineReply page = Scan(key, after, bytes_max);
      EXPECT_TRUE(page.status.ok()) << page.status;
      for (const auto& [found, value] : page.found) {
        EXPECT_GT(found, after);
        after = found;
        out[found] = std::string(value.view());
      }
      more = page.more;
      EXPECT_FALSE(more && page.found.empty());
    }
    return out;
  }

 private:
  Engine& engine_;
  const std::function<void()> wait_;
  uint64_t ticket_ = 0;
};

// Random requests against a map. Values are shorter and longer than what an
// engine keeps apart; keys contain 0xff and 0x00.
inline void CheckAgainstAMap(PatientEngine& engine, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Rng rng(seed);
  std::map<std::string, std::string> model;
  const std::string prefixes[] = {"a", "a\xff", "a\xff\xff", "b", ""};
  const auto prefix = [&] { return prefixes[rng.Below(5)]; };
  const auto key = [&] {
    return absl::StrCat(prefix(),
                        std::string(1, static_cast<char>(rng.Below(4) * 85)));
  };
  for (int i = 0; i < 150; ++i) {
    const int64_t what = rng.Below(10);
    const std::string k = key();
    if (what < 4) {
      const std::string value(static_cast<size_t>(rng.Below(9000)),
                              static_cast<char>(rng.Below(256)));
      EXPECT_TRUE(engine.Put(k, value).status.ok());
      model[k] = value;
    } else if (what < 7) {
      const EngineReply got = engine.Get(k);
      EXPECT_EQ(got.status.ok(), model.contains(k)) << got.status;
      if (model.contains(k)) {
        EXPECT_TRUE(got.value.view() == model[k]);
      } else {
        EXPECT_EQ(got.status.code(), absl::StatusCode::kNotFound);
      }
    } else if (what < 8) {
      EXPECT_TRUE(engine.Erase(k).status.ok());
      model.erase(k);
    } else {
      std::string p = prefix();
      if (p.empty()) p = "a";
      std::map<std::string, std::string> expected;
      for (const auto& [name, value] : model) {
        if (absl::StartsWith(name, p)) expected[name] = value;
      }
      // Not EXPECT_EQ: it would print all values.
      EXPECT_TRUE(engine.ScanAll(p, 1 + rng.Below(9000)) == expected);
      if (what < 9) continue;
      EXPECT_TRUE(engine.ErasePrefix(p).status.ok());
      for (const auto& [name, value] : expected) model.erase(name);
      EXPECT_TRUE(engine.ScanAll(p, 1).empty());
    }
  }
}

}  // namespace dogged

#endif  // DOGGED_TESTS_KVSTORE_ENGINE_CONTRACT_H_
