// OneDictionary: one agent's part in a dictionary, without tasks, time and
// other agents: readers, clients and the disk are fakes that a test sets by
// hand.
#ifndef DOGGED_TESTS_KVSTORE_ONE_DICTIONARY_H_
#define DOGGED_TESTS_KVSTORE_ONE_DICTIONARY_H_

#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kvstore/dictionary.h"
#include "kvstore/messages/label_messages.h"
#include "routing/membership/view.h"
#include "routing/multicast/multicast.h"
#include "runtime/base/limits.h"
#include "tests/kvstore/fake_labels.h"
#include "tests/kvstore/published.h"

namespace dogged {

inline constexpr AgentId kSelf(1);
inline constexpr AgentId kPeer(2);

// Readers do nothing of their own: a test says which are done.
class FakeReaders : public LabelReaders {
 public:
  FakeReaders(const FakeLabels& relations, const LabelTable& labels)
      : relations_(relations), labels_(labels) {}

  bool IsResult(const Label& label) const override {
    return results.contains(label);
  }
  bool AreResultsDemanded() const override { return results_demanded; }
  bool Tell(const Label& label, const Value& value, bool asks,
            Visit visit) override {
    bool lacks = false;
    relations_.ForEachReader(label, [&](const Reader& reader) {
      if (!labels_.places.IsMine(reader)) return true;
      const bool is_done = done.contains(reader);
      visit(reader, /*is_here=*/true, is_done);
      if (is_done) return true;
      if (value.IsNone()) {
        lacks |= asks && !given.contains({reader, label});
      } else {
        given.emplace(reader, label);
      }
      return true;
    });
    return lacks;
  }
  void Give(const Reader& reader, const Label& label, const Value&) override {
    given.emplace(reader, label);
  }

  std::set<Reader> done;
  std::set<std::pair<Reader, Label>> given;
  std::set<Label> results;
  bool results_demanded = true;

 private:
  const FakeLabels& relations_;
  const LabelTable& labels_;
};

class FakeProducers : public LabelProducers {
 public:
  void NoteValue(const Label&, const Value&) override {}
  void NoteMade(const Label&) override {}
  void NoteBound(const Label& label, const Value&,
                 int64_t new_versions) override {
    if (new_versions > 0) bound.push_back(label);
  }
  void NoteHolder(const Label&, AgentId) override {}
  void NoteProgress(absl::Time) override {}
  bool IsRequested(const Label& label) const override {
    return requested.contains(label);
  }
  void HandOut(const Label& label, const Value&) override {
    if (requested.erase(label) > 0) handed_out.push_back(label);
  }
  bool IsAwaitedByAll(const Label&) const override { return false; }
  bool IsLacked(const Label&) const override { return false; }
  bool IsBusy(absl::Time) const override { return is_busy; }
  bool IsThrough() const override { return is_through; }
  bool IsLeaving() const override { return false; }
  absl::Duration DemandTimeout(absl::Time) const override {
    return absl::Milliseconds(250);
  }

  std::vector<Label> bound;
  std::set<Label> requested;
  std::vector<Label> handed_out;
  bool is_busy = false;
  bool is_through = false;
};

class FakeStorage : public StoredValues {
 public:
  bool keeps_values() const override { return has_directory; }
  bool has_store() const override { return has_directory; }
  bool is_bounded() const override { return is_bounded_now; }
  void Load(const Label& label, const std::set<AgentId>& targets) override {
    for (const AgentId agent : targets) loads.emplace_back(label, agent);
  }
  void Offer(const Label&, const Value&) override {}

  bool has_directory = false;
  bool is_bounded_now = false;
  std::vector<std::pair<Label, AgentId>> loads;
};

// Time stands still but for Pass(). After each step the invariants are checked.
class OneDictionary {
 public:
  struct Options {
    FakeLabels::Shape shape;
    int replicas = 1;
    int64_t generation_interval = 1000;
    int64_t cut_bytes_min = LabelLimits{}.cut_bytes_min;
    std::vector<AgentId> members = {kSelf, kPeer};
    Lending* lending = nullptr;  // outlives it
  };
  explicit OneDictionary(const Options& options)
      : limits_{.generation_interval = options.generation_interval,
                .cut_bytes_min = options.cut_bytes_min},
        relations_(options.shape),
        multicast_(kSelf, MulticastPlan::kFlat, Limits{}),
        context_{.self = kSelf,
                 .replicas = options.replicas,
                 .forward = true,
                 .limits = limits_,
                 .relations = relations_,
                 .lending = options.lending,
                 .stats = stats_,
                 .messenger =
                     JobMessenger({.self = kSelf, .job = JobId(7)},
                                  limits_.batch_bytes_max, multicast_, stats_)},
        readers(relations_, dictionary_.labels),
        dictionary_(
            context_,
            {.storage = storage, .readers = readers, .producers = producers},
            Credit(
                limits_.credit_bytes, [](AgentId) { return 0; }, multicast_)) {
    std::vector<Member> members;
    for (const AgentId agent : {kSelf, kPeer}) {
      members.push_back({.id = agent, .host = agent.ToString()});
    }
    multicast_.SetView(std::make_shared<View>(std::move(members)));
    SetMembers(options.members);
    Pass(2 * limits_.handover_max);  // nobody has anything to hand over
    (void)Take();
  }

  // A key whose home, of two members, is `home`.
  static uint64_t KeyAt(AgentId home) {
    const Placement placement(Placed({kSelf, kPeer}), 1);
    uint64_t key = 0;
    while (placement.Home(key) != home) ++key;
    return key;
  }
  // Such a row.
  static int64_t RowAt(AgentId home) {
    return static_cast<int64_t>(KeyAt(home));
  }

