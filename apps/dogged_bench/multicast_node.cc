#include "apps/dogged_bench/multicast_node.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/control/poller.h"
#include "routing/fabric/fabric_module.h"
#include "routing/multicast/multicast.h"
#include "routing/transport/packing.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

constexpr uint8_t kKind = kFirstFreeKind;

AgentId IdOf(absl::string_view text) {
  uint64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? AgentId(value) : AgentId();
}

void Say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

class Node {
 public:
  Node(AgentId self, std::unique_ptr<Poller> poller,
       std::unique_ptr<Transport> transport)
      : self_(self),
        poller_(std::move(poller)),
        transport_(std::move(transport)),
        packer_(self, Limits()),
        unpacker_(self, Limits()),
        multicast_(
            std::make_unique<Multicast>(self, MulticastPlan::kFlat, Limits())) {
    poller_->Watch(STDIN_FILENO);
    poller_->Watch(transport_->wait_fd());
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  }

  void Run() {
    Say(absl::StrCat("address ", transport_->address()));
    while (ReadLines()) {
      outbox_.wake = absl::InfiniteFuture();
      const absl::Time now = clock_.Now();
      std::vector<Arrival> arrivals;
      transport_->Poll(arrivals);
      std::vector<Message> messages;
      for (const Arrival& arrival : arrivals) {
        unpacker_.Open(now, arrival, messages);
      }
      std::vector<Delivery> deliveries;
      for (const Message& message : messages) {
        multicast_->Receive({now, outbox_}, message, deliveries);
      }
      multicast_->Tick({now, outbox_});
      std::vector<Message> to_self;
      packer_.Flush(view_->digest(), outbox_, *transport_, to_self);
      for (const Delivery& delivery : deliveries) {
        Say(absl::StrCat("got ", delivery.origin.value(), " ",
                         absl::ToUnixNanos(clock_.Now())));
      }
      if (arrivals.empty() && transport_->PrepareToWait()) {
        poller_->Wait(std::max(absl::ZeroDuration(), outbox_.wake - now));
      }
    }
  }

 private:
  // False at the end of input.
  bool ReadLines() {
    char buffer[4096];
    ssize_t size = 0;
    while ((size = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
      input_.append(buffer, static_cast<size_t>(size));
    }
    size_t end = 0;
    while ((end = input_.find('\n')) != std::string::npos) {
      Obey(absl::StrSplit(input_.substr(0, end), ' '));
      input_.erase(0, end + 1);
    }
    return size != 0;
  }

  void Obey(const std::vector<std::string>& words) {
    if (words[0] == "member" && words.size() == 5) {
      Member member;
      member.id = IdOf(words[1]);
      member.topology_id = TopologyId::Parse(words[2]).value();
      member.host = words[3];
      if (member.id != self_) transport_->SetPeer(member.id, words[4]);
      members_.push_back(std::move(member));
    } else if (words[0] == "plan" && words.size() == 3) {
      Limits limits;
      (void)absl::SimpleAtoi(words[2], &limits.multicast_segment_bytes);
      multicast_ = std::make_unique<Multicast>(
          self_, ParseMulticastPlan(words[1]).value(), limits);
      SetView();
      Say("ok");
    } else if (words[0] == "go" && words.size() == 3) {
      Start(words[1], words[2]);
    } else if (words[0] == "dead" && words.size() == 2) {
      const AgentId dead = IdOf(words[1]);
      std::erase_if(members_, [dead](const Member& m) { return m.id == dead; });
      SetView();
    }
  }

  void SetView() {
    view_ = std::make_shared<const View>(members_);
    multicast_->SetView(view_);
    multicast_->Tick({clock_.Now(), outbox_});
  }

  void Start(absl::string_view bytes, absl::string_view list) {
    int64_t size = 0;
    (void)absl::SimpleAtoi(bytes, &size);
    std::vector<AgentId> targets;
    for (absl::string_view target : absl::StrSplit(list, ',')) {
      targets.push_back(IdOf(target));
    }
    std::string body(static_cast<size_t>(size), '\0');
    for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * i);
    const int64_t start = absl::ToUnixNanos(clock_.Now());
    multicast_->Start(targets, kKind, JobId(1), Bytes(std::move(body)),
                      outbox_);
    Say(absl::StrCat("sent ", start));
  }

  const AgentId self_;
  SystemClock clock_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<Transport> transport_;
  Packer packer_;
  Unpacker unpacker_;
  std::vector<Member> members_;
  std::shared_ptr<const View> view_ = std::make_shared<const View>();
  std::unique_ptr<Multicast> multicast_;
  Outbox outbox_;
  std::string input_;
};

}  // namespace

int MulticastNode(const std::vector<std::string>& words) {
  if (words.size() != 2) return 2;
  const AgentId self = IdOf(words[0]);
  auto poller = Poller::Create();
  auto transport = LoadFabricTransport(
      "", {.self = self, .host = words[1], .provider = {}, .limits = {}});
  if (!poller.ok() || !transport.ok()) {
    std::fprintf(stderr, "error: %s\n", transport.status().ToString().c_str());
    return 4;
  }
  Node(self, *std::move(poller), *std::move(transport)).Run();
  return 0;
}

}  // namespace dogged
