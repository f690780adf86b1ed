// Aim: a byte on the wire changes only on purpose. Method: docs/WIRE.md as
// goldens in hex, written by hand from that page; a change of either changes
// both.
#include <climits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "kvstore/messages/label_messages.h"
#include "routing/control/control_frame.h"
#include "routing/membership/reconcile.h"
#include "routing/transport/envelope.h"
#include "routing/trust/hex.h"
#include "runtime/agent/job_values.h"
#include "runtime/agent/loop/control.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/agent/records/placement_salts.h"
#include "runtime/job/context/job_messages.h"
#include "runtime/job/inputs/input_chunks.h"
#include "tests/agent/one_agent.h"
#include "tests/kvstore/published.h"

namespace dogged {
namespace {

std::string Hex(absl::string_view bytes) {
  return absl::BytesToHexString(bytes);
}
// Bytes of a golden, without its blanks.
std::string Golden(absl::string_view text) {
  return absl::StrReplaceAll(text, {{" ", ""}});
}

const Label kLabel{.array = 1, .index = {2, -1}};

TEST(Wire, FramesOfTheControlPort) {
  EXPECT_EQ(Hex(FrameHeader::Encode(7, "abc")),
            Golden("64676432 03000000 07 022685e4"));
  const auto header = FrameHeader::Decode(FrameHeader::Encode(7, "abc"));
  ASSERT_TRUE(header.ok());
  EXPECT_TRUE(header->Check("abc").ok());
  EXPECT_FALSE(header->Check("abd").ok());
  EXPECT_FALSE(header->Check("abcd").ok());
  EXPECT_EQ(Hex(EncodeId(AgentId(0x0102030405060708)).view()),
            Golden("0807060504030201"));
  EXPECT_EQ(Hex(EncodeError(absl::NotFoundError("x")).view()),
            Golden("0a 0178"));
  const WantRequest want{.job = JobId(5), .labels = {kLabel}};
  EXPECT_EQ(Hex(want.Encode().view()),
            Golden("0500000000000000 00 01 01 02 04 01"));
  const SubmitRequest submit{.submission = SubmissionId(6),
                             .options = {.replicas = 2,
                                         .search_only = true,
                                         .tasks_needed = 300,
                                         .redo_max_ms = 5,
                                         .keep_ms = 300},
                             .text_hash = 7,
                             .supplies = true,
                             .job = "J"};
  EXPECT_EQ(
      Hex(submit.Encode().view()),
      Golden("0600000000000000 04 01 01 00 00 d804 0a d804 0700000000000000 01 "
             "014a"));
  EXPECT_TRUE(SubmitRequest::Decode(submit.Encode().view()).ok());
  // An agent with so many would end, and so would all who hear of the job.
  for (const int replicas : {0, 17, INT_MAX}) {
    const SubmitRequest bad{.options = {.replicas = replicas}};
    EXPECT_FALSE(SubmitRequest::Decode(bad.Encode().view()).ok()) << replicas;
    const JobRecord record{.options = {.replicas = replicas}};
    EXPECT_FALSE(JobRecord::Decode(record.Encode().view()).ok()) << replicas;
  }
  // Nor tiles for more than there can be.
  for (const int agents : {-1, 1025}) {
    const SubmitRequest bad{.options = {.agents = agents}};
    EXPECT_FALSE(SubmitRequest::Decode(bad.Encode().view()).ok()) << agents;
  }
  const JobRecord negative{.options = {.tasks_needed = -1}};
  EXPECT_FALSE(JobRecord::Decode(negative.Encode().view()).ok());
  for (const int64_t keep : {int64_t{-1}, JobOptions::kKeepMax + 1}) {
    const SubmitRequest bad{.options = {.keep_ms = keep}};
    EXPECT_FALSE(SubmitRequest::Decode(bad.Encode().view()).ok()) << keep;
  }
  const JobRecord no_time{.options = {.redo_max_ms = -1}};
  EXPECT_FALSE(JobRecord::Decode(no_time.Encode().view()).ok());
  const StatusRequest status{
      .jobs = {.job = JobId(5), .submission = SubmissionId(6), .ended_max = 20},
      .text_hash = 7};
  EXPECT_EQ(Hex(status.Encode().view()),
            Golden("0500000000000000 0600000000000000 28 0700000000000000"));
  EXPECT_TRUE(StatusRequest::Decode(status.Encode().view()).ok());
  EXPECT_FALSE(StatusRequest::Decode("").ok());
  const Loan loan{.number = 1,
                  .offset = 64,
                  .type = ElementType::kFloat,
                  .shape = {3},
                  .digest = {.low = 8, .high = 9}};
  const ValuesReply values{
      .job = JobId(5),
      .values = {},
      .lent = {{.label = kLabel, .arena = "A", .loan = loan}}};
  EXPECT_EQ(Hex(values.Encode().view()),
            Golden("0500000000000000 00 01 01 02 04 01 0141 "
                   "01 40 0800000000000000 0900000000000000 01 01 06"));
  EXPECT_TRUE(ValuesReply::Decode(values.Encode().view()).ok());
  EXPECT_EQ(Hex(ReturnedNotice{.number = 300}.Encode().view()), Golden("ac02"));
}

TEST(Wire, Hello) {
  EXPECT_EQ(kHelloType, 255);
  EXPECT_EQ(Hex(WireHello{.range = {1, 300}, .release = "r"}.Encode()),
            Golden("01 ac02 0172"));
  for (const absl::string_view bad : {"", "01", "0001 00", "0201 00"}) {
    const std::string body = BytesOfHex(Golden(bad));
    EXPECT_FALSE(WireHello::Decode(body).ok()) << bad;
  }
  // Words for a log.
  EXPECT_EQ(WireHello::Decode(BytesOfHex(Golden("0101 03 1b5b41")))->release,
            "[A");
}

TEST(Wire, ClientsThatHaveOnlyAJobsHash) {
  EXPECT_EQ(static_cast<int>(ControlType::kJobWanted), 16);
  EXPECT_EQ(static_cast<int>(ControlType::kJobValue), 17);
  EXPECT_EQ(static_cast<int>(ControlType::kHeldWanted), 18);
  EXPECT_EQ(static_cast<int>(ControlType::kHeld), 19);
  EXPECT_EQ(static_cast<int>(ControlType::kWatch), 20);
  EXPECT_EQ(static_cast<int>(ControlType::kAdmit), 21);
  EXPECT_EQ(static_cast<int>(ControlType::kAdmitted), 22);
  EXPECT_EQ(static_cast<int>(ControlType::kWrite), 23);
  EXPECT_EQ(static_cast<int>(ControlType::kWritten), 24);
  const JobSummary kept{.record = {.hash = {.low = 1, .high = 2}},
                        .kept_labels = 2,
                        .kept_bytes = 300,
                        .keep_left_ms = 5};
  const auto status =
      StatusReply::Decode(StatusReply{.jobs = {kept}}.Encode().view());
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->jobs[0].kept_labels, 2);
  EXPECT_EQ(status->jobs[0].kept_bytes, 300);
  EXPECT_EQ(status->jobs[0].keep_left_ms, 5);
}

// They stand behind all that the former release reads, and may be missing.
TEST(Wire, CountsThatCameLater) {
  StatusReply reply;
  JobStats stats;
  stats.copy_bytes = 3;
  stats.bytes_moved = 4;
  reply.jobs = {{.record = {.hash = {.low = 1, .high = 2}}, .stats = stats}};
  stats.bytes_moved = 5;
  Member member;
  member.id = AgentId(11);
  member.topology_id = *TopologyId::Parse("12");
  member.control_address = "10.0.0.1:7070";
  member.fabric_address = "10.0.0.1:7071";
  member.workers = 3;
  reply.members = {{.member = member,
                    .state = "alive",
                    .stats = {{JobId(7), stats}, {JobId(8), {}}}}};
  const Bytes encoded = reply.Encode();
  const auto whole = StatusReply::Decode(encoded.view());
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->jobs[0].stats.copy_bytes, 3);
  EXPECT_EQ(whole->jobs[0].stats.bytes_moved, 4);
  EXPECT_EQ(whole->members[0].stats[0].second.bytes_moved, 5);
  EXPECT_EQ(whole->members[0].stats[1].second.bytes_moved, 0);
  // Three of a byte each.
  const absl::string_view former =
      encoded.view().substr(0, encoded.view().size() - 3);
  const auto older = StatusReply::Decode(former);
  ASSERT_TRUE(older.ok());
  EXPECT_EQ(older->jobs[0].stats.copy_bytes, 3);
  EXPECT_EQ(older->jobs[0].stats.bytes_moved, 0);
}

