// NodeTable: the nodes of a simulated cluster, the dead included: which one is
// where, whose turn it is, and whose the values are that an event makes or
// drops.
#ifndef DOGGED_RUNTIME_SIM_NODE_TABLE_H_
#define DOGGED_RUNTIME_SIM_NODE_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/ids.h"
#include "runtime/sim/node.h"
#include "runtime/sim/world.h"

namespace dogged {

class NodeTable {
 public:
  // `world` outlives this.
  explicit NodeTable(SimWorld& world) : world_(world) {}

  SimNode& Add() {
    nodes_.push_back(std::make_unique<SimNode>());
    return *nodes_.back();
  }
  const std::vector<std::unique_ptr<SimNode>>& all() const { return nodes_; }
  // A node that lives and was not told to leave; null if there is none.
  SimNode* Random();
  // The same, with an agent that knows other ones if there is such.
  SimNode* RandomMember();
  // Processes have addresses; null if none lives there.
  SimNode* At(absl::string_view address) const;
  static std::string AddressOf(int place);
  // Gives the job to the agent of `node`, as a client does.
  void Submit(SimNode& node, SubmissionId submission);

  // --- turns
  // `run` is called when the turn of a node has come.
  void OnTurn(std::function<void(SimNode&)> run) { run_ = std::move(run); }
  void Wake(SimNode& node);
  // Ends a pause.
  void Continue(SimNode& node);

  // --- values
  void BeginEvent();
  // Values that are made or dropped by this event are `node`'s.
  void Bill(SimNode& node) { billed_ = &node; }
  // `bytes` of them are, whatever becomes of the rest.
  void BillApart(SimNode& node, int64_t bytes) {
    node.live_bytes += bytes;
    live_before_ += bytes;
  }
  void BillNobody() { billed_ = nullptr; }
  void EndEvent();
  int64_t LiveBytes(const SimNode& node) const;

 private:
  SimWorld& world_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::function<void(SimNode&)> run_;
  SimNode* billed_ = nullptr;
  int64_t live_before_ = 0;  // of the whole process, before this event
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_NODE_TABLE_H_
