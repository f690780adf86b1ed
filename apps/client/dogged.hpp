// The C++20 interface of dogged, headers over dogged.h: clusters, programs,
// jobs and results that end by themselves, and programs made in C++
// (dogged_builder.hpp, dogged_graph.hpp) with kernels of one's own
// (dogged_kernel.hpp).
// docs/CLIENT.md shows it at work.
//
//     auto cluster = dogged::Cluster::Here(4);
//     auto heat = cluster.Load("heat.dog", {{"N", 401}});
//     auto u = heat.Submit().Result("u");     // u(3, 4), u.span()
//
// Calls that fail throw an Error. Copies of a cluster, program, job or result
// are the same one; the last copy ends it.
#ifndef DOGGED_APPS_CLIENT_DOGGED_HPP_
#define DOGGED_APPS_CLIENT_DOGGED_HPP_

#if __cplusplus < 202002L
#error "dogged.hpp wants C++20: -std=c++20"
#endif

#include <poll.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dogged.h"
#include "dogged_builder.hpp"
#include "dogged_error.hpp"
#include "dogged_graph.hpp"
#include "dogged_kernel.hpp"

namespace dogged {

namespace internal {

inline void Check(int status) {
  if (status != DOGGED_OK) throw Error();
}

template <Element T>
constexpr dogged_type TypeOf() {
  using Of = std::remove_const_t<T>;
  return std::same_as<Of, double>  ? DOGGED_DOUBLE
         : std::same_as<Of, float> ? DOGGED_FLOAT
                                   : DOGGED_INT64;
}

}  // namespace internal

// -D name=value: {"N", 401}, {"c", 0.25}.
struct Parameter {
  template <std::integral T>
  Parameter(const std::string& n, T v) : name(n), value(std::to_string(v)) {}
  template <std::floating_point T>
  Parameter(const std::string& n, T v)
      : name(n), value(internal::NumberText(static_cast<double>(v))) {}
  Parameter(const std::string& n, const std::string& v) : name(n), value(v) {}

  std::string name;
  std::string value;
};

// An array for a job: Input("v", values) or Input("A", values, {500, 500}). The
// values have to be there until Submit() returns.
struct Input {
  template <std::ranges::contiguous_range Values>
  Input(const std::string& n, const Values& values,
        std::vector<int64_t> shape = {})
      : name(n),
        type(internal::TypeOf<std::ranges::range_value_t<Values>>()),
        extents(std::move(shape)),
        data(std::ranges::data(values)) {
    const auto size = static_cast<int64_t>(std::ranges::size(values));
    if (extents.empty()) extents = {size};
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    if (count != size) {
      throw Error(DOGGED_MISUSED, "input " + name + ": its shape wants " +
                                      std::to_string(count) + " values, " +
                                      std::to_string(size) + " are there");
    }
  }

  std::string name;
  dogged_type type;
  std::vector<int64_t> extents;
  const void* data;
};

// Memory for an input that is lent to jobs, without a copy.
template <Element T>
class Lent {
 public:
  explicit Lent(size_t count) : count_(count) {
    void* memory = nullptr;
    internal::Check(dogged_alloc(count * sizeof(T), &memory));
    memory_ = {memory, [](void* mine) { dogged_release(mine); }};
  }

  T* data() const { return static_cast<T*>(memory_.get()); }
  size_t size() const { return count_; }
  T* begin() const { return data(); }
  T* end() const { return data() + count_; }
  T& operator[](size_t i) const { return data()[i]; }

 private:
  size_t count_;
  std::shared_ptr<void> memory_;
};

// A result, C order, on the memory in which it was put together. Writable.
template <Element T>
class Values : public Block<T> {
 public:
  std::span<T> span() const { return {this->data(), this->size()}; }

 private:
  friend class Job;
  Values(std::shared_ptr<const void> owner,
         std::shared_ptr<const dogged_view> view)
      : Block<T>(static_cast<T*>(view->data),
                 {view->extents, static_cast<size_t>(view->rank)}),
        owner_(std::move(owner)),
        view_(std::move(view)) {}