TEST(Wire, ResultsThatAgentsWrite) {
  const FilePart part{.label = kLabel,
                      .extents = {4, 300},
                      .first = {1, 0},
                      .count = {2, 300},
                      .stride = {2400, 8},
                      .offset = 128};
  const WriteRequest request{.job = JobId(5),
                             .number = 7,
                             .path = "/u",
                             .mark = {.low = 8, .high = 9},
                             .parts = {part},
                             .digests = {{.low = 1, .high = 2}}};
  EXPECT_EQ(Hex(request.Encode().view()),
            Golden("0500000000000000 0700000000000000 022f75 "
                   "0900000000000000 0800000000000000 01 01 02 04 01 "
                   "02 08 d804 02 02 00 02 04 d804 02 c025 10 8002 10 "
                   "01 0200000000000000 0100000000000000"));
  const auto back = WriteRequest::Decode(request.Encode().view());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->parts[0].stride, part.stride);
  EXPECT_EQ(back->parts[0].offset, 128);
  WriteRequest uneven = request;
  uneven.digests.emplace_back();
  EXPECT_FALSE(WriteRequest::Decode(uneven.Encode().view()).ok());
  const WrittenReply reply{.number = 7,
                           .status = absl::DataLossError("x"),
                           .digests = {{.low = 1, .high = 2}},
                           .not_finite = 3};
  EXPECT_EQ(Hex(reply.Encode().view()),
            Golden("0700000000000000 1e 0178 01 "
                   "0200000000000000 0100000000000000 06"));
  const auto told = WrittenReply::Decode(reply.Encode().view());
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->status, reply.status);
  EXPECT_EQ(told->digests, reply.digests);
}

