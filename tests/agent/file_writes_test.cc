// Aim: a request to write goes to the writer once all of its values are here,
// with each value at its part, and answers go to the client that asked.
// Method: values in another order than the parts; clients that go.
#include "runtime/agent/loop/file_writes.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"

namespace dogged {
namespace {

constexpr JobId kJob(5);

class NotedWriter : public PartWriter {
 public:
  struct Work {
    ConnectionId client;
    WriteRequest request;
    std::vector<Value> values;
  };
  void Submit(ConnectionId client, WriteRequest request,
              std::vector<Value> values) override {
    works.push_back({client, std::move(request), std::move(values)});
  }
  void Forget(ConnectionId client) override { gone.push_back(client); }
  std::vector<std::pair<ConnectionId, WrittenReply>> TakeDone() override {
    return std::exchange(done, {});
  }
  std::vector<ConnectionId> gone;
  std::vector<Work> works;
  std::vector<std::pair<ConnectionId, WrittenReply>> done;
};

Label LabelAt(int64_t i) { return {.array = 0, .index = {i}}; }

WriteRequest RequestOf(uint64_t number, const std::vector<int64_t>& labels) {
  WriteRequest out{.job = kJob, .number = number};
  for (const int64_t i : labels) out.parts.push_back({.label = LabelAt(i)});
  return out;
}

class FileWritesTest : public testing::Test {
 protected:
  NotedWriter writer_;
  FileWrites writes_{writer_};
};

TEST_F(FileWritesTest, WaitsForAllValues) {
  ASSERT_TRUE(writes_.Add(ConnectionId(1), RequestOf(10, {3, 4, 3})).ok());
  ASSERT_TRUE(writes_.Add(ConnectionId(2), RequestOf(20, {4})).ok());
  writes_.AddValue(kJob, LabelAt(9), Value::Scalar(9));
  writes_.AddValue(JobId(6), LabelAt(4), Value::Scalar(6));
  EXPECT_TRUE(writer_.works.empty());
  writes_.AddValue(kJob, LabelAt(4), Value::Scalar(4));
  ASSERT_EQ(writer_.works.size(), 1);
  EXPECT_EQ(writer_.works[0].client, ConnectionId(2));
  writes_.AddValue(kJob, LabelAt(3), Value::Scalar(3));
  ASSERT_EQ(writer_.works.size(), 2);
  const NotedWriter::Work& work = writer_.works[1];
  EXPECT_EQ(work.request.number, 10);
  ASSERT_EQ(work.values.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(work.values[i].span<double>()[0],
              static_cast<double>(work.request.parts[i].label.index[0]));
  }
  writes_.AddValue(kJob, LabelAt(3), Value::Scalar(3));
  EXPECT_EQ(writer_.works.size(), 2);
}

TEST_F(FileWritesTest, ReadsAgainAndProbesAtOnce) {
  ASSERT_TRUE(writes_.Add(ConnectionId(1), RequestOf(10, {})).ok());
  WriteRequest again = RequestOf(11, {3});
  again.digests.resize(1);
  ASSERT_TRUE(writes_.Add(ConnectionId(1), again).ok());
  ASSERT_EQ(writer_.works.size(), 2);
  EXPECT_TRUE(writer_.works[1].values.empty());
}

TEST_F(FileWritesTest, ForgetsClientsThatHaveGone) {
  ASSERT_TRUE(writes_.Add(ConnectionId(1), RequestOf(10, {3, 4})).ok());
  ASSERT_TRUE(writes_.Add(ConnectionId(2), RequestOf(20, {4})).ok());
  writes_.Forget(ConnectionId(1));
  EXPECT_THAT(writer_.gone, testing::ElementsAre(ConnectionId(1)));
  writes_.AddValue(kJob, LabelAt(3), Value::Scalar(3));
  writes_.AddValue(kJob, LabelAt(4), Value::Scalar(4));
  ASSERT_EQ(writer_.works.size(), 1);
  EXPECT_EQ(writer_.works[0].client, ConnectionId(2));
}

// The job was forgotten meanwhile, and has begun anew.
TEST_F(FileWritesTest, HoldsTheJobThatIsThereNow) {
  auto former = std::make_shared<int>();
  auto now = std::make_shared<int>();
  writes_.Hold(ConnectionId(1), kJob, former);
  writes_.Hold(ConnectionId(1), kJob, now);
  writes_.Hold(ConnectionId(2), kJob, now);
  EXPECT_EQ(former.use_count(), 1);
  EXPECT_EQ(now.use_count(), 3);
  writes_.Forget(ConnectionId(1));
  EXPECT_EQ(now.use_count(), 2);
}

TEST_F(FileWritesTest, AnswersThoseWhoAsked) {
  ASSERT_TRUE(writes_.Add(ConnectionId(2), RequestOf(20, {})).ok());
  writer_.done.push_back({ConnectionId(2), {.number = 20}});
  writer_.done.push_back({ConnectionId(3), {.number = 30}});
  std::vector<std::pair<ConnectionId, uint64_t>> sent;
  const auto send = [&sent](ConnectionId client, const WrittenReply& reply) {
    sent.emplace_back(client, reply.number);
  };
  writes_.SendDone(send);
  writes_.SendDone(send);
  EXPECT_THAT(sent, testing::ElementsAre(std::pair(ConnectionId(2), 20)));
}

TEST_F(FileWritesTest, ClientsHaveFewRequestsAtATime) {
  for (int64_t i = 0; i < FileWrites::kPendingMax; ++i) {
    ASSERT_TRUE(writes_.Add(ConnectionId(1), RequestOf(1, {3})).ok());
  }
  EXPECT_EQ(writes_.Add(ConnectionId(1), RequestOf(1, {3})).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(writes_.Add(ConnectionId(2), RequestOf(1, {3})).ok());
  writer_.done.push_back({ConnectionId(1), {.number = 1}});
  writes_.SendDone([](ConnectionId, const WrittenReply&) {});
  EXPECT_TRUE(writes_.Add(ConnectionId(1), RequestOf(1, {3})).ok());
}

}  // namespace
}  // namespace dogged
