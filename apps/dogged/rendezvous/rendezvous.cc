#include "apps/dogged/rendezvous/rendezvous.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "apps/dogged/rendezvous/point_listing.h"
#include "apps/dogged/rendezvous/pool_folder.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

// Looks at a point where something has just changed come so often, and seldomer
// while nothing does. An agent freshens its entry with each.
constexpr absl::Duration kIntervalFirst = absl::Seconds(1);
constexpr absl::Duration kIntervalMost = absl::Seconds(8);
constexpr double kGrowth = 1.5;
// An agent that leaves waits so long for its entries to be removed.
constexpr std::chrono::seconds kEndMax(2);
// Other words about a point stand in the log no sooner than this.
constexpr absl::Duration kWordsInterval = absl::Minutes(1);

}  // namespace

// What the threads share with the agent's; outlives both.
struct Rendezvous::Shared {
  std::atomic<bool> has_news{false};
  std::mutex mutex;
  // Guarded by `mutex`; by watch, none before its first look.
  std::vector<std::optional<std::vector<std::string>>> listed;
  std::function<void()> wake;  // null: the agent has gone

  void Post(size_t index, const std::vector<std::string>& addresses) {
    const std::lock_guard lock(mutex);
    if (listed[index] == addresses) return;
    listed[index] = addresses;
    has_news = true;
    if (wake != nullptr) wake();
  }
};

// Looks at one point. Its thread has it as long as it runs.
class Rendezvous::Watch {
 public:
  Watch(MeetingPoint point, bool has_certificate, size_t index,
        std::shared_ptr<Shared> shared, uint64_t seed)
      : point_(std::move(point)),
        has_certificate_(has_certificate),
        index_(index),
        shared_(std::move(shared)),
        rng_(seed) {}

  // --- from the agent's thread
  void Enter(AgentId agent, const PoolEntry& entry) {
    const std::lock_guard lock(mutex_);
    if (agent_ != agent && !agent_.IsNone()) former_.push_back(agent_);
    agent_ = agent;
    entry_ = entry;
    entry_has_changed_ = true;
    changed_.notify_all();
  }
  void NoteSilent(const std::vector<std::string>& addresses) {
    const std::lock_guard lock(mutex_);
    silent_.insert(silent_.end(), addresses.begin(), addresses.end());
    changed_.notify_all();
  }
  void End() {
    const std::lock_guard lock(mutex_);
    if (!agent_.IsNone()) former_.push_back(agent_);
    agent_ = AgentId();
    is_ending_ = true;
    changed_.notify_all();
  }
  void AwaitEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kEndMax, [this] { return has_ended_; });
  }

  // --- the thread
  void Run() {
    std::unique_lock lock(mutex_);
    while (!is_ending_ || !former_.empty()) {
      Turn turn{.agent = agent_,
                .entry = entry_,
                .has_changed = std::exchange(entry_has_changed_, false),
                .former = std::exchange(former_, {}),
                .silent = std::exchange(silent_, {})};
      const bool is_last = is_ending_;
      lock.unlock();
      KeepEntry(turn);
      if (!is_last && !turn.agent.IsNone()) Look(turn);
      lock.lock();
      if (is_ending_) continue;
      const absl::Duration pause = interval_ * (0.75 + rng_.Unit() / 2);
      changed_.wait_for(lock, absl::ToChronoMilliseconds(pause), [this] {
        return is_ending_ || entry_has_changed_ || !silent_.empty();
      });
    }
    has_ended_ = true;
    changed_.notify_all();
  }

 private:
  // What a look is to do.
  struct Turn {
    AgentId agent;  // none: not entered yet, or gone
    PoolEntry entry;
    bool has_changed = false;
    std::vector<AgentId> former;
    std::vector<std::string> silent;
  };

  // Before the look: of agents that come at the same time one sees the other.
  void KeepEntry(const Turn& turn) {
    if (point_.kind != MeetingPoint::Kind::kFolder) return;
    const PoolFolder folder(point_.text);
    for (const AgentId agent : turn.former) folder.Remove(agent);
    for (const std::string& address : turn.silent) {
      for (size_t i = 0; i < last_.addresses.size(); ++i) {
        const bool is_stale = last_.addresses[i] == address &&
                              last_.names[i] != PoolFolder::NameOf(turn.agent);
        if (is_stale) folder.Remove(last_.names[i]);
      }
    }
    if (turn.agent.IsNone()) return;
    if (!turn.has_changed && folder.Freshen(turn.agent, turn.entry)) return;
    const absl::Status written = folder.Write(turn.agent, turn.entry);
    if (!written.ok()) Say(std::string(written.message()));
  }

  void Look(const Turn& turn) {
    PointListing listing =
        ListPoint(point_, {.host = turn.entry.host,
                           .keys = turn.entry.keys,
                           .has_certificate = has_certificate_,
                           .agent = turn.agent});
    for (const PoolEntry& entry : listing.stale) {
      if (entry.name != PoolFolder::NameOf(turn.agent)) {
        PoolFolder(point_.text).Remove(entry.name);
      }
    }
    if (!listing.trouble.empty()) Say(listing.trouble);
    std::vector<std::string> addresses = listing.addresses;
    std::sort(addresses.begin(), addresses.end());
    const bool is_news = turn.has_changed || addresses != sorted_;
    interval_ =
        is_news ? kIntervalFirst : std::min(kIntervalMost, interval_ * kGrowth);
    sorted_ = std::move(addresses);
    last_ = std::move(listing);
    shared_->Post(index_, sorted_);
  }

  void Say(const std::string& words) {
    const absl::Time now = SystemClock().Now();
    if (words == said_ || now < words_due_) return;
    said_ = words;
    words_due_ = now + kWordsInterval;
    Log(LogLevel::kWarning, absl::StrCat(point_.ToString(), ": ", words,
                                         "; this agent goes on looking there"));
  }

  const MeetingPoint point_;
  const bool has_certificate_;
  const size_t index_;
  const std::shared_ptr<Shared> shared_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  AgentId agent_;
  PoolEntry entry_;
  bool entry_has_changed_ = false;
  std::vector<AgentId> former_;      // whose entries are to go
  std::vector<std::string> silent_;  // addresses
  bool is_ending_ = false;
  bool has_ended_ = false;

  // Used by the thread alone.
  Rng rng_;
  absl::Duration interval_ = kIntervalFirst;
  PointListing last_;
  std::vector<std::string> sorted_;  // its addresses
  std::string said_;
  absl::Time words_due_ = absl::InfinitePast();
};

