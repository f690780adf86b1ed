#include "routing/membership/reconcile.h"

#include <algorithm>
#include <iterator>

#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// A range is described by 2^6 sums (half a kilobyte), or by at most as many
// hashes (one kilobyte).
constexpr int kWaysMax = 6;
constexpr size_t kPrintsMax = 64;
// Sums and hashes of one message take about so many bytes; so do records, but a
// message may carry one record of any size.
constexpr int64_t kDescribedBytesMax = 8 * 1024;
constexpr int64_t kRecordBytesMax = 24 * 1024;
// Where this agent has very many records and the other few, it compares so many
// beyond the other's.
constexpr size_t kLookedAtMax = 1024;
// Limits of a decoded message, above what a message needs: ranges; sums, hashes
// and places wanted.
constexpr size_t kRangesMax = 1024;
constexpr size_t kEntriesMax = 2048;
// Encoded bytes at least: sums (bits, prefix, ways), prints (bits, prefix,
// hashes), a record (key, version, bytes).
constexpr int64_t kSumsBytesMin = 10;
constexpr int64_t kPrintsBytesMin = 10;
constexpr int64_t kPrintBytes = 16;
constexpr int64_t kRecordOverhead = 3;

void PutRange(const RecordRange& range, Encoder& out) {
  out.PutU8(static_cast<uint8_t>(range.bits));
  out.PutU64(range.prefix);
}

RecordRange GetRange(Decoder& in) {
  RecordRange out;
  out.bits = in.GetU8();
  out.prefix = in.GetU64();
  if (!out.IsSound()) in.Fail();
  return out;
}

int64_t GetCountTo(size_t count_max, int64_t bytes_each, Decoder& in) {
  const int64_t count = in.GetCount(bytes_each);
  if (count > static_cast<int64_t>(count_max)) in.Fail();
  return count;
}

ReconcileMessage::Sums GetSums(Decoder& in) {
  ReconcileMessage::Sums out{.range = GetRange(in), .ways = in.GetU8()};
  if (out.ways < 1 || out.ways > kWaysMax || out.range.bits + out.ways > 64) {
    in.Fail();
    return out;
  }
  for (int i = 0; i < 1 << out.ways && in.ok(); ++i) {
    out.sums.push_back(in.GetU64());
  }
  return out;
}

ReconcileMessage::Prints GetPrints(Decoder& in) {
  ReconcileMessage::Prints out{.range = GetRange(in)};
  const int64_t count = GetCountTo(kPrintsMax + 1, kPrintBytes, in);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    RecordPrint print;
    print.place = in.GetU64();
    print.hash = in.GetU64();
    if (print.place < out.range.first() || print.place > out.range.last() ||
        (i > 0 && print <= out.prints.back())) {
      in.Fail();
    }
    out.prints.push_back(print);
  }
  return out;
}

// An answer as it grows.
class Answer {
 public:
  Answer(const RecordSet& set, bool has_more) : set_(set) {
    out_.has_more = has_more;
  }
  ReconcileMessage Take() { return std::move(out_); }

  // More about a range in which the other's records differ.
  void Describe(const RecordRange& range) {
    if (described_bytes_ >= kDescribedBytesMax) {
      out_.has_more = true;
      return;
    }
    std::vector<RecordPrint> prints = set_.PrintsOf(range, kPrintsMax + 1);
    const int ways = std::min(kWaysMax, 64 - range.bits);
    if (prints.size() <= kPrintsMax || ways == 0) {
      described_bytes_ += kPrintsBytesMin + kPrintBytes * std::ssize(prints);
      out_.prints.push_back({range, std::move(prints)});
      return;
    }
    ReconcileMessage::Sums sums{.range = range, .ways = ways};
    for (uint64_t i = 0; i < uint64_t{1} << ways; ++i) {
      sums.sums.push_back(set_.SumOf(range.Part(ways, i)));
    }
    described_bytes_ += kSumsBytesMin + 8 * std::ssize(sums.sums);
    out_.sums.push_back(std::move(sums));
  }

