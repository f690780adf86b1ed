#include "apps/output/graph_picture.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace dogged {
namespace {

// Pixels.
constexpr double kLetter = 7.5;
constexpr double kHeight = 40;
constexpr double kGap = 18;    // between nodes of a layer
constexpr double kLayer = 92;  // from layer to layer
constexpr double kMargin = 16;
constexpr int kSweeps = 12;

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Where nodes stand: layers by the longest way from a node without
// predecessors, places within by the mean of the neighbours (Sugiyama, Tagawa
// and Toda 1981, simplified: long edges pass behind nodes).
class Layout {
 public:
  explicit Layout(const GraphPicture& picture)
      : picture_(picture),
        before_(picture.nodes.size()),
        after_(picture.nodes.size()),
        layer_(picture.nodes.size(), 0),
        x_(picture.nodes.size(), 0) {
    for (const auto& [from, to] : picture.edges) {
      before_[to].push_back(from);
      after_[from].push_back(to);
    }
    FindLayers();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& row : rows_) Place(row, sweep);
    }
    const double left = Leftmost();
    for (size_t n = 0; n < x_.size(); ++n) {
      x_[n] += kMargin - left;
      width_ = std::max(width_, x_[n] + Width(n) / 2 + kMargin);
    }
  }

  // The middle of a node.
  double X(size_t n) const { return x_[n]; }
  double Y(size_t n) const {
    return kMargin + kHeight / 2 + kLayer * layer_[n];
  }
  double Width(size_t n) const {
    const auto& node = picture_.nodes[n];
    return 20 + kLetter * static_cast<double>(std::max(node.title.size(),
                                                       node.subtitle.size()));
  }
  double width() const { return width_; }
  double height() const {
    return 2 * kMargin + kHeight +
           kLayer * static_cast<double>(rows_.size() - 1);
  }

 private:
  void FindLayers() {
    // As many rounds as the longest way has edges.
    for (size_t round = 0; round < layer_.size(); ++round) {
      bool has_changed = false;
      for (const auto& [from, to] : picture_.edges) {
        int& layer = layer_[to];
        const int least = layer_[from] + 1;
        has_changed |= layer < least;
        layer = std::max(layer, least);
      }
      if (!has_changed) break;
    }
    // A node that nothing comes before stands right above the first node that
    // it goes to.
    for (size_t n = 0; n < layer_.size(); ++n) {
      if (!before_[n].empty() || after_[n].empty()) continue;
      layer_[n] = layer_[after_[n][0]] - 1;
      for (const int32_t to : after_[n]) {
        layer_[n] = std::min(layer_[n], layer_[to] - 1);
      }
    }
    rows_.resize(1);
    for (size_t n = 0; n < layer_.size(); ++n) {
      const auto layer = static_cast<size_t>(layer_[n]);
      if (rows_.size() <= layer) rows_.resize(layer + 1);
      rows_[layer].push_back(n);
    }
    for (auto& row : rows_) {
      double at = 0;
      for (const size_t n : row) {
        x_[n] = at + Width(n) / 2;
        at += Width(n) + kGap;
      }
      for (const size_t n : row) x_[n] -= at / 2;
    }
  }

  // Towards the mean of the neighbours, in that order, without overlap.
  void Place(std::vector<size_t>& row, int sweep) {
    std::vector<double> wanted(x_.size());
    for (const size_t n : row) {
      double sum = 0;
      double count = 0;
      for (const auto* side : {&before_[n], &after_[n]}) {
        for (const int32_t other : *side) {
          sum += x_[other];
          ++count;
        }
      }
      wanted[n] = count > 0 ? sum / count : x_[n];
    }
    // The order settles first.
    if (sweep < kSweeps / 2) {
      std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) {
        return wanted[a] < wanted[b];
      });
    }
    double limit = -1e9;
    double excess = 0;
    for (const size_t n : row) {
      x_[n] = std::max(wanted[n], limit + Width(n) / 2);
      limit = x_[n] + Width(n) / 2 + kGap;
      excess += x_[n] - wanted[n];
    }
    for (const size_t n : row) {
      x_[n] -= excess / static_cast<double>(row.size());
    }
  }

  double Leftmost() const {
    double left = 1e9;
    for (size_t n = 0; n < x_.size(); ++n) {
      left = std::min(left, x_[n] - Width(n) / 2);
    }
    return left;
  }

  const GraphPicture& picture_;
  std::vector<std::vector<int32_t>> before_;
  std::vector<std::vector<int32_t>> after_;
  std::vector<int> layer_;
  std::vector<double> x_;
  std::vector<std::vector<size_t>> rows_;
  double width_ = 0;
};

