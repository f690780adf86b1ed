#include "apps/dogged/door/door_session.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/client/client_times.h"
#include "apps/dogged/client/cluster_jobs.h"
#include "apps/dogged/client/find_agents.h"
#include "apps/dogged/client/named_job.h"
#include "apps/dogged/door/door_sim.h"
#include "apps/dogged/door/shared_values.h"
#include "apps/dogged/jobs/fetched_job.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/diagnostics_json.h"
#include "apps/dogged/process/json_text.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/process/worker_count.h"
#include "apps/dogged/report/memory_check.h"
#include "apps/dogged/run/cluster_target.h"
#include "apps/dogged/run/not_finite.h"
#include "apps/dogged/run/run_options.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// A request waits no longer than this for the jobs.
constexpr absl::Duration kStep = absl::Milliseconds(20);
constexpr absl::Duration kIdle = absl::Seconds(1);
// Agents that answer nobody any more have ended by then.
constexpr absl::Duration kEndPatience = absl::Milliseconds(500);
constexpr int64_t kAgentsMax = 256;

// Words about a program of that many messages may be long.
nlohmann::ordered_json ErrorAnswer(
    const absl::Status& status,
    const std::optional<nlohmann::ordered_json>& diagnostics) {
  const auto none = nlohmann::ordered_json::array();
  const ExitCode code = ExitCodeOf(status);
  nlohmann::ordered_json out = {
      {"status", static_cast<int>(code)},
      {"error", ErrorJson(code, status.message(), diagnostics.value_or(none))}};
  if (diagnostics.has_value()) out["diagnostics"] = *diagnostics;
  return out;
}

