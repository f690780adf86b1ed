// Aim: an agent that a user names has as long to say how it is as COMMAND.md
// says; agents that it knows of have less, so that one slow agent costs little.
// Results that an agent lends are left where they lie for as long as may be,
// and are right even if they change there. Method: connections whose answers
// take a time that is made up, or lend values of this process's own arena.
#include "apps/dogged/client/cluster_client.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "routing/memory/arena.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Each answers after a time, by address, and knows all others.
struct Agents {
  std::map<std::string, absl::Duration> answer_after;
  absl::Duration waited;       // by the client, for all of them
  std::set<std::string> dead;  // as all say
  std::vector<std::string> submitted_to;
  std::vector<std::string> concluded_at;

  StatusReply ReplyOf(const std::string& address) const {
    StatusReply out;
    for (const auto& [other, after] : answer_after) {
      MemberStatus member;
      member.member.id = AgentId(out.members.size() + 1);
      member.member.topology_id = *TopologyId::FromDigits(16, "\1");
      member.member.control_address = other;
      member.state = dead.contains(other) ? "dead" : "alive";
      if (other == address) out.self = member.member.id;
      out.members.push_back(member);
    }
    return out;
  }
};

class SlowCaller : public ControlCaller {
 public:
  SlowCaller(Agents& agents, absl::string_view address)
      : agents_(agents), address_(address) {}
  absl::Status Send(uint8_t, absl::string_view, absl::Duration) override {
    return absl::OkStatus();
  }
  absl::StatusOr<ControlFrame> Receive(absl::Duration timeout) override {
    const absl::Duration after = agents_.answer_after[address_];
    agents_.waited += std::min(after, timeout);
    if (after > timeout) return absl::DeadlineExceededError(address_);
    return ControlFrame{static_cast<uint8_t>(ControlType::kStatus),
                        agents_.ReplyOf(address_).Encode()};
  }
  absl::StatusOr<ControlFrame> Call(uint8_t type, absl::string_view,
                                    absl::Duration timeout) override {
    if (type == static_cast<uint8_t>(ControlType::kSubmit)) {
      agents_.submitted_to.push_back(address_);
    }
    const auto frame = Receive(timeout);
    if (frame.ok() && type == static_cast<uint8_t>(ControlType::kConclude)) {
      agents_.concluded_at.push_back(address_);
    }
    return frame;
  }

 private:
  Agents& agents_;
  const std::string address_;
};

// Addresses of the agents that say how they are, if "a" is the named one.
std::vector<std::string> Answers(Agents& agents, absl::Duration patience) {
  auto client = ClusterClient::Connect(
      {"a"}, {.patience = patience,
              .connect = [&agents](absl::string_view address, absl::Duration) {
                return std::make_unique<SlowCaller>(agents, address);
              }});
  EXPECT_TRUE(client.ok()) << client.status();
  std::vector<std::string> out;
  for (const StatusReply& reply : (*client)->PollStatus()) {
    for (const MemberStatus& m : reply.members) {
      if (m.member.id == reply.self) out.push_back(m.member.control_address);
    }
  }
  return out;
}

TEST(ClusterClient, WhoIsNamedHasTenSeconds) {
  Agents agents{{{"a", absl::Milliseconds(9900)},
                 {"b", absl::Milliseconds(1100)},
                 {"c", absl::Milliseconds(900)}}};
  EXPECT_THAT(Answers(agents, ClusterClient::kNamedPatience),
              ElementsAre("a", "c"));
  EXPECT_EQ(agents.waited, absl::Milliseconds(9900 + 1000 + 900));
  agents.answer_after["a"] = absl::Milliseconds(10100);
  EXPECT_THAT(Answers(agents, ClusterClient::kNamedPatience), IsEmpty());
}

// A run asks all the time, so it waits for nobody.
TEST(ClusterClient, OthersHaveASecond) {
  Agents agents{{{"a", absl::Milliseconds(1100)}, {"c", absl::Seconds(0)}}};
  EXPECT_THAT(Answers(agents, ClusterClient::kStatusPatience), IsEmpty());
  EXPECT_EQ(agents.waited, absl::Seconds(1));
}