  std::shared_ptr<const void> owner_;
  std::shared_ptr<const dogged_view> view_;  // has the extents
};

// As dogged_event, with its texts.
struct Event {
  int kind = DOGGED_NO_EVENT;
  int64_t done = 0;
  int64_t needed = 0;
  std::string who;
  std::string words;
  std::string json;
};

class Job {
 public:
  std::string hash() const {
    const char* out = nullptr;
    internal::Check(dogged_job_hash(get(), &out));
    return out;
  }
  // Until it has ended.
  void Wait() const { internal::Check(dogged_wait(get(), -1)); }
  // False if it has not ended in so many seconds.
  bool Wait(double seconds) const {
    const int status = dogged_wait(get(), seconds < 0 ? 0 : seconds);
    if (status == DOGGED_TIMED_OUT) return false;
    internal::Check(status);
    return true;
  }
  void Cancel() const { internal::Check(dogged_cancel(get())); }

  // Waits. The same memory each time; it lives as long as any copy of this.
  template <Element T = double>
  Values<T> Result(const std::string& name) const {
    auto view = std::make_shared<dogged_view>();
    internal::Check(dogged_result(get(), name.c_str(), view.get()));
    if (view->type != internal::TypeOf<T>()) {
      const char* const has = internal::TypeText(view->type);
      throw Error(DOGGED_MISUSED,
                  "result " + name + " is of " + has + ": ask Result<" +
                      (view->type == DOGGED_INT64 ? "int64_t" : has) + ">()");
    }
    return Values<T>(handle_, std::move(view));
  }

  // Readable while an event is there; for poll() alone.
  int fd() const {
    int out = -1;
    internal::Check(dogged_job_fd(get(), &out));
    return out;
  }
  // None if none is there now.
  std::optional<Event> NextEvent() const {
    dogged_event event;
    internal::Check(dogged_job_event(get(), &event));
    if (event.kind == DOGGED_NO_EVENT) return std::nullopt;
    const auto text = [](const char* one) {
      return std::string(one == nullptr ? "" : one);
    };
    return Event{event.kind,      event.done,        event.needed,
                 text(event.who), text(event.words), text(event.json)};
  }
  // Calls `on_event` for each until the job has ended.
  template <std::invocable<const Event&> OnEvent>
  void ForEachEvent(const OnEvent& on_event) const {
    while (true) {
      // The order matters: an end that comes between has events.
      const bool has_ended = dogged_wait(get(), 0) != DOGGED_TIMED_OUT;
      while (const std::optional<Event> event = NextEvent()) on_event(*event);
      if (has_ended) return;
      pollfd waiting = {fd(), POLLIN, 0};
      poll(&waiting, 1, -1);
    }
  }
  // Figures in JSON, once it has ended.
  std::string Report() const {
    const char* out = nullptr;
    internal::Check(dogged_job_report(get(), &out));
    return out;
  }

 private:
  friend class Program;
  explicit Job(dogged_job* job)
      : handle_(job, [](dogged_job* mine) { dogged_job_free(mine); }) {}

  dogged_job* get() const { return handle_.get(); }
  std::shared_ptr<dogged_job> handle_;
};

struct SubmitOptions {
  int replicas = 0;         // copies of each value (0: 2, or 1 with one agent)
  double keep_seconds = 0;  // that results stay with agents of others
  double redo_seconds = 0;  // of work that one lost agent may cost
};

class Program {
 public:
  // Returns once the agents have it.
  Job Submit(const std::vector<Input>& inputs = {},
             const SubmitOptions& options = {}) const {
    std::vector<dogged_input> given;
    for (const Input& input : inputs) {
      given.push_back({input.name.c_str(), input.type,
                       static_cast<int>(input.extents.size()),
                       input.extents.data(), input.data});
    }
    const dogged_submission how = {given.data(), given.size(), options.replicas,
                                   options.keep_seconds, options.redo_seconds};
    dogged_job* job = nullptr;
    internal::Check(dogged_submit(handle_.get(), &how, &job));
    return Job(job);
  }