std::string NodeSvg(const GraphPicture::Node& node, double x, double y,
                    double width) {
  return absl::StrFormat(
      "<rect x='%.1f' y='%.1f' width='%.1f' height='%.0f' rx='8' fill='%s' "
      "stroke='#345' stroke-width='%s'%s/>\n"
      "<text x='%.1f' y='%.1f' font-size='13'>%s</text>\n"
      "<text x='%.1f' y='%.1f' font-size='11' fill='#567'>%s</text>\n",
      x - width / 2, y - kHeight / 2, width, kHeight,
      node.is_center ? "#ffe08a" : "#eef3f8", node.is_center ? "2" : "1",
      node.has_more ? " stroke-dasharray='4 3'" : "", x, y - 3,
      Escaped(node.title), x, y + 13, Escaped(node.subtitle));
}

}  // namespace

std::string ToSvg(const GraphPicture& picture) {
  const Layout layout(picture);
  std::string out = absl::StrFormat(
      "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
      "viewBox='0 0 %.0f %.0f' font-family='sans-serif' "
      "text-anchor='middle'>\n"
      "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' "
      "markerWidth='8' markerHeight='8' orient='auto'>"
      "<path d='M0,0 L8,4 L0,8 z' fill='#789'/></marker></defs>\n"
      "<rect width='100%%' height='100%%' fill='white'/>\n",
      layout.width(), layout.height(), layout.width(), layout.height());
  for (const auto& edge : picture.edges) {
    const auto from = static_cast<size_t>(edge.first);
    const auto to = static_cast<size_t>(edge.second);
    const double y1 = layout.Y(from) + kHeight / 2;
    const double y2 = layout.Y(to) - kHeight / 2 - 2;
    const double bend = (y2 - y1) / 2;
    absl::StrAppendFormat(
        &out,
        "<path d='M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f' fill='none' "
        "stroke='#789' marker-end='url(#tip)'/>\n",
        layout.X(from), y1, layout.X(from), y1 + bend, layout.X(to), y2 - bend,
        layout.X(to), y2);
  }
  for (size_t n = 0; n < picture.nodes.size(); ++n) {
    out += NodeSvg(picture.nodes[n], layout.X(n), layout.Y(n), layout.Width(n));
  }
  return out + "</svg>\n";
}

std::string ToDot(const GraphPicture& picture) {
  std::string out =
      "digraph tasks {\n  node [shape=box style=\"rounded,filled\" "
      "fillcolor=\"#eef3f8\" fontname=\"sans-serif\"];\n";
  for (size_t n = 0; n < picture.nodes.size(); ++n) {
    const GraphPicture::Node& node = picture.nodes[n];
    const std::string label =
        absl::StrReplaceAll(absl::StrCat(node.title, "\n", node.subtitle),
                            {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
    absl::StrAppend(&out, "  n", n, " [label=\"", label, "\"",
                    node.is_center ? " fillcolor=\"#ffe08a\"" : "",
                    node.has_more ? " style=\"rounded,filled,dashed\"" : "",
                    "];\n");
  }
  for (const auto& [from, to] : picture.edges) {
    absl::StrAppend(&out, "  n", from, " -> n", to, ";\n");
  }
  return out + "}\n";
}

}  // namespace dogged