// Asked once, it is left alone for a while: results are collected between.
TEST(ClusterClient, OneThatIsSilentIsNotAskedEachTime) {
  Agents agents{{{"a", absl::Seconds(11)}, {"c", absl::Seconds(0)}}};
  auto client = ClusterClient::Connect(
      {"a", "c"}, {.connect = [&agents](absl::string_view at, absl::Duration) {
        return std::make_unique<SlowCaller>(agents, at);
      }});
  ASSERT_TRUE(client.ok()) << client.status();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*client)->PollStatus().size(), 1u);
    EXPECT_EQ(agents.waited, absl::Seconds(1));
  }
  // But where nobody else answers.
  agents.answer_after["c"] = absl::Seconds(12);
  agents.answer_after["a"] = absl::Seconds(0);
  EXPECT_EQ((*client)->PollStatus().size(), 1u);
  EXPECT_EQ(agents.waited, absl::Seconds(2));
}

// A client of "a", "b" and "c" that gave its job to the first that takes it.
std::unique_ptr<ClusterClient> Submitted(Agents& agents,
                                         const Relations& relations) {
  auto client = ClusterClient::Connect(
      {"a", "b", "c"},
      {.connect = [&agents](absl::string_view at, absl::Duration) {
        return std::make_unique<SlowCaller>(agents, at);
      }});
  EXPECT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)
                  ->Submit({.program = relations.program()}, SubmissionId(1),
                           {}, relations, 0)
                  .ok());
  return *std::move(client);
}

// A stopped process keeps its connections: only others know that it is dead.
// It is stopped still when the next one is looked for.
TEST(ClusterClient, GoesOnElsewhereIfOthersHoldItsSilentContactForDead) {
  const Program program = WideRelease(1);
  const Relations relations(program);
  Agents agents{{{"a", absl::Seconds(0)},
                 {"b", absl::Seconds(0)},
                 {"c", absl::Seconds(0)}}};
  const auto client = Submitted(agents, relations);
  agents.answer_after["a"] = absl::Hours(1);
  EXPECT_EQ(client->PollStatus().size(), 2u);
  ASSERT_TRUE(client->Collect(absl::Milliseconds(1)).ok());
  EXPECT_THAT(agents.submitted_to, ElementsAre("a"));  // it may only be slow
  agents.dead.insert("a");
  EXPECT_EQ(client->PollStatus().size(), 2u);
  ASSERT_TRUE(client->Collect(absl::Milliseconds(1)).ok());
  EXPECT_THAT(agents.submitted_to, ElementsAre("a", "b"));
  EXPECT_EQ(client->PollStatus().size(), 2u);
  ASSERT_TRUE(client->Collect(absl::Milliseconds(1)).ok());
  EXPECT_THAT(agents.submitted_to, ElementsAre("a", "b"));
}

// Answers each wish for results that it has no part in the job yet.
class LateCaller : public ControlCaller {
 public:
  struct Log {
    int64_t wishes = 0;
    absl::Duration waited;
  };
  explicit LateCaller(Log& log) : log_(log) {}

  absl::Status Send(uint8_t, absl::string_view, absl::Duration) override {
    ++log_.wishes;
    has_answer_ = true;
    return absl::OkStatus();
  }
  absl::StatusOr<ControlFrame> Receive(absl::Duration timeout) override {
    if (std::exchange(has_answer_, false)) {
      return ControlFrame{
          static_cast<uint8_t>(ControlType::kError),
          EncodeError(absl::UnavailableError("not running here yet"))};
    }
    log_.waited += timeout;
    return absl::DeadlineExceededError("no more");
  }
  absl::StatusOr<ControlFrame> Call(uint8_t, absl::string_view,
                                    absl::Duration) override {
    return ControlFrame{static_cast<uint8_t>(ControlType::kSubmitted), {}};
  }

 private:
  Log& log_;
  bool has_answer_ = false;
};