std::vector<int64_t> Extents(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

// Inputs that the program makes itself where none is given.
nlohmann::ordered_json MadeFields(
    const std::vector<dsl::ProgramFacts::MadeInput>& made) {
  auto out = nlohmann::ordered_json::array();
  for (const dsl::ProgramFacts::MadeInput& input : made) {
    out.push_back(
        {{"array", input.array}, {"type", ElementName(input.element)}});
  }
  return out;
}

// The answer for a program of which nothing is proved yet: shapes of inputs
// decide its parameters.
nlohmann::ordered_json AwaitingFields(
    const std::string& file,
    const std::vector<dsl::ProgramFacts::Input>& awaited) {
  auto inputs = nlohmann::ordered_json::array();
  for (const dsl::ProgramFacts::Input& input : awaited) {
    inputs.push_back({{"array", input.array},
                      {"type", ElementName(input.element)},
                      {"shape", nullptr}});
  }
  return {{"program", dsl::NameOfFile(file)}, {"inputs", std::move(inputs)}};
}

nlohmann::ordered_json NamesOf(const std::vector<NamedResult>& results) {
  auto out = nlohmann::ordered_json::array();
  for (const NamedResult& one : results) out.push_back(one.name);
  return out;
}

// The inputs and libraries of a request. Their descriptors come in that order.
absl::Status TakeGiven(const DoorRequest& request,
                       const std::vector<OwnedDescriptor>& descriptors,
                       GivenProgram& given) {
  DOGGED_ASSIGN_OR_RETURN(const std::vector<DoorInput> inputs,
                          request.Inputs("inputs"));
  DOGGED_ASSIGN_OR_RETURN(const std::vector<std::string> libraries,
                          request.Texts("libraries"));
  const size_t count = inputs.size() + libraries.size();
  if (count != descriptors.size()) {
    return absl::NotFoundError(absl::StrCat(
        inputs.size(), " inputs and ", libraries.size(),
        " libraries want as many descriptors, not ", descriptors.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(given.inputs[inputs[i].array],
                            InputOf(inputs[i], descriptors[i]));
  }
  for (size_t i = 0; i < libraries.size(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(
        given.libraries[libraries[i]],
        LibraryOf(libraries[i], descriptors[inputs.size() + i]));
  }
  return absl::OkStatus();
}

// An error for a library of which the program takes no kernel.
absl::Status CheckTaken(const GivenProgram& given, const Program& program) {
  for (const auto& [name, content] : given.libraries) {
    const bool is_taken =
        std::any_of(program.kernels.begin(), program.kernels.end(),
                    [&name = name](const KernelSpec& spec) {
                      return spec.kind == "library" && spec.name == name;
                    });
    if (is_taken) continue;
    return absl::NotFoundError(absl::StrCat(
        "the program takes no kernel from ", name,
        "; in its text:  kernel f(in a, out b) from \"", name, "\""));
  }
  return absl::OkStatus();
}

}  // namespace

DoorSession::DoorSession(DoorChannel& channel, const Environment& environment)
    : channel_(channel),
      environment_(environment),
      kernels_(environment),
      rng_(environment.entropy) {}

void DoorSession::Say(const nlohmann::ordered_json& object,
                      const std::vector<OwnedDescriptor>& descriptors) {
  std::vector<int> numbers;
  for (const OwnedDescriptor& one : descriptors)
    numbers.push_back(one.number());
  if (!channel_.Write(JsonText(object), numbers).ok()) has_gone_ = true;
}

void DoorSession::Run() {
  Say({{"schema", kAnswerSchema},
       {"hello", "dogged client"},
       {"descriptors", channel_.CarriesDescriptors()}});
  while (!has_gone_) {
    const bool is_busy =
        std::any_of(jobs_.begin(), jobs_.end(),
                    [](const auto& one) { return !one.second->HasEnded(); });
    auto line = channel_.Read(is_busy ? absl::ZeroDuration() : kIdle);
    if (absl::IsUnavailable(line.status())) return;
    if (!line.ok()) {
      nlohmann::ordered_json out = {{"id", nullptr}};
      out.update(ErrorAnswer(line.status(), std::nullopt));
      Say(out);
    } else if (line->has_value()) {
      Serve(**line);
      continue;  // the next one may be there
    }
    Reap(absl::ZeroDuration());
    StepJobs(kStep);
  }
}

void DoorSession::Serve(absl::string_view line) {
  nlohmann::ordered_json out = {{"id", nullptr}};
  diagnostics_.reset();
  const auto request = DoorRequest::Parse(line);
  if (!request.ok()) {
    out.update(ErrorAnswer(request.status(), std::nullopt));
    return Say(out);
  }
  out["id"] = request->id();
  absl::StatusOr<Answer> answer = Answer();
  try {
    answer = Do(*request);
  } catch (const std::bad_alloc&) {
    answer = absl::ResourceExhaustedError(
        absl::StrCat("no memory beyond the ", PeakResidentBytes(),
                     " bytes that the client had"));
  }
  if (!answer.ok()) {
    out.update(ErrorAnswer(answer.status(), diagnostics_));
    return Say(out);
  }
  out["status"] = 0;
  out.update(answer->fields);
  if (diagnostics_.has_value() && !diagnostics_->empty()) {
    out["diagnostics"] = *diagnostics_;
  }
  Say(out, answer->descriptors);
}

absl::StatusOr<DoorSession::Answer> DoorSession::Do(
    const DoorRequest& request) {
  const std::string& name = request.name();
  if (name == "check") return Check(request);
  if (name == "sim") return Sim(request);
  if (name == "open") return Open(request);
  if (name == "start") return Start(request);
  if (name == "submit") return Submit(request);
  if (name == "attach") return Attach(request);
  if (name == "result") return Result(request);
  if (name == "cancel") return Cancel(request);
  if (name == "forget") return Forget(request);
  if (name == "status") return Status(request);
  return absl::NotFoundError(absl::StrCat(
      "\"do\" is check, sim, open, start, submit, attach, result, cancel, "
      "forget or status",
      name.empty() ? "" : ", and not what this line says"));
}

absl::StatusOr<LoadedProgram> DoorSession::Load(const DoorRequest& request,
                                                RunOptions& run,
                                                GivenProgram& given,
                                                bool may_lack_inputs) {
  ProgramOptions& program = run.program;
  DOGGED_ASSIGN_OR_RETURN(program.file, request.Text("file"));
  if (program.file.empty()) {
    return absl::NotFoundError("\"file\" names the program, as heat.dog");
  }
  DOGGED_ASSIGN_OR_RETURN(given.text, request.Text("text"));
  DOGGED_ASSIGN_OR_RETURN(program.definitions, request.Pairs("parameters"));
  DOGGED_ASSIGN_OR_RETURN(program.wanted, request.Texts("want"));
  program.given = &given;
  program.may_lack_inputs = may_lack_inputs;
  program.loads_libraries = !given.libraries.empty();
  auto loaded = run.cluster.empty() || may_lack_inputs
                    ? LoadProgram(program, kernels_)
                    : LoadForCluster(run, kernels_);
  if (given.diagnostics.has_value()) {
    diagnostics_ = DiagnosticsJson(*given.diagnostics);
  }
  if (loaded.ok()) {
    DOGGED_RETURN_IF_ERROR(CheckTaken(given, loaded->job.program));
  }
  return loaded;
}

absl::StatusOr<DoorSession::Answer> DoorSession::Check(
    const DoorRequest& request) {
  DOGGED_ASSIGN_OR_RETURN(const std::vector<OwnedDescriptor> descriptors,
                          TakeDescriptors(request));
  DOGGED_RETURN_IF_ERROR(request.AllowOnly(
      {"file", "text", "parameters", "want", "libraries", "descriptors"}));
  RunOptions run;
  run.program.agents = 1;
  run.program.workers = WorkersPerAgent(0, 1);
  GivenProgram given;
  DOGGED_RETURN_IF_ERROR(TakeGiven(request, descriptors, given));
  const absl::StatusOr<LoadedProgram> loaded =
      Load(request, run, given, /*may_lack_inputs=*/true);
  if (!given.awaited.empty()) {
    Answer out{.fields = AwaitingFields(run.program.file, given.awaited)};
    out.fields["inputs_made"] = MadeFields(given.made);
    return out;
  }
  DOGGED_RETURN_IF_ERROR(loaded.status());
  DOGGED_ASSIGN_OR_RETURN(const std::vector<NamedResult> results,
                          ResultsOf(*loaded, run.program.wanted));
  Answer out;
  out.fields["program"] = loaded->job.program.name;
  out.fields["tasks"] = loaded->job.program.TaskCount();
  out.fields["lowering"] = loaded->job.lowering;
  out.fields["results"] = NamesOf(results);
  auto inputs = nlohmann::ordered_json::array();
  for (const dsl::ProgramFacts::Input& input : loaded->facts.lacking) {
    inputs.push_back({{"array", input.array},
                      {"type", ElementName(input.element)},
                      {"shape", Extents(input.shape)}});
  }
  out.fields["inputs"] = std::move(inputs);
  out.fields["inputs_made"] = MadeFields(given.made);
  return out;
}

nlohmann::ordered_json DoorSession::OwnAgents() const {
  auto out = nlohmann::ordered_json::array();
  if (agents_ == nullptr) return out;
  for (const LocalAgents::Process& process : agents_->processes()) {
    if (!process.alive) continue;
    out.push_back({{"name", process.name},
                   {"address", process.address},
                   {"pid", process.pid}});
  }
  return out;
}

absl::StatusOr<DoorSession::Answer> DoorSession::Open(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly(
      {"agents", "workers", "cluster", "key_file", "insecure"}));
  if (is_open_) return absl::NotFoundError("a cluster is open already");
  DOGGED_ASSIGN_OR_RETURN(const int64_t agents,
                          request.Number("agents", 1, kAgentsMax, 0));
  DOGGED_ASSIGN_OR_RETURN(
      const int64_t workers,
      request.Number("workers", 1, JobOptions::kTargetMax, 0));
  RunOptions opened;
  DOGGED_ASSIGN_OR_RETURN(opened.cluster, request.Text("cluster"));
  if ((agents > 0) == !opened.cluster.empty()) {
    return absl::NotFoundError(
        "\"agents\" is how many to start, or \"cluster\" is where they are");
  }
  DOGGED_ASSIGN_OR_RETURN(opened.key_choice.flag, request.Text("key_file"));
  DOGGED_ASSIGN_OR_RETURN(opened.key_choice.insecure, request.Flag("insecure"));
  auto keys = agents > 0 ? OpenNamedKeys(opened.key_choice, environment_)
                         : OpenCredentials(opened.key_choice, environment_);
  if (!keys.ok()) return absl::NotFoundError(keys.status().message());
  opened.credentials = *std::move(keys);
  opened.program.agents = static_cast<int>(agents);
  opened.program.workers = static_cast<int>(workers);
  Answer out;
  if (agents > 0) {
    opened.program.workers =
        WorkersPerAgent(static_cast<int>(workers), static_cast<int>(agents));
    auto own = std::make_unique<LocalAgents>(
        LocalAgentsOptions{.workers = opened.program.workers,
                           .memory = environment_.memory,
                           .directory = "",
                           .temporary_folder = environment_.temporary_folder,
                           .key_file = opened.credentials == nullptr
                                           ? std::string()
                                           : opened.credentials->key_path()});
    DOGGED_RETURN_IF_ERROR(own->Start(static_cast<int>(agents), kStartTimeout));
    agents_ = std::move(own);
    DOGGED_RETURN_IF_ERROR(AwaitViews(opened.credentials));
    out.fields["agents"] = OwnAgents();
  } else {
    DOGGED_ASSIGN_OR_RETURN(opened.cluster_agents,
                            FindAgents(opened.cluster, opened.credentials));
    DOGGED_ASSIGN_OR_RETURN(
        const auto client,
        ClusterClient::Connect(opened.cluster_agents,
                               {.patience = ClusterClient::kNamedPatience,
                                .connect = ConnectWith(opened.credentials)}));
    // An agent that has not our key says so now.
    DOGGED_RETURN_IF_ERROR(client->AwaitStatus().status());
    out.fields["agents"] = nlohmann::ordered_json::array();
  }
  cluster_ = std::move(opened);
  is_open_ = true;
  return out;
}

absl::StatusOr<DoorSession::Answer> DoorSession::Start(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({"agents"}));
  if (agents_ == nullptr) {
    return absl::NotFoundError(
        "agents are started where own ones are: open with \"agents\"");
  }
  DOGGED_ASSIGN_OR_RETURN(const int64_t count,
                          request.Number("agents", 1, kAgentsMax, 1));
  const size_t before = agents_->processes().size();
  DOGGED_RETURN_IF_ERROR(
      agents_->Start(static_cast<int>(count), kStartTimeout));
  for (size_t i = before; i < agents_->processes().size(); ++i) {
    const LocalAgents::Process& process = agents_->processes()[i];
    for (auto& [number, job] : jobs_) {
      job->NoteOwnAgent(process.address, process.name);
    }
  }
  Answer out;
  out.fields["agents"] = OwnAgents();
  return out;
}

// Within reason: a job that starts before that runs right, but some of its
// tasks twice.
absl::Status DoorSession::AwaitViews(
    const std::shared_ptr<Credentials>& credentials) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + kViewsTimeout;
  const std::vector<std::string> addresses = Addresses();
  DOGGED_ASSIGN_OR_RETURN(
      const auto client,
      ClusterClient::Connect(addresses, {.connect = ConnectWith(credentials)}));
  for (const std::string& address : addresses) client->AddAddress(address);
  bool all = false;
  while (!all && clock.Now() < deadline) {
    const std::vector<StatusReply> replies = client->PollStatus();
    all = replies.size() == addresses.size();
    for (const StatusReply& reply : replies) {
      all = all && reply.members.size() >= addresses.size();
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> DoorSession::Addresses() const {
  if (agents_ == nullptr) return cluster_.cluster_agents;
  std::vector<std::string> out;
  for (const size_t i : agents_->Alive()) {
    out.push_back(agents_->processes()[i].address);
  }
  return out;
}

absl::StatusOr<std::vector<OwnedDescriptor>> DoorSession::TakeDescriptors(
    const DoorRequest& request) {
  DOGGED_ASSIGN_OR_RETURN(
      const int64_t count,
      request.Number("descriptors", 0, DoorChannel::kDescriptorsMax, 0));
  return channel_.Take(static_cast<size_t>(count));
}

absl::StatusOr<DoorSession::Answer> DoorSession::Sim(
    const DoorRequest& request) {
  DOGGED_ASSIGN_OR_RETURN(const std::vector<OwnedDescriptor> descriptors,
                          TakeDescriptors(request));
  DOGGED_RETURN_IF_ERROR(
      request.AllowOnly({"file", "text", "parameters", "want", "inputs",
                         "libraries", "descriptors", "seeds", "agents",
                         "replicas", "faults", "search_only", "claims"}));
  DOGGED_ASSIGN_OR_RETURN(const DoorSim sim, DoorSim::Of(request));
  RunOptions run;
  run.program.agents = sim.options.agents;
  run.program.workers = 1;
  GivenProgram given;
  DOGGED_RETURN_IF_ERROR(TakeGiven(request, descriptors, given));
  DOGGED_ASSIGN_OR_RETURN(const LoadedProgram loaded,
                          Load(request, run, given, /*may_lack_inputs=*/false));
  Answer out;
  DOGGED_ASSIGN_OR_RETURN(out.fields, sim.Run(loaded.job, environment_, [this] {
    return channel_.HasGone();
  }));
  return out;
}

absl::StatusOr<DoorSession::Answer> DoorSession::Submit(
    const DoorRequest& request) {
  DOGGED_ASSIGN_OR_RETURN(const std::vector<OwnedDescriptor> descriptors,
                          TakeDescriptors(request));
  DOGGED_RETURN_IF_ERROR(request.AllowOnly(
      {"file", "text", "parameters", "want", "inputs", "libraries",
       "descriptors", "replicas", "keep_seconds", "redo_seconds"}));
  if (!is_open_) {
    return absl::NotFoundError("no cluster is open: say \"open\" first");
  }
  RunOptions run = cluster_;
  GivenProgram given;
  DOGGED_RETURN_IF_ERROR(TakeGiven(request, descriptors, given));
  DOGGED_ASSIGN_OR_RETURN(
      const int64_t replicas,
      request.Number("replicas", 1, JobOptions::kReplicasMax, 0));
  DOGGED_ASSIGN_OR_RETURN(const double keep, request.Seconds("keep_seconds"));
  DOGGED_ASSIGN_OR_RETURN(const double redo, request.Seconds("redo_seconds"));
  const std::vector<std::string> addresses = Addresses();
  if (addresses.empty()) {
    return absl::UnavailableError("all agents have ended: start more");
  }
  if (agents_ != nullptr) {
    run.program.agents = static_cast<int>(addresses.size());
  }
  DOGGED_ASSIGN_OR_RETURN(LoadedProgram loaded,
                          Load(request, run, given, /*may_lack_inputs=*/false));
  DOGGED_ASSIGN_OR_RETURN(std::vector<NamedResult> results,
                          ResultsOf(loaded, run.program.wanted));
  Answer out;
  DOGGED_ASSIGN_OR_RETURN(
      const std::string warning,
      CheckMemory({.footprint = loaded.facts.footprint,
                   .here = static_cast<double>(PhysicalBytes()),
                   .replicas = 1}));
  std::vector<std::string> warnings = NotFiniteInputs(loaded);
  if (!warning.empty()) warnings.insert(warnings.begin(), warning);
  if (!warnings.empty()) {
    out.fields["warning"] = absl::StrJoin(warnings, "\n");
  }
  out.fields["results"] = NamesOf(results);
  const int known = static_cast<int>(std::max<size_t>(
      addresses.size(), static_cast<size_t>(run.program.agents)));
  DoorJob::Options options{
      .submission = SubmissionId(rng_.Stream("submission").Next() | 1),
      .job = {.replicas = replicas > 0 ? static_cast<int>(replicas)
                          : known > 1  ? 2
                                       : 1,
              .agents = run.program.agents,
              .workers = run.program.workers,
              .redo_max_ms = RedoMaxMs(redo),
              .keep_ms = std::llround(1000 * keep)},
      .addresses = run.cluster_agents.empty() ? addresses : run.cluster_agents,
      .connect = ConnectWith(run.credentials),
      .has_own_agents = agents_ != nullptr,
      .reap = [this] { Reap(kEndPatience); }};
  rng_ = Rng(rng_.Next());  // another submission next time
  auto job = std::make_unique<DoorJob>(std::move(loaded), std::move(results),
                                       std::move(options));
  DOGGED_RETURN_IF_ERROR(job->Submit());
  out.fields["run"] = ++last_job_;
  out.fields["job"] = job->hash();
  jobs_[last_job_] = std::move(job);
  return out;
}

absl::StatusOr<std::unique_ptr<ClusterClient>> DoorSession::ConnectToAgents()
    const {
  const std::vector<std::string> addresses = Addresses();
  if (addresses.empty()) {
    return absl::UnavailableError("all agents have ended: start more");
  }
  return ClusterClient::Connect(addresses,
                                {.patience = ClusterClient::kNamedPatience,
                                 .connect = ConnectWith(cluster_.credentials)});
}

void DoorSession::NameOwnResults(const Job& job,
                                 std::vector<NamedResult>& results) const {
  for (NamedResult& one : results) {
    const std::string& array = one.output.selection.array;
    if (!one.output.selection.indices.empty() || one.name == array) continue;
    const auto own = SelectLabels(job, {array}, "want", kernels_);
    if (own.ok() && own->front().view == one.output.labels.view) {
      one.name = array;
    }
  }
}

absl::StatusOr<DoorSession::Answer> DoorSession::Attach(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({"job", "want"}));
  if (!is_open_) {
    return absl::NotFoundError("no cluster is open: say \"open\" first");
  }
  DOGGED_ASSIGN_OR_RETURN(const std::string digits, request.Text("job"));
  DOGGED_ASSIGN_OR_RETURN(const std::vector<std::string> wanted,
                          request.Texts("want"));
  DOGGED_ASSIGN_OR_RETURN(auto client, ConnectToAgents());
  DOGGED_ASSIGN_OR_RETURN(NamedJob named,
                          FindNamedJob(*client, digits, cluster_.cluster));
  DOGGED_RETURN_IF_ERROR(EndOf(named.record()));
  LoadedProgram loaded;
  DOGGED_ASSIGN_OR_RETURN(loaded.job, FetchJob(*client, named));
  const auto select = [this, wanted](const Job& of) {
    return SelectResults(of, wanted, "want", "want", kernels_);
  };
  DOGGED_ASSIGN_OR_RETURN(loaded.wanted_labels, select(loaded.job));
  if (loaded.job.program.repeat.has_value()) {
    const Job ended = EndedJob(loaded.job, named.record());
    DOGGED_RETURN_IF_ERROR(select(ended).status());
  }
  DOGGED_ASSIGN_OR_RETURN(std::vector<NamedResult> results,
                          ResultsOf(loaded, wanted));
  NameOwnResults(loaded.job, results);
  Answer out;
  out.fields["program"] = loaded.job.program.name;
  out.fields["results"] = NamesOf(results);
  auto job = std::make_unique<DoorJob>(
      std::move(loaded), std::move(results),
      DoorJob::Options{.has_own_agents = agents_ != nullptr,
                       .reap = [this] { Reap(kEndPatience); },
                       .select = select});
  DOGGED_RETURN_IF_ERROR(job->Attach(std::move(client), std::move(named)));
  out.fields["run"] = ++last_job_;
  out.fields["job"] = job->hash();
  jobs_[last_job_] = std::move(job);
  return out;
}

absl::StatusOr<DoorJob*> DoorSession::JobOf(const DoorRequest& request) {
  DOGGED_ASSIGN_OR_RETURN(const int64_t number,
                          request.Number("run", 1, INT64_MAX, 0));
  const auto it = jobs_.find(number);
  if (it == jobs_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no run ", number));
  }
  return it->second.get();
}

absl::StatusOr<DoorSession::Answer> DoorSession::Result(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({"run", "name"}));
  if (!channel_.CarriesDescriptors()) {
    return absl::FailedPreconditionError(
        "results are memory descriptors, and a pipe carries none: start this "
        "with --socket-fd");
  }
  DOGGED_ASSIGN_OR_RETURN(DoorJob* const job, JobOf(request));
  DOGGED_ASSIGN_OR_RETURN(const std::string name, request.Text("name"));
  DOGGED_ASSIGN_OR_RETURN(DoorJob::Finished taken, job->Take(name));
  Answer out;
  out.fields["type"] = std::string(ElementName(taken.type));
  out.fields["shape"] = Extents(taken.shape);
  out.fields["descriptors"] = 1;
  out.descriptors.push_back(std::move(taken.descriptor));
  return out;
}

absl::StatusOr<DoorSession::Answer> DoorSession::Cancel(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({"run"}));
  DOGGED_ASSIGN_OR_RETURN(DoorJob* const job, JobOf(request));
  DOGGED_RETURN_IF_ERROR(job->Cancel());
  return Answer();
}