  void Compare(const ReconcileMessage::Sums& heard) {
    for (size_t i = 0; i < heard.sums.size(); ++i) {
      const RecordRange part = heard.range.Part(heard.ways, i);
      if (set_.SumOf(part) != heard.sums[i]) Describe(part);
    }
  }

  void Compare(const ReconcileMessage::Prints& heard) {
    const size_t count_max = heard.prints.size() + kLookedAtMax;
    const std::vector<RecordPrint> mine = set_.PrintsOf(heard.range, count_max);
    auto theirs = heard.prints.begin();
    for (const RecordPrint& print : mine) {
      for (; theirs != heard.prints.end() && *theirs < print; ++theirs) {
        Want(theirs->place);
      }
      if (theirs != heard.prints.end() && *theirs == print) {
        ++theirs;
      } else {
        Give(print.place);
      }
    }
    if (mine.size() == count_max) {
      out_.has_more = true;
      return;
    }
    for (; theirs != heard.prints.end(); ++theirs) Want(theirs->place);
  }

  void Want(uint64_t place) { out_.wanted.push_back(place); }

  void Give(uint64_t place) {
    for (const KeptRecord* record : set_.At(place)) {
      if (bytes_ >= kRecordBytesMax) {
        out_.has_more = true;
        return;
      }
      bytes_ += std::ssize(record->key()) + std::ssize(record->bytes()) +
                kRecordOverhead;
      out_.records.emplace_back(record->key(), record->ToSend());
    }
  }

 private:
  const RecordSet& set_;
  ReconcileMessage out_;
  int64_t described_bytes_ = 0;
  int64_t bytes_ = 0;  // of its records
};

}  // namespace

Bytes ReconcileMessage::Encode() const {
  Encoder out;
  out.PutBool(has_more);
  out.PutVarint(sums.size());
  for (const Sums& each : sums) {
    PutRange(each.range, out);
    out.PutU8(static_cast<uint8_t>(each.ways));
    for (uint64_t sum : each.sums) out.PutU64(sum);
  }
  out.PutVarint(prints.size());
  for (const Prints& each : prints) {
    PutRange(each.range, out);
    out.PutVarint(each.prints.size());
    for (const RecordPrint& print : each.prints) {
      out.PutU64(print.place);
      out.PutU64(print.hash);
    }
  }
  out.PutVarint(wanted.size());
  for (uint64_t place : wanted) out.PutU64(place);
  GossipNews{.facts = {}, .records = records}.EncodeTo(out);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<ReconcileMessage> ReconcileMessage::Decode(
    absl::string_view body) {
  Decoder in(body);
  ReconcileMessage out;
  out.has_more = in.GetBool();
  const int64_t sums = GetCountTo(kRangesMax, kSumsBytesMin, in);
  for (int64_t i = 0; i < sums && in.ok(); ++i) out.sums.push_back(GetSums(in));
  const int64_t prints = GetCountTo(kRangesMax, kPrintsBytesMin, in);
  for (int64_t i = 0; i < prints && in.ok(); ++i) {
    out.prints.push_back(GetPrints(in));
  }
  const int64_t wanted = GetCountTo(kEntriesMax, 8, in);
  for (int64_t i = 0; i < wanted && in.ok(); ++i) {
    out.wanted.push_back(in.GetU64());
  }
  size_t entries = 0;
  for (const Sums& each : out.sums) entries += each.sums.size();
  for (const Prints& each : out.prints) entries += each.prints.size();
  if (entries > kEntriesMax) in.Fail();
  GossipNews news = GossipNews::DecodeFrom(in);
  if (!news.facts.empty()) in.Fail();  // are told as gossip
  out.records = std::move(news.records);
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "reconcile"));
  return out;
}

ReconcileMessage StartReconcile(const RecordSet& set) {
  Answer out(set, /*has_more=*/false);
  out.Describe({});
  return out.Take();
}

ReconcileMessage AnswerReconcile(const RecordSet& set,
                                 const ReconcileMessage& heard) {
  Answer out(set, heard.has_more);
  for (const auto& sums : heard.sums) out.Compare(sums);
  for (const auto& prints : heard.prints) out.Compare(prints);
  for (const uint64_t place : heard.wanted) out.Give(place);
  return out.Take();
}

}  // namespace dogged
