// Messages about labels to the same agents in one pass become few messages,
// bounded in length, in the same order.
#include "kvstore/messages/message_batcher.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const AgentId kPeer(2);
const AgentId kThird(3);

TEST(MessageBatcher, GathersWhatGoesToTheSameAgents) {
  MessageBatcher bulks(100);
  EXPECT_TRUE(bulks.Add({kPeer}, LabelMessage::kStored, "a"));
  EXPECT_TRUE(bulks.Add({kThird}, LabelMessage::kStored, "b"));
  EXPECT_TRUE(bulks.Add({kPeer}, LabelMessage::kDone, "c"));
  EXPECT_TRUE(bulks.Add({kPeer, kThird}, LabelMessage::kStored, "d"));
  EXPECT_TRUE(bulks.Add({kPeer}, LabelMessage::kStored, "e"));
  const std::vector<MessageBatcher::Bulk> all = bulks.TakeAll();
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0].bodies, "ae");
  EXPECT_EQ(all[0].kind, LabelMessage::kStored);
  EXPECT_THAT(all[0].targets, ElementsAre(kPeer));
  EXPECT_EQ(all[1].bodies, "b");
  EXPECT_EQ(all[2].bodies, "c");
  EXPECT_EQ(all[2].kind, LabelMessage::kDone);
  EXPECT_EQ(all[3].bodies, "d");
  EXPECT_THAT(all[3].targets, ElementsAre(kPeer, kThird));
  EXPECT_THAT(bulks.TakeAll(), IsEmpty());
  EXPECT_TRUE(bulks.Add({kPeer}, LabelMessage::kStored, "f"));
  EXPECT_THAT(bulks.TakeAll(), SizeIs(1));
}

TEST(MessageBatcher, AreBounded) {
  MessageBatcher bulks(10);
  std::string said;
  for (char c = 'a'; c <= 'z'; ++c) {
    const std::string body(1 + static_cast<size_t>(c) % 5, c);
    EXPECT_TRUE(bulks.Add({kPeer}, LabelMessage::kPublish, body));
    said += body;
  }
  std::string heard;
  const std::vector<MessageBatcher::Bulk> all = bulks.TakeAll();
  for (const MessageBatcher::Bulk& bulk : all) {
    EXPECT_LE(bulk.bodies.size(), 10);
    EXPECT_TRUE(bulk.bodies.size() > 5 || &bulk == &all.back());
    heard += bulk.bodies;
  }
  EXPECT_EQ(heard, said);
  EXPECT_FALSE(bulks.Add({kPeer}, LabelMessage::kPublish, "sixsix"));
  EXPECT_FALSE(MessageBatcher(0).Add({kPeer}, LabelMessage::kPublish, "a"));
}

TEST(MessageBatcher, AreOfLabelsOnly) {
  MessageBatcher bulks(100);
  for (const LabelMessage kind :
       {LabelMessage::kWatermarks, LabelMessage::kLend, LabelMessage::kStarted,
        static_cast<LabelMessage>(kFirstFreeKind + 9),
        static_cast<LabelMessage>(kFirstFreeKind + 7)}) {
    EXPECT_FALSE(bulks.Add({kPeer}, kind, "a"));
  }
  EXPECT_THAT(bulks.TakeAll(), IsEmpty());
}

}  // namespace
}  // namespace dogged