  void SetMembers(const std::vector<AgentId>& members) {
    const Placement before =
        dictionary_.labels.places.SetView({.members = Placed(members)});
    dictionary_.homes.Review({now_, out_}, before);
    Check();
  }
  // It was made here.
  void Bind(const Label& label, double number) {
    dictionary_.replication.BindOutput({now_, out_}, label, ValueOf(number));
    Check();
  }
  void BindBytes(const Label& label, int64_t bytes) {
    Value value = Value::Allocate(ElementType::kDouble, {bytes / 8});
    for (double& number : value.mutable_span<double>()) number = 0;
    value.Seal();
    dictionary_.replication.BindOutput({now_, out_}, label, value);
    Check();
  }
  // Its reader has run here, which made `label` of the one before.
  void Make(const Label& label, double number) {
    Bind(label, number);
    dictionary_.retention.ReleaseInputs(*relations_.ProducerOf(label),
                                        dictionary_.replication.CutBytesMin());
    Check();
  }
  void Publish(AgentId from, const Label& label, double number) {
    PublishValue(from, label, ValueOf(number));
  }
  void PublishValue(AgentId from, const Label& label, const Value& value) {
    dictionary_.replication.HandlePublish({now_, out_}, from, {label, value});
    Check();
  }
  void Announce(AgentId from, const Label& label, double number) {
    dictionary_.replication.HandleAnnounce({now_, out_}, from,
                                           {label, ValueOf(number).digest()});
    Check();
  }
  void Stored(AgentId from, const Label& label, double number) {
    dictionary_.replication.HandleStored({now_, out_}, from,
                                         {label, ValueOf(number).digest()});
    Check();
  }
  void Done(AgentId from, const DoneBody& body) {
    dictionary_.retention.HandleDone(from, body, out_);
    dictionary_.retention.CrossOffReported(out_);
    Check();
  }
  // As a pass of the loop does, `time` later.
  void Pass(absl::Duration time) {
    now_ += time;
    dictionary_.sender.BeginPass(now_);
    dictionary_.sender.SendDeferred({now_, out_});
    dictionary_.labels.handover.Expire(now_);
    for (const Label& label : dictionary_.labels.shard.TakeDue(now_)) {
      dictionary_.replication.Announce({now_, out_}, label);
    }
    dictionary_.retention.CrossOffReported(out_);
    dictionary_.labels.high_fanout.Sweep();
    dictionary_.replication.SendCopies({now_, out_});
    dictionary_.homes.SendHandoverComplete(out_);
    Check();
  }

  bool Holds(const Label& label) const {
    const LabelEntry* entry = dictionary_.labels.shard.Find(label);
    return entry != nullptr && !entry->value.IsNone();
  }
  LabelTable& labels() { return dictionary_.labels; }
  Dictionary& dictionary() { return dictionary_; }
  Outbox& out() { return out_; }
  const absl::Status& failure() const { return context_.failure; }
  void CheckInvariants() const { dictionary_.labels.CheckInvariants(context_); }

  // --- what was sent since the last call of any of these
  std::vector<Outbox::OutgoingMessage> Take() {
    context_.messenger.SendBatches(out_);
    return std::exchange(out_.messages, {});
  }
  // Bodies of `kind`, as `decode` has them, to any agent.
  template <typename Decode>
  auto TakeAll(LabelMessage kind, Decode decode) {
    typename std::decay_t<decltype(decode(absl::string_view()))>::value_type
        all;
    for (const Outbox::OutgoingMessage& message : Take()) {
      if (message.kind != static_cast<uint8_t>(kind)) continue;
      auto some = decode(message.body.Join().view()).value();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  std::vector<LendBody> Lent() {
    std::vector<LendBody> all;
    for (const Outbox::OutgoingMessage& message : Take()) {
      if (message.kind == static_cast<uint8_t>(LabelMessage::kLend)) {
        all.push_back(DecodeLend(message.body.Join().view()).value());
      }
    }
    return all;
  }
  std::vector<Label> Published() {
    std::vector<Label> labels;
    for (const PublishBody& body :
         TakeAll(LabelMessage::kPublish, DecodePublished)) {
      labels.push_back(body.label);
    }
    return labels;
  }
  int64_t copied_bytes() const { return stats_.copy_bytes; }
  int64_t resent_bytes() const { return stats_.bytes_resent; }
  int64_t moved_bytes() const { return stats_.bytes_moved; }
  int64_t at_risk_ms() const { return stats_.at_risk_ms; }
  bool HasSaidThatHandoverIsComplete() {
    bool has_said = false;
    for (const Outbox::OutgoingMessage& message : Take()) {
      has_said |=
          message.kind == static_cast<uint8_t>(LabelMessage::kWatermarks) &&
          DecodeWatermarks(message.body.Join().view())->handover_complete;
    }
    return has_said;
  }

  static Value ValueOf(double number) {
    Value value = Value::Scalar(number);
    value.Seal();
    return value;
  }

 private:
  static std::vector<PlacementMember> Placed(
      const std::vector<AgentId>& agents) {
    std::vector<PlacementMember> out;
    for (const AgentId agent : agents) {
      out.push_back({.agent = agent, .host = agent.ToString()});
    }
    return out;
  }
  void Check() const {
    if (context_.failure.ok()) CheckInvariants();
  }

  const LabelLimits limits_;
  const FakeLabels relations_;
  LabelStats stats_;
  Multicast multicast_;
  LabelContext context_;
  Outbox out_;
  absl::Time now_ = absl::UnixEpoch();

 public:
  FakeStorage storage;
  FakeProducers producers;
  FakeReaders readers;

 private:
  Dictionary dictionary_;
};

}  // namespace dogged

#endif  // DOGGED_TESTS_KVSTORE_ONE_DICTIONARY_H_
