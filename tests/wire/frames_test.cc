// Aim: a program of today reads what one of version 1 of the wire has said, and
// says nothing else to it, but for fields behind those. Method: frames-v1.txt
// holds messages that were recorded once; each is decoded and encoded anew, as
// it stands and with fields of a later version behind it, and those that this
// test makes today begin with the same bytes. With DOGGED_RECORD=FILE they are
// recorded there: for a new version, never for an old one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kvstore/messages/label_messages.h"
#include "routing/control/control_frame.h"
#include "routing/membership/meeting.h"
#include "routing/membership/reconcile.h"
#include "routing/stream/stream_messages.h"
#include "routing/transport/envelope.h"
#include "runtime/agent/loop/control.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/limits.h"
#include "runtime/base/wire_version.h"
#include "runtime/graph/job.h"
#include "runtime/job/context/job_messages.h"
#include "tests/exec/programs.h"

namespace dogged {
namespace {

using Again =
    std::function<absl::StatusOr<std::string>(absl::string_view bytes)>;

struct Sample {
  std::string bytes;
  Again again;           // decodes, and encodes what was read
  bool is_open = false;  // it may gain fields
};

std::string Text(const Bytes& bytes) { return std::string(bytes.view()); }
std::string Text(std::string bytes) { return bytes; }

template <typename Message>
Sample Open(const Message& message) {
  return {.bytes = Text(message.Encode()),
          .again = [](absl::string_view bytes) -> absl::StatusOr<std::string> {
            const auto read = Message::Decode(bytes);
            if (!read.ok()) return read.status();
            return Text(read->Encode());
          },
          .is_open = true};
}

// A message by a pair of functions.
template <typename Body>
Sample Open(const Body& body, Bytes (*encode)(const Body&),
            absl::StatusOr<Body> (*decode)(absl::string_view)) {
  return {.bytes = Text(encode(body)),
          .again = [=](absl::string_view bytes) -> absl::StatusOr<std::string> {
            const auto read = decode(bytes);
            if (!read.ok()) return read.status();
            return Text(encode(*read));
          },
          .is_open = true};
}

// A body of one label or of many.
template <typename Body>
Sample Many(const std::vector<Body>& bodies, Bytes (*encode)(const Body&),
            absl::StatusOr<std::vector<Body>> (*decode)(absl::string_view)) {
  const auto all = [=](const std::vector<Body>& many) {
    std::string out;
    for (const Body& body : many) absl::StrAppend(&out, Text(encode(body)));
    return out;
  };
  return {.bytes = all(bodies),
          .again = [=](absl::string_view bytes) -> absl::StatusOr<std::string> {
            const auto read = decode(bytes);
            if (!read.ok()) return read.status();
            return all(*read);
          }};
}

Member OneMember() {
  Member member;
  member.id = AgentId(11);
  member.topology_id = *TopologyId::Parse("12");
  member.host = "host";
  member.control_address = "10.0.0.1:7070";
  member.fabric_address = "10.0.0.1:7071";
  member.workers = 3;
  member.numeric_class = "class";
  member.arena = "arena";
  return member;
}

JobRecord OneRecord() {
  return {.hash = {.low = 1, .high = 2},
          .submission = SubmissionId(3),
          .name = "heat",
          .text_hash = 4,
          .options = {.replicas = 2, .tasks_needed = 300, .keep_ms = 5},
          .state = JobState::kFailed,
          .message = "words",
          .code = absl::StatusCode::kDataLoss,
          .result_digest = {.low = 6, .high = 7},
          .round = 8,
          .is_last_round = true,
          .end_number = 9};
}

Sample OneSnapshot() {
  MeetingSnapshot snapshot{.from = AgentId(11), .view = ViewDigest(12)};
  snapshot.news.facts = {
      {.id = AgentId(11),
       .member = OneMember(),
       .blob_version = 2,
       .blob = Bytes(std::string("blob")),
       .unheard = {AgentId(4)}},
      {.id = AgentId(5), .state = MemberState::kDead, .cause = "silent"}};
  snapshot.news.records = {{"job/1/2", {7, OneRecord().Encode()}}};
  return {.bytes =
              [&] {
                Encoder out;
                snapshot.EncodeTo(out);
                return out.Take();
              }(),
          .again = [](absl::string_view bytes) -> absl::StatusOr<std::string> {
            Decoder in(bytes);
            const MeetingSnapshot read = MeetingSnapshot::DecodeFrom(in);
            const absl::Status status = TakeOpenEnd(in, "snapshot");
            if (!status.ok()) return status;
            Encoder out;
            read.EncodeTo(out);
            return out.Take();
          },
          .is_open = true};
}

Sample OneEnvelope() {
  Envelope head{.kind = 16,
                .flags = 1,
                .source = AgentId(1),
                .target = AgentId(2),
                .view = ViewDigest(3),
                .job = JobId(4)};
  std::string message;
  AppendMessage(head, "ab", "c", message);
  return {.bytes = message,
          .again = [](absl::string_view bytes) -> absl::StatusOr<std::string> {
            Bytes rest = Bytes::CopyOf(bytes);
            const auto read = TakeMessage(rest);
            if (!read.ok()) return read.status();
            std::string out;
            AppendMessage(read->head, read->body.view(), "", out);
            return out;
          }};
}

Sample OneJob() {
  const Job job{.program = WideRelease(3),
                .source = "text",
                .parameters = {{"N", "3"}},
                .inputs = {},
                .numeric_class = "class",
                .lowering = "points"};
  return {.bytes = job.Encode(),
          .again = [](absl::string_view bytes) -> absl::StatusOr<std::string> {
            const auto read = Job::Decode(bytes);
            if (!read.ok()) return read.status();
            return read->Encode();
          }};
}

Sample OneFrame() {
  return {.bytes = absl::StrCat(FrameHeader::Encode(7, "abc"), "abc"),
          .again = [](absl::string_view bytes) -> absl::StatusOr<std::string> {
            const auto head = FrameHeader::Decode(bytes);
            if (!head.ok()) return head.status();
            const absl::string_view body = bytes.substr(kFrameHeaderBytes);
            const absl::Status intact = head->Check(body);
            if (!intact.ok()) return intact;
            return absl::StrCat(FrameHeader::Encode(head->type, body), body);
          }};
}

std::map<std::string, Sample> Samples() {
  const Label label{.array = 1, .index = {2, -1}};
  const Task task{.task_class = 1, .index = {0}};
  const Loan loan{.number = 1,
                  .offset = 64,
                  .type = ElementType::kFloat,
                  .shape = {3},
                  .digest = {.low = 8, .high = 9}};
  const FilePart part{.label = label,
                      .extents = {4, 300},
                      .first = {1, 0},
                      .count = {2, 300},
                      .stride = {2400, 8},
                      .offset = 128};
  StatusReply status;
  status.self = AgentId(11);
  status.keys = {"7f3a"};
  status.members = {{.member = OneMember(), .state = "alive"}};
  status.jobs = {{.record = OneRecord(), .tasks_needed = 3, .note = "note"}};
  status.sizes = {{2, 3}};
  status.links = {{.to = AgentId(5)}};
  ReconcileMessage reconcile;
  reconcile.sums = {
      {.range = {.bits = 2, .prefix = 3}, .ways = 1, .sums = {4, 5}}};
  reconcile.prints = {{.range = {}, .prints = {{.place = 6, .hash = 7}}}};
  reconcile.wanted = {8};
  reconcile.records = {{"k", {9, Bytes(std::string("b"))}}};
  return {
      {"hello", Open(WireHello{.range = {.oldest = 1, .newest = 1},
                               .release = "0.1.0"})},
      {"frame", OneFrame()},
      {"envelope", OneEnvelope()},
      {"snapshot", OneSnapshot()},
      {"job", OneJob()},
      {"job record", Open(OneRecord())},
      {"submit", Open(SubmitRequest{.submission = SubmissionId(6),
                                    .options = {.replicas = 2, .keep_ms = 300},
                                    .text_hash = 7,
                                    .supplies = true,
                                    .job = "J"})},
      {"status", Open(StatusRequest{.jobs = {.job = JobId(5), .ended_max = 20},
                                    .text_hash = 7})},
      {"status reply", Open(status)},
      {"want", Open(WantRequest{.job = JobId(5), .labels = {label}})},
      {"values", Open(ValuesReply{
                     .job = JobId(5),
                     .values = {{label, Value::Scalar(1.5)}},
                     .lent = {{.label = label, .arena = "A", .loan = loan}}})},
      {"returned", Open(ReturnedNotice{.number = 300})},
      {"chunks wanted",
       Open(ChunksWanted{.job = JobId(5), .chunks = {{1, 2}}})},
      {"write", Open(WriteRequest{.job = JobId(5),
                                  .number = 7,
                                  .path = "/u",
                                  .mark = {.low = 8, .high = 9},
                                  .parts = {part},
                                  .digests = {{.low = 1, .high = 2}}})},
      {"written", Open(WrittenReply{.number = 7,
                                    .status = absl::DataLossError("x"),
                                    .digests = {{.low = 1, .high = 2}},
                                    .not_finite = 3})},
      {"announce", Many<AnnounceBody>({{label, {3, 4}}, {label, {5, 6}}},
                                      EncodeAnnounce, DecodeAnnounce)},
      {"demand", Many<DemandBody>({{.label = label,
                                    .reader = task,
                                    .depth = 3,
                                    .kind = DemandKind::kInsistent},
                                   {.label = label}},
                                  EncodeDemand, DecodeDemand)},
      {"done", Many<DoneBody>({{.label = label, .reader = task},
                               {.label = label, .all = {300, 5}}},
                              EncodeDone, DecodeDone)},
      {"retired",
       Many<RetiredBody>({{.label = label}}, EncodeRetired, DecodeRetired)},
      {"lend", Open(LendBody{label, loan}, EncodeLend, DecodeLend)},
      {"watermarks",
       Open(WatermarksBody{.done = {{label, 3}},
                           .digests = {{label, {{2, {.low = 1, .high = 2}}}}},
                           .handover_complete = true},
            EncodeWatermarks, DecodeWatermarks)},
      {"lookup", Open(LookupBody{.label = label, .insist = true}, EncodeLookup,
                      DecodeLookup)},
      {"answer", Open(AnswerBody{.label = label,
                                 .state = LabelState::kClaimed,
                                 .newest = 3},
                      EncodeAnswer, DecodeAnswer)},
      {"claim", Open(ClaimBody{.task = task, .wanted = label, .granted = true},
                     EncodeClaim, DecodeClaim)},
      {"steal", Open(StealBody{.count = 300}, EncodeSteal, DecodeSteal)},
      {"reconcile", Open(reconcile)},
  };
}

// Abseil's own throws away whether it was one, and warns of that where it is
// newer.
std::string BytesOfHex(absl::string_view hex) {
  std::string out;
  for (size_t k = 0; k + 1 < hex.size(); k += 2) {
    out.push_back(static_cast<char>(
        std::stoi(std::string(hex.substr(k, 2)), nullptr, 16)));
  }
  return out;
}

// The messages that were recorded, by name.
std::map<std::string, std::string> Recorded() {
  std::map<std::string, std::string> out;
  std::ifstream file(DOGGED_FRAMES);
  std::string line;
  while (std::getline(file, line)) {
    const size_t end = line.find(':');
    EXPECT_NE(end, std::string::npos) << line;
    out[line.substr(0, end)] =
        BytesOfHex(absl::string_view(line).substr(end + 2));
  }
  return out;
}

TEST(Frames, OfVersionOneAreRead) {
  if (const char* const path = std::getenv("DOGGED_RECORD")) {
    std::ofstream file(path);
    for (const auto& [name, sample] : Samples()) {
      file << name << ": " << absl::BytesToHexString(sample.bytes) << "\n";
    }
  }
  const std::map<std::string, std::string> recorded = Recorded();
  const std::map<std::string, Sample> samples = Samples();
  EXPECT_GE(recorded.size(), 25);
  for (const auto& [name, bytes] : recorded) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(samples.contains(name));
    const absl::StatusOr<std::string> again = samples.at(name).again(bytes);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(absl::StartsWith(*again, bytes))
        << absl::BytesToHexString(*again);
  }
}

TEST(Frames, ThatAreSaidTodayBeginAsThoseOfVersionOne) {
  for (const auto& [name, bytes] : Recorded()) {
    SCOPED_TRACE(name);
    const std::string today = Samples().at(name).bytes;
    EXPECT_TRUE(absl::StartsWith(today, bytes))
        << absl::BytesToHexString(today) << "\n"
        << absl::BytesToHexString(bytes);
  }
}

TEST(Frames, OfALaterVersionSayMore) {
  const std::string later = "\x93later fields";
  for (const auto& [name, sample] : Samples()) {
    SCOPED_TRACE(name);
    const auto again = sample.again(absl::StrCat(sample.bytes, later));
    // Behind others no field can be told from the next message, or is for ever.
    if (!sample.is_open) {
      EXPECT_TRUE(!again.ok() || *again == sample.bytes);
      continue;
    }
    ASSERT_TRUE(again.ok()) << again.status();
    // Facts that others are told as well are told with all that they say.
    const bool is_passed_on = name == "job record";
    EXPECT_EQ(*again,
              is_passed_on ? absl::StrCat(sample.bytes, later) : sample.bytes);
  }
}

TEST(Frames, AMemberIsPassedOnWithAllThatItSays) {
  Member later = OneMember();
  later.wire = {.oldest = 1, .newest = 2};
  later.more = "\x93later fields";
  Encoder out;
  later.EncodeTo(out);
  Decoder in(out.view());
  const Member read = Member::DecodeFrom(in);
  EXPECT_TRUE(in.Finish("member").ok());
  EXPECT_EQ(read, later);
}

}  // namespace
}  // namespace dogged