// Thousands of wishes a second had an agent do nothing but answer them.
TEST(ClusterClient, AsksAnAgentThatHasNothingYetOnceACall) {
  const Program program = WideRelease(1);
  const Relations relations(program);
  LateCaller::Log log;
  const auto client = ClusterClient::Connect(
      {"a"}, {.connect = [&log](absl::string_view, absl::Duration) {
        return std::make_unique<LateCaller>(log);
      }});
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE(
      (*client)
          ->Submit({.program = program}, SubmissionId(1), {}, relations, 0)
          .ok());
  for (int64_t call = 1; call <= 3; ++call) {
    ASSERT_TRUE((*client)->Collect(absl::Seconds(1)).ok());
    EXPECT_EQ(log.wishes, call);
    EXPECT_GT(log.waited, call * absl::Milliseconds(900));
  }
}

TEST(ClusterClient, GivesItsJobToOneThatAnswers) {
  const Program program = WideRelease(1);
  const Relations relations(program);
  Agents agents{
      {{"a", absl::Hours(1)}, {"b", absl::Hours(1)}, {"c", absl::Seconds(0)}}};
  Submitted(agents, relations);
  // Not "a" again before the last of them.
  EXPECT_THAT(agents.submitted_to, ElementsAre("a", "b", "c"));
}

// Agents that don't hear of it keep the results for minutes.
TEST(ClusterClient, TellsAnotherThatItHasAllIfItsContactHasGone) {
  const Program program = WideRelease(1);
  const Relations relations(program);
  Agents agents{{{"a", absl::Seconds(0)},
                 {"b", absl::Seconds(0)},
                 {"c", absl::Seconds(0)}}};
  const auto client = Submitted(agents, relations);
  EXPECT_TRUE(client->Conclude(client->record()).ok());
  EXPECT_THAT(agents.concluded_at, ElementsAre("a"));
  agents.answer_after["a"] = absl::Hours(1);
  EXPECT_TRUE(client->Conclude(client->record()).ok());
  EXPECT_THAT(agents.concluded_at, ElementsAre("a", "b"));
}

TEST(ClusterClient, WaitsTenSecondsForOneThatAnswers) {
  for (const absl::Duration patience :
       {ClusterClient::kStatusPatience, ClusterClient::kNamedPatience}) {
    Agents agents{{{"a", absl::Hours(1)}}};
    const auto client = ClusterClient::Connect(
        {"a"}, {.patience = patience,
                .connect = [&agents](absl::string_view at, absl::Duration) {
                  return std::make_unique<SlowCaller>(agents, at);
                }});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_THAT(std::string((*client)->AwaitStatus().status().message()),
                StartsWith("a takes the connection and does not answer"));
    EXPECT_EQ(agents.waited, absl::Seconds(10));
    agents.answer_after["a"] = absl::Milliseconds(900);
    EXPECT_EQ((*client)->AwaitStatus()->size(), 1u);
  }
}

// As one does on a computer that is busy, or as it opens its directory again.
TEST(ClusterClient, HearsOneThatNeedsSecondsForEachAnswer) {
  Agents agents{{{"a", absl::Seconds(8)}}};
  const auto client = ClusterClient::Connect(
      {"a"}, {.connect = [&agents](absl::string_view at, absl::Duration) {
        return std::make_unique<SlowCaller>(agents, at);
      }});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto replies = (*client)->AwaitStatus();
  ASSERT_TRUE(replies.ok()) << replies.status();
  EXPECT_EQ(replies->size(), 1u);
  EXPECT_EQ(agents.waited, absl::Seconds(1 + 8));
}

// Addresses where nobody listens any more cost none of the ten seconds.
TEST(ClusterClient, WaitsForTheOnlyOneThatIsThere) {
  Agents agents{{{"a", absl::Seconds(6)}}};
  const auto client = ClusterClient::Connect(
      {"a", "b", "c", "d", "e"},
      {.connect = [&agents](absl::string_view at, absl::Duration)
           -> absl::StatusOr<std::unique_ptr<ControlCaller>> {
        if (at == "a") return std::make_unique<SlowCaller>(agents, at);
        return absl::UnavailableError(absl::StrCat("nobody at ", at));
      }});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto replies = (*client)->AwaitStatus();
  ASSERT_TRUE(replies.ok()) << replies.status();
  EXPECT_EQ(agents.waited, absl::Seconds(1 + 6));
}