Rendezvous::Rendezvous(std::vector<MeetingPoint> points, bool has_certificate,
                       std::function<void()> wake, uint64_t seed)
    : shared_(std::make_shared<Shared>()) {
  Rng rng(seed);
  shared_->wake = std::move(wake);
  shared_->listed.resize(points.size());
  for (MeetingPoint& point : points) {
    auto watch = std::make_shared<Watch>(std::move(point), has_certificate,
                                         watches_.size(), shared_, rng.Next());
    try {
      std::thread([watch] { watch->Run(); }).detach();
    } catch (const std::system_error& error) {
      status_ = absl::ResourceExhaustedError(
          absl::StrCat("no thread to look for agents: ", error.what()));
      return;
    }
    watches_.push_back(std::move(watch));
  }
}

Rendezvous::~Rendezvous() {
  for (const auto& watch : watches_) watch->End();
  for (const auto& watch : watches_) watch->AwaitEnd();
  const std::lock_guard lock(shared_->mutex);
  shared_->wake = nullptr;
}

void Rendezvous::Enter(AgentId agent, const std::string& address,
                       std::vector<std::string> keys) {
  const PoolEntry entry{.name = {},
                        .address = address,
                        .host = HostName(),
                        .keys = std::move(keys),
                        .age = {}};
  for (const auto& watch : watches_) watch->Enter(agent, entry);
}

std::optional<std::vector<std::string>> Rendezvous::TakeNews() {
  if (!shared_->has_news.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock(shared_->mutex);
  shared_->has_news = false;
  std::vector<std::string> out;
  for (const auto& addresses : shared_->listed) {
    if (!addresses.has_value()) return std::nullopt;
    out.insert(out.end(), addresses->begin(), addresses->end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Rendezvous::NoteSilent(const std::vector<std::string>& addresses) {
  for (const auto& watch : watches_) watch->NoteSilent(addresses);
}

}  // namespace dogged