TEST(Wire, ChunksOfInputs) {
  const ChunksWanted wanted{.job = JobId(5), .chunks = {{1, 300}}};
  EXPECT_EQ(Hex(wanted.Encode().view()), Golden("0500000000000000 01 02 d804"));
  const auto back = ChunksWanted::Decode(wanted.Encode().view());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->chunks, wanted.chunks);
  JobInput input{.array = "A", .content = Value::Scalar(0)};
  input.Cut({});
  const std::string part =
      ChunkPart{.job = JobId(5), .chunk = {0, 0}}.EncodeWith(input);
  EXPECT_EQ(Hex(part), Golden("0500000000000000 00 00 0000000000000000"));
  EXPECT_EQ(ChunkPart::Decode(part)->bytes.size(), 8);
  for (const char* const bad : {"", "\5"}) {
    EXPECT_FALSE(ChunksWanted::Decode(bad).ok());
    EXPECT_FALSE(ChunkPart::Decode(bad).ok());
  }
  // A request, and the answer of an agent that has no such job.
  EXPECT_EQ(Hex(InputChunks::AnswerWithout("\x01\x01\x04").view()),
            Golden("05 01 04"));
  EXPECT_TRUE(InputChunks::AnswerWithout("\x05\x01\x04").empty());
  const Bytes value(std::string("value"));
  EXPECT_EQ(Hex(PartOf(value, "\x02\x06")->view()), Golden("0a 02 616c75"));
}

TEST(Wire, HomesOfAJob) {
  EXPECT_EQ(Hex(EncodeSalts({{7, 1}, {5, 255}}).view()),
            Golden("02 0500000000000000 ff 0700000000000000 01"));
  EXPECT_EQ(HomesKey({.low = 1, .high = 2}),
            "homes/00000000000000020000000000000001");
}