// Not ten seconds for each of them.
TEST(ClusterClient, WaitsTenSecondsForAllThatAreNamed) {
  for (const absl::Duration patience :
       {ClusterClient::kStatusPatience, ClusterClient::kNamedPatience}) {
    Agents agents{{{"a", absl::Hours(1)},
                   {"b", absl::Hours(1)},
                   {"c", absl::Hours(1)},
                   {"d", absl::Hours(1)},
                   {"e", absl::Hours(1)}}};
    const auto client = ClusterClient::Connect(
        {"a", "b", "c", "d", "e"},
        {.patience = patience,
         .connect = [&agents](absl::string_view at, absl::Duration) {
           return std::make_unique<SlowCaller>(agents, at);
         }});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_THAT(std::string((*client)->AwaitStatus().status().message()),
                StartsWith("a, b, c, d, e takes the connection"));
    EXPECT_EQ(agents.waited, absl::Seconds(10));
  }
}

constexpr int64_t kResults = 8;
constexpr int64_t kResultBytes = 64 << 10;

// The results of WideRelease(kResults): all elements of result i are i.
class LentResults {
 public:
  LentResults() {
    SetValueMemory(&arena_->values());
    for (int64_t i = 0; i < kResults; ++i) values_.push_back(Make(i));
    SetValueMemory(nullptr);
  }
  static Value Make(int64_t i) {
    Value out = Value::Allocate(ElementType::kDouble, {kResultBytes / 8});
    for (double& x : out.mutable_span<double>()) x = static_cast<double>(i);
    out.Seal();
    return out;
  }
  static bool IsRight(const Value& value, int64_t i) {
    return !value.IsNone() && value.view() == Make(i).view();
  }
  LentValue Lend(int64_t i, uint64_t number) const {
    const Value& value = values_[i];
    return {.label = Label{1, {i}},
            .arena = arena_->address(),
            .loan = {.number = number,
                     .offset = *arena_->OffsetOf(value.data()),
                     .type = value.type(),
                     .shape = value.shape(),
                     .digest = value.digest()}};
  }
  // Puts another value in place of the lent one.
  void Spoil(int64_t i) {
    const_cast<double*>(values_[i].span<double>().data())[9] += 1;
  }

 private:
  std::unique_ptr<Arena> arena_ = Arena::Create({.bytes = 1 << 24, .token = 7});
  std::vector<Value> values_;
};

// Lends what it is asked for, a result a frame; sends bytes where that is
// wished.
class LendingCaller : public ControlCaller {
 public:
  struct Log {
    std::vector<uint64_t> returned;  // numbers of loans
    std::vector<int64_t> sent;       // results, as bytes
  };
  LendingCaller(const LentResults& results, Log& log)
      : results_(results), log_(log) {}

  absl::Status Send(uint8_t type, absl::string_view body,
                    absl::Duration) override {
    if (type == static_cast<uint8_t>(ControlType::kReturned)) {
      log_.returned.push_back(ReturnedNotice::Decode(body)->number);
      return absl::OkStatus();
    }
    const auto request = WantRequest::Decode(body);
    for (const Label& label : request->labels) {
      ValuesReply reply{.job = request->job, .values = {}, .lent = {}};
      const int64_t i = label.index[0];
      if (request->may_borrow) {
        reply.lent.push_back(results_.Lend(i, ++loan_count_));
      } else {
        reply.values.emplace_back(label, LentResults::Make(i));
        log_.sent.push_back(i);
      }
      replies_.push_back(reply.Encode());
    }
    return absl::OkStatus();
  }
  absl::StatusOr<ControlFrame> Receive(absl::Duration) override {
    if (replies_.empty()) return absl::DeadlineExceededError("no more");
    ControlFrame out{static_cast<uint8_t>(ControlType::kValues),
                     replies_.front()};
    replies_.pop_front();
    return out;
  }
  absl::StatusOr<ControlFrame> Call(uint8_t, absl::string_view,
                                    absl::Duration) override {
    return ControlFrame{static_cast<uint8_t>(ControlType::kSubmitted), {}};
  }

