// A small directed graph as a picture: nodes in layers from top to bottom,
// every edge downwards. For a neighbourhood of tasks, not for whole graphs.
// Pure.
#ifndef DOGGED_APPS_OUTPUT_GRAPH_PICTURE_H_
#define DOGGED_APPS_OUTPUT_GRAPH_PICTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dogged {

struct GraphPicture {
  struct Node {
    std::string title;
    std::string subtitle;
    bool is_center = false;
    bool has_more = false;  // some neighbours are not in the picture
  };
  std::vector<Node> nodes;
  // From, to; without cycles.
  std::vector<std::pair<int32_t, int32_t>> edges;
};

std::string ToSvg(const GraphPicture& picture);
// In the language of graphviz.
std::string ToDot(const GraphPicture& picture);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_GRAPH_PICTURE_H_