TEST(Wire, EnvelopesOfTheFabric) {
  Envelope head;
  head.kind = 16;
  head.flags = 1;
  head.source = AgentId(1);
  head.target = AgentId(2);
  head.view = ViewDigest(3);
  head.job = JobId(4);
  std::string message;
  AppendMessage(head, "ab", "c", message);
  const std::string header = message.substr(0, 48);
  EXPECT_EQ(Hex(header), Golden("444f4744 01 10 0100 0100000000000000 "
                                "0200000000000000 0300000000000000 "
                                "0400000000000000 0300000000000000"));
  Encoder checksum;
  checksum.PutU64(Hash64("abc", Hash64(header)));
  EXPECT_EQ(Hex(message.substr(48)), Hex(checksum.view()) + Golden("61 62 63"));
}

TEST(Wire, MessagesAboutJobs) {
  const Digest digest{.low = 3, .high = 4};
  const Task task{.task_class = 1, .index = {0}};
  EXPECT_EQ(Hex(EncodeAnnounce({kLabel, digest}).view()),
            Golden("01 02 04 01 0300000000000000 0400000000000000"));
  EXPECT_EQ(Hex(EncodeDemand({.label = kLabel,
                              .reader = task,
                              .depth = 3,
                              .kind = DemandKind::kInsistent})
                    .view()),
            Golden("01 02 04 01 01 01 01 00 06 01 01 00"));
  EXPECT_EQ(
      Hex(EncodeDemand({.label = kLabel, .kind = DemandKind::kFetch}).view()),
      Golden("01 02 04 01 00 00 00 00 01"));
  // Kinds that contradict each other are refused.
  for (const absl::string_view flags : {"010001", "000100", "000101"}) {
    const std::string body = BytesOfHex(absl::StrCat("010204010000", flags));
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeDemand(body).status())) << flags;
  }
  EXPECT_EQ(Hex(EncodeDone({.label = kLabel, .reader = task}).view()),
            Golden("01 02 04 01 01 01 01 00"));
  EXPECT_EQ(
      Hex(EncodeDone({.label = kLabel, .all = {.count = 300, .hash_sum = 5}})
              .view()),
      Golden("01 02 04 01 00 ac 02 0500000000000000"));
  EXPECT_EQ(
      Hex(EncodeWatermarks({.done = {{kLabel, 3}},
                            .digests = {{kLabel, {{2, {.low = 1, .high = 2}}}}},
                            .handover_complete = true})
              .view()),
      Golden("01 01 02 04 01 06  00"
             "01 01 02 04 01 01 04 0100000000000000 0200000000000000"
             "01"));
  EXPECT_EQ(Hex(EncodeRetired({.label = kLabel}).view()),
            Golden("01 02 04 01 00"));
  EXPECT_EQ(Hex(EncodeLookup({.label = kLabel, .insist = true}).view()),
            Golden("01 02 04 01 01"));
  EXPECT_EQ(
      Hex(EncodeAnswer(
              {.label = kLabel, .state = LabelState::kClaimed, .newest = 3})
              .view()),
      Golden("01 02 04 01 02 01 06"));
  EXPECT_EQ(Hex(EncodeClaim({.task = task, .wanted = kLabel, .granted = true})
                    .view()),
            Golden("01 01 00 01 02 04 01 01"));
  EXPECT_EQ(Hex(EncodeSteal({.count = 300}).view()), Golden("ac 02"));
  const Value value = Value::Scalar(1.0);
  Encoder of_value;
  of_value.PutU64(value.digest().low);
  of_value.PutU64(value.digest().high);
  EXPECT_EQ(Hex(EncodePublish(kLabel, value).view()),
            Golden("01 02 04 01") + Hex(of_value.view()) +
                Golden("00 00 08 000000000000f03f"));
}

TEST(Wire, LongValuesAreSentWhereTheyLie) {
  Value value = Value::Allocate(ElementType::kDouble, {1000});
  for (double& x : value.mutable_span<double>()) x = 2;
  value.Seal();
  const SplitBytes body = SharePublish(kLabel, value);
  EXPECT_EQ(body.rest.data(), value.data());
  EXPECT_FALSE(value.IsUnique()) << "as long as the message is there";
  const auto decoded = DecodePublish(body.Join());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ((*decoded)[0].label, kLabel);
  EXPECT_EQ((*decoded)[0].value.view(), value.view());
}

