#include "apps/dogged/jobs/fetched_job.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/lower/index_tables.h"
#include "dsl/text/diagnostics.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"
#include "runtime/graph/rounds.h"

namespace dogged {
namespace {

// Whether index d of a result is the round in which the loop ends.
bool IsAtEnd(const Program& program, const ResultView& view, size_t d) {
  if (!program.repeat.has_value()) return false;
  const Repeat::ResultTime& at = program.repeat->result_time[view.result_set];
  const ResultSet& set = program.results[view.result_set];
  const bool is_tiled = program.arrays[set.array].name != view.array;
  const int32_t index = is_tiled ? view.tile_index[d] : static_cast<int32_t>(d);
  return at.is_exact && index >= 0 &&
         set.map[index].LastIndex() == at.time.LastIndex();
}

bool Covers(const Program& program, const ResultView& view,
            const dsl::SelectedLabels& labels) {
  if (view.lower.size() != labels.lower.size()) return false;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const bool is_one = labels.lower[d] == labels.upper[d];
    if (labels.lower[d] < view.lower[d] || labels.upper[d] > view.upper[d] ||
        (labels.lower[d] - view.lower[d]) % view.step[d] != 0 ||
        (!is_one && labels.step[d] % view.step[d] != 0)) {
      return false;
    }
    if (!is_one && IsAtEnd(program, view, d)) return false;
  }
  return true;
}

// The position of the job's result that has all of them; -1 if none has. The
// one with the fewest: before a loop's end is known, a result of its end may be
// that of any round.
int32_t ViewOfArray(const Program& program, absl::string_view array,
                    const dsl::SelectedLabels& labels) {
  int32_t out = -1;
  double fewest = 0;
  for (size_t v = 0; v < program.views.size(); ++v) {
    const ResultView& view = program.views[v];
    if (view.array != array || !Covers(program, view, labels)) continue;
    double count = 1;
    for (size_t d = 0; d < view.lower.size(); ++d) {
      if (IsAtEnd(program, view, d)) continue;
      count *= static_cast<double>(view.Count(d));
    }
    if (out >= 0 && count >= fewest) continue;
    out = static_cast<int32_t>(v);
    fewest = count;
  }
  return out;
}

// The reason for which no agent has the program of a job that is over.
std::string WhyGone(const NamedJob& named) {
  if (named.record().is_delivered) {
    return named.record().options.keep_ms > 0
               ? "the time that they were kept is over, or they were forgotten"
               : "its client has them, or they were forgotten";
  }
  // An agent that drops a job remembers that it had a part in it.
  if (named.job.results_needed == 0) {
    return "none of the agents that had them is here any more";
  }
  return named.record().options.keep_ms > 0
             ? "the time that --keep says is over, or they took too much room"
             : "no client came for them in time";
}

}  // namespace

absl::StatusOr<Job> FetchJob(ClusterClient& client, const NamedJob& named) {
  const JobRecord& record = named.record();
  const auto gone = [&named] {
    return absl::DataLossError(absl::StrCat("the results of ", named.ToWords(),
                                            " are gone: ", WhyGone(named),
                                            "; submit it again"));
  };
  // Agents drop them a little later.
  if (record.state == JobState::kDone && record.is_delivered) return gone();
  absl::StatusOr<Job> job = client.FetchJob(record.hash);
  if (absl::IsNotFound(job.status()) && record.state != JobState::kRunning) {
    return gone();
  }
  return job;
}

Job EndedJob(const Job& job, int64_t time) {
  Job out = job;
  if (!job.program.repeat.has_value()) return out;
  out.parameters.emplace_back(job.program.repeat->parameter,
                              absl::StrCat(time));
  out.program = ProgramAt(job.program, time);
  return out;
}

Job EndedJob(const Job& job, const JobRecord& record) {
  const bool has_end = job.program.repeat.has_value() &&
                       record.state == JobState::kDone && record.is_last_round;
  if (!has_end) return job;
  const Relations relations(job.program);
  Rounds rounds(relations);
  rounds.Raise(record.round, record.is_last_round);
  return EndedJob(job, rounds.time());
}