 private:
  const LentResults& results_;
  Log& log_;
  uint64_t loan_count_ = 0;
  std::deque<Bytes> replies_;
};

class ClusterClientLent : public testing::Test {
 protected:
  // A client that reads up to so many results where they lie.
  // Results that it has copied beyond `kept_max` lie in a file.
  std::unique_ptr<ClusterClient> Start(
      int64_t lent_max, int64_t kept_max = kResults,
      const std::string& folder = testing::TempDir()) {
    auto client = ClusterClient::Connect(
        {"a"}, {.lent_bytes_max = lent_max * kResultBytes,
                .results_bytes_max = kept_max * kResultBytes,
                .result_folders = {folder},
                .connect = [this](absl::string_view, absl::Duration) {
                  return std::make_unique<LendingCaller>(results_, log_);
                }});
    EXPECT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE((*client)
                    ->Submit({.program = relations_.program()}, SubmissionId(1),
                             {}, relations_, 0)
                    .ok());
    return *std::move(client);
  }
  // Positions of the results that are not the client's own.
  static std::vector<int64_t> LeftThere(const ClusterClient& client) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < kResults; ++i) {
      const Value value = client.Find(Label{1, {i}}).value_or(Value());
      EXPECT_TRUE(LentResults::IsRight(value, i)) << i;
      if (value.IsView()) out.push_back(i);
    }
    return out;
  }

  const Program program_ = WideRelease(kResults);
  const Relations relations_{program_};
  LentResults results_;
  LendingCaller::Log log_;
};

TEST_F(ClusterClientLent, AreCopiedWhenAllAreHere) {
  const auto client = Start(kResults);
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_TRUE(client->HasAll());
  EXPECT_THAT(LeftThere(*client), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(*client->CopyLent(), true);
  EXPECT_THAT(LeftThere(*client), IsEmpty());
  EXPECT_THAT(log_.returned, IsEmpty());
  EXPECT_EQ(client->lent_count(), kResults);
}

TEST_F(ClusterClientLent, OldestAreGivenBackBeyondTheBound) {
  const auto client = Start(3);
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_THAT(log_.returned, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(LeftThere(*client), ElementsAre(5, 6, 7));
  EXPECT_THAT(*client->CopyLent(), true);
  EXPECT_THAT(LeftThere(*client), IsEmpty());
  EXPECT_THAT(log_.sent, IsEmpty());
}

// Values of a file are views of it.
TEST_F(ClusterClientLent, GoToAFileBeyondTheBound) {
  const auto client = Start(2, /*kept_max=*/3);
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_THAT(*client->CopyLent(), true);
  EXPECT_THAT(LeftThere(*client), ElementsAre(3, 4, 5, 6, 7));
}

TEST_F(ClusterClientLent, StayWhereNoFileCanBe) {
  const auto client = Start(2, /*kept_max=*/3, "/nowhere");
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_THAT(*client->CopyLent(), true);
  EXPECT_THAT(LeftThere(*client), IsEmpty());
}

TEST_F(ClusterClientLent, WhatChangedIsAskedForAgain) {
  const auto client = Start(3);
  results_.Spoil(1);  // found out while others come
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_THAT(log_.sent, ElementsAre(1));
  results_.Spoil(6);  // and in the end
  EXPECT_THAT(*client->CopyLent(), false);
  ASSERT_TRUE(client->Collect(absl::Seconds(1)).ok());
  EXPECT_THAT(*client->CopyLent(), true);
  EXPECT_THAT(log_.sent, ElementsAre(1, 6));
  EXPECT_THAT(LeftThere(*client), IsEmpty());
}

}  // namespace
}  // namespace dogged