// A body that is cut, or missing, is malformed; also among many.
template <typename Decode>
void ExpectAll(const Bytes& first, const Bytes& second, Decode decode) {
  const Bytes both = Joined({first, second});
  ASSERT_TRUE(decode(both.view()).ok());
  EXPECT_EQ(decode(both.view())->size(), 2);
  for (int64_t size = 0; size < both.size(); ++size) {
    const auto cut = decode(both.view().substr(0, static_cast<size_t>(size)));
    EXPECT_EQ(cut.ok(), size == first.size()) << size << " bytes";
    if (!cut.ok()) {
      EXPECT_EQ(cut.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(Wire, MessagesAboutLabelsSpeakOfOneOrMore) {
  const Label other{.array = 3, .index = {400}};
  const Task task{.task_class = 1, .index = {0}};
  ExpectAll(EncodePublish(kLabel, Value::Scalar(1)),
            EncodePublish(other, Value::Scalar(2)), DecodePublished);
  ExpectAll(EncodeAnnounce({kLabel, {1, 2}}), EncodeAnnounce({other, {3, 4}}),
            DecodeAnnounce);
  ExpectAll(EncodeDemand({.label = kLabel, .reader = task}),
            EncodeDemand({.label = other, .kind = DemandKind::kFetch}),
            DecodeDemand);
  ExpectAll(EncodeDone({.label = kLabel, .reader = task}),
            EncodeDone({.label = other, .all = {.count = 1}}), DecodeDone);
  ExpectAll(EncodeRetired({.label = kLabel}),
            EncodeRetired({.label = other, .reader = task}), DecodeRetired);
  const auto two = DecodeAnnounce(Joined({EncodeAnnounce({kLabel, {1, 2}}),
                                          EncodeAnnounce({other, {3, 4}})})
                                      .view());
  ASSERT_TRUE(two.ok());
  EXPECT_EQ((*two)[0].label, kLabel);
  EXPECT_EQ((*two)[1].label, other);
  EXPECT_EQ((*two)[1].digest, (Digest{3, 4}));
  // A value that is not what its digest says takes all others with it.
  std::string wrong(Joined({EncodePublish(kLabel, Value::Scalar(1)),
                            EncodePublish(other, Value::Scalar(2))})
                        .view());
  wrong.back() ^= 1;
  EXPECT_EQ(DecodePublished(wrong).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(Wire, Reconcile) {
  ReconcileMessage message;
  message.has_more = true;
  message.sums = {
      {.range = {.bits = 2, .prefix = 3}, .ways = 1, .sums = {4, 5}}};
  message.prints = {{.range = {}, .prints = {{.place = 6, .hash = 7}}}};
  message.wanted = {8};
  message.records = {{"k", {9, Bytes(std::string("b"))}}};
  EXPECT_EQ(Hex(message.Encode().view()),
            Golden("01 01 02 0300000000000000 01 0400000000000000 "
                   "0500000000000000 01 00 0000000000000000 01 "
                   "0600000000000000 0700000000000000 01 0800000000000000 "
                   "00 01 016b 09 0162"));
  EXPECT_TRUE(ReconcileMessage::Decode(message.Encode().view()).ok());
}

TEST(Wire, Members) {
  Member member;
  member.id = AgentId(1);
  member.topology_id = *TopologyId::Parse("12");
  member.host = "h";
  member.control_address = "c";
  member.fabric_address = "f";
  member.workers = 3;
  member.numeric_class = "n";
  member.arena = "a";
  Encoder out;
  member.EncodeTo(out);
  Encoder topology;
  topology.PutVarint(static_cast<uint64_t>(member.topology_id.base()));
  topology.PutString(member.topology_id.digits());
  EXPECT_EQ(Hex(out.view()),
            Golden("0100000000000000") + Hex(topology.view()) +
                Golden("0168 0163 0166 03 016e 0161 02 01 01"));
}

}  // namespace
}  // namespace dogged