absl::StatusOr<std::vector<dsl::SelectedLabels>> SelectLabels(
    const Job& job, const std::vector<std::string>& selections,
    const std::string& from, const KernelSource& kernels) {
  dsl::CompileOptions options;
  options.file = absl::StrCat(job.program.name, ".dog");
  options.parameters = job.parameters;
  // Tiles are the job's own; here only names and ranges count.
  options.coalesce = false;
  options.may_lack_inputs = true;
  options.inputs = dsl::IndexFilesOf(job.program);
  options.selects_any_round = true;
  options.selections = selections;
  options.selection_sources.assign(selections.size(), from);
  options.numeric = kernels.numeric_parts();
  options.analyze = dsl::AnalyzeWithIsl;
  // Libraries of kernels travel in the job.
  options.read_file =
      [&job](const std::string& path) -> absl::StatusOr<std::string> {
    for (const KernelSpec& spec : job.program.kernels) {
      if (spec.kind == "library" && spec.name == path) return spec.body;
    }
    return absl::NotFoundError(absl::StrCat(path, " is not in the job"));
  };
  dsl::Diagnostics diagnostics(options.file, job.source);
  dsl::PlacedResults placed;
  const auto compiled = dsl::Compile(job.source, options, kernels.registry(),
                                     diagnostics, &placed);
  if (compiled.ok()) {
    for (size_t s = 0; s < selections.size(); ++s) {
      dsl::SelectedLabels& labels = placed.selections[s];
      labels.view =
          ViewOfArray(job.program,
                      selections[s].substr(0, selections[s].find('(')), labels);
    }
    return std::move(placed.selections);
  }
  if (diagnostics.HasErrors() && absl::IsNotFound(compiled.status())) {
    return absl::NotFoundError(diagnostics.ToString());
  }
  return absl::InternalError(absl::StrCat(
      "the job's program does not compile here, is this another version of "
      "dogged? ",
      diagnostics.HasErrors() ? diagnostics.ToString()
                              : std::string(compiled.status().message())));
}

absl::StatusOr<std::vector<dsl::SelectedLabels>> SelectResults(
    const Job& job, const std::vector<std::string>& selections,
    const std::string& from, absl::string_view option,
    const KernelSource& kernels) {
  DOGGED_ASSIGN_OR_RETURN(std::vector<dsl::SelectedLabels> labels,
                          SelectLabels(job, selections, from, kernels));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].view >= 0) continue;
    return absl::NotFoundError(
        absl::StrCat(selections[i], " is no result of this job, which keeps ",
                     ResultWords(job.program), "; submit it with ", option,
                     " '", selections[i], "'"));
  }
  return labels;
}

absl::Status CheckDigest(const Digest& here, const JobRecord& record) {
  if (record.result_digest == Digest() || record.result_digest == here) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat("the results have the digest ", here.ToString(),
                   ", the job ended with ", record.result_digest.ToString()));
}

std::string ResultWords(const Program& program) {
  std::vector<std::string> out;
  for (const ResultView& view : program.views) {
    std::string words = view.array;
    for (size_t d = 0; d < view.lower.size(); ++d) {
      if (IsAtEnd(program, view, d)) {
        absl::StrAppend(&words, "(", program.repeat->parameter, ")");
        continue;
      }
      absl::StrAppend(&words, "(", view.lower[d]);
      if (view.upper[d] != view.lower[d]) {
        absl::StrAppend(&words, ":", view.upper[d]);
      }
      if (view.step[d] > 1 && view.upper[d] != view.lower[d]) {
        absl::StrAppend(&words, ":", view.step[d]);
      }
      words += ")";
    }
    out.push_back(std::move(words));
  }
  return absl::StrJoin(out, ", ");
}

}  // namespace dogged