  // A further result, as "u(:)(10)", which is its name.
  void Want(const std::string& labels) const {
    internal::Check(dogged_program_want(handle_.get(), labels.c_str()));
  }
  // Arrays that Submit() wants.
  std::vector<dogged_array> inputs() const {
    std::vector<dogged_array> out;
    dogged_array one;
    while (dogged_program_input(handle_.get(), out.size(), &one) == DOGGED_OK) {
      out.push_back(one);
    }
    return out;
  }
  std::vector<std::string> results() const {
    std::vector<std::string> out;
    const char* one = nullptr;
    while (dogged_program_result(handle_.get(), out.size(), &one) ==
           DOGGED_OK) {
      out.emplace_back(one);
    }
    return out;
  }
  // In JSON: how it runs, and warnings.
  std::string facts() const {
    const char* out = nullptr;
    internal::Check(dogged_program_facts(handle_.get(), &out));
    return out;
  }

 private:
  friend class Cluster;
  explicit Program(dogged_program* program)
      : handle_(program,
                [](dogged_program* mine) { dogged_program_free(mine); }) {}

  std::shared_ptr<dogged_program> handle_;
};

struct ConnectOptions {
  std::string key_file = {};  // of the cluster
  bool insecure = false;      // agents without keys where you have one
};

// Where jobs run. Own agents end with it.
class Cluster {
 public:
  // Agents of this host; workers: threads of each (0: processors / agents).
  static Cluster Here(int agents, int workers = 0,
                      const std::string& key_file = "") {
    return Open(agents, workers, nullptr, {.key_file = key_file});
  }
  // Agents at "host:7070", "dns:NAME:PORT" or "file:DIR"; several with commas.
  static Cluster Connect(const std::string& where,
                         const ConnectOptions& options = {}) {
    return Open(0, 0, where.c_str(), options);
  }
  // None: programs are compiled, and no more.
  static Cluster None() { return Open(0, 0, nullptr, {}); }

  using Parameters = std::vector<Parameter>;
  Program Load(const std::string& path,
               const Parameters& parameters = {}) const {
    dogged_program* out = nullptr;
    internal::Check(dogged_program_file(handle_.get(), path.c_str(),
                                        List(parameters).data(), &out));
    return Program(out);
  }
  // `name`: of its jobs; "": one that is made of the text.
  Program FromText(const std::string& text, const Parameters& parameters = {},
                   const std::string& name = "") const {
    dogged_program* out = nullptr;
    internal::Check(Make(text, name, parameters, out));
    return Program(out);
  }
  // An Error has the place of the Builder's statement.
  Program Compile(const Builder& builder,
                  const Parameters& parameters = {}) const {
    dogged_program* out = nullptr;
    if (Make(builder.text(), builder.name(), parameters, out) != DOGGED_OK) {
      const auto place = builder.PlaceOf(dogged_last_error()->line);
      if (dogged_last_error()->line > 0 && place.has_value()) {
        throw Error(*place);
      }
      throw Error();
    }
    return Program(out);
  }

  // More own agents. They join running jobs.
  void Start(int agents = 1) const {
    internal::Check(dogged_start(handle_.get(), agents));
  }
  // Agents in JSON, as they say of themselves.
  std::string Status() const {
    char* text = nullptr;
    internal::Check(dogged_status(handle_.get(), &text));
    std::string out = text;
    dogged_release(text);
    return out;
  }

 private:
  explicit Cluster(dogged_session* session)
      : handle_(session, [](dogged_session* mine) { dogged_close(mine); }) {}

  static Cluster Open(int agents, int workers, const char* where,
                      const ConnectOptions& options) {
    const dogged_options how = {
        agents, workers, where,
        options.key_file.empty() ? nullptr : options.key_file.c_str(),
        options.insecure ? 1 : 0};
    dogged_session* session = nullptr;
    internal::Check(dogged_open(DOGGED_ABI, &how, &session));
    return Cluster(session);
  }
  static std::vector<dogged_parameter> List(const Parameters& parameters) {
    std::vector<dogged_parameter> out;
    for (const Parameter& one : parameters) {
      out.push_back({one.name.c_str(), one.value.c_str()});
    }
    out.push_back({nullptr, nullptr});
    return out;
  }
  int Make(const std::string& text, const std::string& name,
           const Parameters& parameters, dogged_program*& out) const {
    return dogged_program_text(handle_.get(), text.c_str(),
                               name.empty() ? nullptr : name.c_str(),
                               List(parameters).data(), &out);
  }

  std::shared_ptr<dogged_session> handle_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_DOGGED_HPP_