absl::StatusOr<DoorSession::Answer> DoorSession::Forget(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({"run"}));
  DOGGED_RETURN_IF_ERROR(JobOf(request).status());
  DOGGED_ASSIGN_OR_RETURN(const int64_t number,
                          request.Number("run", 1, INT64_MAX, 0));
  jobs_.erase(number);
  return Answer();
}

absl::StatusOr<DoorSession::Answer> DoorSession::Status(
    const DoorRequest& request) {
  DOGGED_RETURN_IF_ERROR(request.AllowOnly({}));
  if (!is_open_) {
    return absl::NotFoundError("no cluster is open: say \"open\" first");
  }
  Answer out;
  out.fields["own_agents"] = OwnAgents();
  out.fields["agents"] = nlohmann::ordered_json::array();
  out.fields["jobs"] = nlohmann::ordered_json::array();
  if (Addresses().empty()) return out;
  DOGGED_ASSIGN_OR_RETURN(const auto client, ConnectToAgents());
  DOGGED_ASSIGN_OR_RETURN(
      const std::vector<StatusReply> replies,
      client->AwaitStatus({.jobs = {.ended_max = INT64_MAX}}));
  std::map<std::string, nlohmann::ordered_json> members;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      auto& one = members[m.member.id.ToString()];
      one["address"] = m.member.control_address;
      one["host"] = m.member.host;
      one["workers"] = m.member.workers;
      one["state"] = m.state;
      if (!m.cause.empty()) one["cause"] = m.cause;
      if (m.member.id == reply.self) one["memory_bytes"] = reply.memory_bytes;
    }
  }
  for (auto& [id, one] : members) out.fields["agents"].push_back(one);
  for (const auto& [hash, job] : JobsOf(replies)) {
    const JobRecord& record = Foremost(job);
    out.fields["jobs"].push_back(
        {{"job", hash},
         {"program", record.name},
         {"state", std::string(JobStateName(record.state))}});
  }
  return out;
}

void DoorSession::Reap(absl::Duration patience) {
  if (agents_ == nullptr) return;
  for (const size_t index : agents_->Reap(patience)) {
    const LocalAgents::Process& process = agents_->processes()[index];
    for (auto& [number, job] : jobs_) {
      job->NoteOwnLoss({.who = process.name, .cause = process.end},
                       process.address);
    }
  }
}

void DoorSession::StepJobs(absl::Duration patience) {
  int64_t running = 0;
  for (const auto& [number, job] : jobs_) running += job->HasEnded() ? 0 : 1;
  for (auto& [number, job] : jobs_) {
    if (!job->HasEnded()) job->Step(patience / std::max<int64_t>(1, running));
    for (const nlohmann::ordered_json& event : job->TakeEvents()) {
      nlohmann::ordered_json out = {{"run", number}};
      out.update(event);
      Say(out);
    }
  }
}

}  // namespace dogged
