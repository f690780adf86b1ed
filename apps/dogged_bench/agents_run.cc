#include "apps/dogged_bench/agents_run.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

absl::StatusOr<std::string> ReadBeside(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  std::ifstream in(absl::StrCat(BenchFolder(), "/", name), std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in.is_open()) return absl::NotFoundError(path);
  return out.str();
}

}  // namespace

namespace {

// Kernels that take the time: nothing between them and the agent.
std::vector<std::string> WithLibrariesHere(std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--libraries", "here"});
  return flags;
}

}  // namespace

std::string BenchFolder() {
  char self[4096] = "";
  DOGGED_CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
  const std::string path = self;
  return path.substr(0, path.rfind('/'));
}

std::string OutputOf(const std::string& command) {
  FILE* const out = popen(command.c_str(), "r");
  DOGGED_CHECK(out != nullptr) << command;
  std::string text;
  char part[4096];
  while (std::fgets(part, sizeof(part), out) != nullptr) text += part;
  DOGGED_CHECK(pclose(out) == 0) << command << ": " << text;
  return text;
}

double SecondsOf(const std::string& command) {
  const std::string text = OutputOf(command);
  const double seconds = std::atof(text.c_str());
  DOGGED_CHECK(seconds > 0) << command << ": " << text;
  return seconds;
}

double NumberOf(const std::string& json, const std::string& name) {
  const std::string key = absl::StrCat("\"", name, "\":");
  const size_t at = json.find(key);
  DOGGED_CHECK(at != std::string::npos) << name << " in " << json;
  return std::atof(json.c_str() + at + key.size());
}

AgentsRun::AgentsRun(int count, int workers, std::vector<std::string> flags,
                     std::string multicast)
    : workers_(workers),
      kernels_(
          {.cache_directory = KernelCacheDirectory("", ""), .compiler = "cc"}),
      agents_({.workers = workers,
               .multicast = std::move(multicast),
               .program = absl::StrCat(BenchFolder(), "/dogged"),
               .flags = WithLibrariesHere(std::move(flags))}) {
  const absl::Status started = agents_.Start(count, absl::Seconds(30));
  DOGGED_CHECK(started.ok()) << started.ToString();
}

AgentsRun::Outcome AgentsRun::Run(const Request& request) {
  dsl::CompileOptions options;
  options.file = absl::StrCat("bench", ++runs_, ".dog");
  options.parameters = request.parameters;
  options.target = {.agents = static_cast<int>(processes().size()),
                    .workers = workers_};
  options.read_file = ReadBeside;
  options.load_library = kernels_.load_library();
  options.numeric = kernels_.numeric_parts();
  options.analyze = dsl::AnalyzeWithIsl;
  dsl::Diagnostics diagnostics(options.file, request.text);
  const auto job =
      dsl::Compile(request.text, options, kernels_.registry(), diagnostics);
  DOGGED_CHECK(job.ok()) << diagnostics.ToString() << job.status().ToString();
  std::vector<std::string> addresses;
  for (const LocalAgents::Process& process : processes()) {
    addresses.push_back(process.address);
  }
  auto client = ClusterClient::Connect(addresses, {});
  DOGGED_CHECK(client.ok()) << client.status().ToString();
  const std::string encoded = job->Encode();
  Outcome out{
      .job = JobIdOf(JobHash(encoded)), .program = job->program, .results = {}};
  const Relations relations(out.program);
  absl::Status status =
      (*client)->Submit(*job, SubmissionId(runs_),
                        {.replicas = request.replicas}, relations, runs_);
  while (status.ok() && !((*client)->HasAll() && *(*client)->CopyLent())) {
    status = (*client)->Collect(absl::Seconds(1));
  }
  DOGGED_CHECK(status.ok()) << status.ToString();
  relations.ForEachResult([&](const Label& label) {
    out.results[label] = *(*client)->Find(label);
    return true;
  });
  if (!request.ends) return out;
  JobRecord record = (*client)->record();
  record.state = JobState::kDone;
  (void)(*client)->Conclude(record);
  return out;
}

double AgentsRun::CpuSeconds() const {
  double ticks = 0;
  for (const LocalAgents::Process& process : processes()) {
    std::ifstream in(absl::StrCat("/proc/", process.pid, "/stat"));
    std::string word;
    // User and system time are words 14 and 15; no name here has a space.
    for (int i = 1; i <= 15 && in >> word; ++i) {
      if (i >= 14) ticks += std::stod(word);
    }
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace dogged
