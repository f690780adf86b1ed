#include "apps/dogged/run/graph_command.h"

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/run/loaded_program.h"
#include "apps/output/file.h"
#include "apps/output/graph_picture.h"
#include "dsl/text/diagnostics.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// Tasks in a picture; more can't be looked at.
constexpr size_t kPictureTasksMax = 300;

// "phi(3)(4)" of `program`.
absl::StatusOr<Label> ParseLabel(const std::string& text,
                                 const Program& program) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("--at ", text, " is no label, such as phi(3)(4)"));
  const size_t first = text.find('(');
  const std::string name = text.substr(0, first);
  const auto array = program.FindArray(name);
  if (!array) {
    std::vector<std::string> names;
    for (const Array& other : program.arrays) names.push_back(other.name);
    return absl::InvalidArgumentError(
        absl::StrCat("--at ", text, ": the program has no array ", name,
                     dsl::DidYouMean(name, names)));
  }
  Label out{.array = *array, .index = {}};
  size_t at = std::min(first, text.size());
  while (at < text.size()) {
    const size_t close = text.find(')', at);
    int64_t index = 0;
    if (text[at] != '(' || close == std::string::npos ||
        !absl::SimpleAtoi(text.substr(at + 1, close - at - 1), &index) ||
        out.index.size() == kMaxIndices) {
      return wrong;
    }
    out.index.push_back(index);
    at = close + 1;
  }
  const int32_t rank = program.arrays[*array].rank;
  if (out.index.size() != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("--at ", text, ": ", name, " has ", rank,
                     rank == 1 ? " index" : " indices"));
  }
  return out;
}

// The tasks within `radius` steps of the one that creates a label.
class Neighbourhood {
 public:
  Neighbourhood(const Relations& relations, const Task& center, int radius)
      : relations_(relations) {
    Add(center);
    size_t begin = 0;
    for (int step = 0; step < radius; ++step) {
      const size_t end = tasks_.size();
      for (; begin < end; ++begin) {
        const Task task = tasks_[begin];  // Add() moves them
        ForEachNeighbour(task, [this](const Task& other, bool) { Add(other); });
      }
    }
    AddEdges();
  }
  bool is_cut() const { return is_cut_; }
  const GraphPicture& picture() const { return picture_; }

 private:
  template <typename Visit>
  void ForEachNeighbour(const Task& task, Visit visit) const {
    relations_.ForEachRequired(task, [&](int, const Label& label) {
      const auto producer = relations_.ProducerOf(label);
      if (producer) visit(*producer, /*is_before=*/true);
    });
    relations_.ForEachCreated(task, [&](int, const Label& label) {
      size_t left = kPictureTasksMax;
      relations_.ForEachConsumer(label, [&](const Task& other, int) {
        visit(other, /*is_before=*/false);
        return --left > 0;
      });
    });
  }

  void Add(const Task& task) {
    if (places_.count(task) > 0) return;
    if (tasks_.size() == kPictureTasksMax) {
      is_cut_ = true;
      return;
    }
    const auto place = static_cast<int32_t>(tasks_.size());
    places_[task] = place;
    tasks_.push_back(task);
    GraphPicture::Node node;
    relations_.ForEachCreated(task, [&](int, const Label& label) {
      absl::StrAppend(&node.title, node.title.empty() ? "" : ", ",
                      relations_.program().LabelText(label));
    });
    node.subtitle = relations_.ClassOf(task).name;
    node.is_center = place == 0;
    picture_.nodes.push_back(std::move(node));
  }

  void AddEdges() {
    for (size_t n = 0; n < tasks_.size(); ++n) {
      ForEachNeighbour(tasks_[n], [&](const Task& other, bool is_before) {
        const auto found = places_.find(other);
        if (found == places_.end()) {
          picture_.nodes[n].has_more = true;
        } else if (is_before) {
          const auto edge =
              std::make_pair(found->second, static_cast<int32_t>(n));
          // A task may require two labels of another.
          if (std::find(picture_.edges.begin(), picture_.edges.end(), edge) ==
              picture_.edges.end()) {
            picture_.edges.push_back(edge);
          }
        }
      });
    }
  }

  const Relations& relations_;
  std::map<Task, int32_t> places_;
  std::vector<Task> tasks_;
  GraphPicture picture_;
  bool is_cut_ = false;
};

}  // namespace

ExitCode GraphCommand(const GraphOptions& options,
                      const Environment& environment) {
  const bool is_dot = absl::EndsWithIgnoreCase(options.output, ".dot");
  if (!options.output.empty() && !is_dot &&
      !absl::EndsWithIgnoreCase(options.output, ".svg")) {
    return PrintMistyped(absl::InvalidArgumentError(
        absl::StrCat("-o ", options.output,
                     ": the name of a picture ends in .svg, or in "
                     ".dot for graphviz")));
  }
  const KernelSource kernels(environment);
  ProgramOptions points = options.program;
  points.coalesce = false;
  points.static_labels = true;
  points.may_lack_inputs = true;
  const auto program = LoadProgram(points, kernels);
  if (!program.ok()) return ExitCodeOfLoad(program.status());
  const Relations relations(program->job.program);
  const auto label = ParseLabel(options.at, program->job.program);
  if (!label.ok()) return PrintMistyped(label.status());
  const auto center = relations.ProducerOf(*label);
  if (!center) {
    return PrintMistyped(absl::InvalidArgumentError(
        absl::StrCat("no task creates ", options.at)));
  }
  const Neighbourhood near(relations, *center, options.radius);
  if (near.is_cut()) {
    std::fprintf(stderr, "only the first %d tasks are shown\n",
                 static_cast<int>(kPictureTasksMax));
  }
  const std::string text =
      is_dot ? ToDot(near.picture()) : ToSvg(near.picture());
  if (options.output.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return ExitCode::kDone;
  }
  const absl::Status written =
      WriteWholeFile(options.output, {absl::string_view(text)});
  return written.ok() ? ExitCode::kDone : PrintMistyped(written);
}

}  // namespace dogged
