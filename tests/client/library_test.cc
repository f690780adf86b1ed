// Aim: what apps/client/dogged.h says: values in and out, lent or copied;
// events at a descriptor; an error with its parts for whatever goes wrong; and
// whatever a caller does with handles, pointers, sizes, threads and forks, no
// crash and no call that never returns. Method: libdogged over the command
// itself; for other commands, scripts that speak in its place. Nothing waits
// for a time to pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "apps/client/dogged.h"

namespace dogged {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

#ifdef __SANITIZE_THREAD__
constexpr bool kHasThreadSanitizer = true;
#else
constexpr bool kHasThreadSanitizer = false;
#endif
constexpr char kHeat[] = DOGGED_APPS "/heat2d/heat2d.dog";
constexpr char kCopy[] = R"(
param N = 5
param M = 4
input v(i)(j) for i = 0:N-1 j = 0:M-1
task copy
  creates u(i)(j) as n
  for i = 0:N-1 j = 0:M-1
  using v(i)(j) as s
  code
    n = 2*s
  end code
end task
result u(:)(:)
)";
constexpr std::array<int64_t, 2> kShape = {5, 4};

// The words of this thread's last failure.
std::string Said() { return dogged_last_error()->message; }

dogged_session* OpenAgents(int agents) {
  const dogged_options options = {.agents = agents, .workers = 1};
  dogged_session* out = nullptr;
  EXPECT_EQ(dogged_open(DOGGED_ABI, &options, &out), DOGGED_OK) << Said();
  return out;
}

dogged_program* Load(dogged_session* session, const char* path,
                     const char* extent, const char* steps) {
  const dogged_parameter parameters[] = {
      {"N", extent}, {"T", steps}, {nullptr, nullptr}};
  dogged_program* out = nullptr;
  EXPECT_EQ(dogged_program_file(session, path, parameters, &out), DOGGED_OK)
      << Said();
  return out;
}

dogged_job* Submit(dogged_program* program,
                   std::vector<dogged_input> inputs = {}) {
  const dogged_submission how = {.inputs = inputs.data(),
                                 .input_count = inputs.size()};
  dogged_job* out = nullptr;
  EXPECT_EQ(dogged_submit(program, &how, &out), DOGGED_OK) << Said();
  return out;
}

dogged_input InputV(const void* data) {
  return {.array = "v",
          .type = DOGGED_DOUBLE,
          .rank = 2,
          .extents = kShape.data(),
          .data = data};
}

// Runs until somebody ends it.
dogged_job* SubmitEndless(dogged_session* session) {
  return Submit(Load(session, kHeat, "1000", "2000000"));
}

std::vector<double> U(dogged_job* job) {
  std::vector<double> out(20);
  EXPECT_EQ(dogged_read(job, "u", DOGGED_DOUBLE, out.data(), 160), DOGGED_OK)
      << Said();
  return out;
}

// Children of this process.
std::vector<pid_t> Children() {
  std::vector<pid_t> out;
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) +
                     "/children");
  for (pid_t pid = 0; file >> pid;) out.push_back(pid);
  return out;
}

// A process that may be no child of this one.
class Watched {
 public:
  explicit Watched(pid_t pid)
      : descriptor_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    EXPECT_GE(descriptor_, 0);
  }
  ~Watched() { close(descriptor_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // Soon.
  bool HasEnded() const {
    pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, 30'000) == 1;
  }

 private:
  const int descriptor_;
};

nlohmann::json StatusOf(dogged_session* session) {
  char* text = nullptr;
  EXPECT_EQ(dogged_status(session, &text), DOGGED_OK) << Said();
  const auto out = nlohmann::json::parse(text == nullptr ? "{}" : text);
  EXPECT_EQ(dogged_release(text), DOGGED_OK);
  return out;
}

class Library : public ::testing::Test {
 protected:
  void TearDown() override {
    if (session_ != nullptr) {
      EXPECT_EQ(dogged_close(session_), DOGGED_OK);
    }
    EXPECT_THAT(Children(), ElementsAre()) << "a process is left";
  }

  dogged_program* Copy() {
    dogged_program* out = nullptr;
    EXPECT_EQ(dogged_program_text(session_, kCopy, nullptr, nullptr, &out),
              DOGGED_OK)
        << Said();
    return out;
  }

  dogged_session* session_ = nullptr;
};

TEST_F(Library, ResultsAreViewsOrCopies) {
  session_ = OpenAgents(2);
  dogged_program* const program = Load(session_, kHeat, "40", "10");
  const char* name = nullptr;
  ASSERT_EQ(dogged_program_result(program, 0, &name), DOGGED_OK);
  EXPECT_STREQ(name, "u");
  EXPECT_EQ(dogged_program_result(program, 1, &name), DOGGED_MISTYPED);
  ASSERT_EQ(dogged_program_want(program, "u(:)(:)(0)"), DOGGED_OK) << Said();
  EXPECT_EQ(dogged_program_want(program, "u(:)(:)(99)"), DOGGED_MISTYPED);
  dogged_job* const job = Submit(program);
  ASSERT_EQ(dogged_program_free(program), DOGGED_OK);
  dogged_view view;
  ASSERT_EQ(dogged_result(job, "u", &view), DOGGED_OK) << Said();
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.extents[0], 40);
  EXPECT_EQ(view.extents[1], 40);
  EXPECT_EQ(view.bytes, 40 * 40 * sizeof(double));
  std::vector<double> copy(1600);
  ASSERT_EQ(dogged_read(job, "u", DOGGED_DOUBLE, copy.data(), view.bytes),
            DOGGED_OK);
  auto* const values = static_cast<double*>(view.data);
  EXPECT_THAT(copy, ::testing::ElementsAreArray(values, 1600));
  values[0] = 7;  // it is ours
  dogged_view again;
  ASSERT_EQ(dogged_result(job, "u", &again), DOGGED_OK);
  EXPECT_EQ(again.data, view.data);
  dogged_view before;
  ASSERT_EQ(dogged_result(job, "u( : )(:)(0)", &before), DOGGED_OK) << Said();
  EXPECT_NE(before.data, view.data);
  const char* hash = nullptr;
  ASSERT_EQ(dogged_job_hash(job, &hash), DOGGED_OK);
  EXPECT_EQ(std::string(hash).size(), 32u);
  const char* report = nullptr;
  ASSERT_EQ(dogged_job_report(job, &report), DOGGED_OK);
  EXPECT_EQ(nlohmann::json::parse(report)["job"], hash);
  EXPECT_EQ(dogged_job_free(job), DOGGED_OK);
}

TEST_F(Library, InputsAreCopiedUnlessTheirMemoryIsLent) {
  session_ = OpenAgents(1);
  dogged_program* const program = Copy();
  dogged_array wanted;
  ASSERT_EQ(dogged_program_input(program, 0, &wanted), DOGGED_OK);
  EXPECT_STREQ(wanted.name, "v");
  EXPECT_EQ(wanted.type, DOGGED_DOUBLE);
  EXPECT_THAT(std::vector(wanted.extents, wanted.extents + wanted.rank),
              ElementsAre(5, 4));
  EXPECT_EQ(dogged_program_input(program, 1, &wanted), DOGGED_MISTYPED);
  std::vector<double> mine(20);
  std::iota(mine.begin(), mine.end(), 0.5);
  dogged_job* const copied = Submit(program, {InputV(mine.data())});
  mine.assign(20, -1);
  EXPECT_EQ(U(copied)[19], 39);

  void* memory = nullptr;
  ASSERT_EQ(dogged_alloc(160, &memory), DOGGED_OK);
  auto* const lent = static_cast<double*>(memory);
  EXPECT_EQ(lent[19], 0);
  std::iota(lent, lent + 20, 100);
  dogged_job* const first = Submit(program, {InputV(lent)});
  EXPECT_EQ(lent[19], 119);  // as it was
  lent[19] = 1;              // ours alone
  dogged_job* const second = Submit(program, {InputV(lent)});
  lent[19] = 2;
  EXPECT_EQ(U(first)[19], 238);
  EXPECT_EQ(U(second)[19], 2);
  EXPECT_EQ(U(second)[18], 236);
  EXPECT_EQ(dogged_release(memory), DOGGED_OK);
  EXPECT_EQ(dogged_release(memory), DOGGED_MISUSED);
  EXPECT_EQ(dogged_release(mine.data()), DOGGED_MISUSED);
  EXPECT_EQ(dogged_release(nullptr), DOGGED_OK);
}

// Device and inode of what is mapped at an address, or of all that is mapped.
std::vector<std::string> MappedFiles(const std::string& process,
                                     const std::string& begin) {
  std::vector<std::string> out;
  std::ifstream maps("/proc/" + process + "/maps");
  std::string line;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode;
    words >> range >> rights >> offset >> device >> inode;
    if (range.starts_with(begin)) out.push_back(device + " " + inode);
  }
  return out;
}

// The client process has the same file mapped.
TEST_F(Library, LentMemoryIsNotCopied) {
  session_ = OpenAgents(1);
  void* memory = nullptr;
  ASSERT_EQ(dogged_alloc(160, &memory), DOGGED_OK);
  (void)Submit(Copy(), {InputV(memory)});
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<uintptr_t>(memory) << "-";
  const std::vector<std::string> ours = MappedFiles("self", begin.str());
  ASSERT_EQ(ours.size(), 1u);
  ASSERT_EQ(Children().size(), 1u);
  EXPECT_THAT(MappedFiles(std::to_string(Children()[0]), ""),
              ::testing::Contains(ours[0]));
  EXPECT_EQ(dogged_release(memory), DOGGED_OK);
}

TEST_F(Library, ParametersFollowFromShapesAtSubmission) {
  session_ = OpenAgents(1);
  std::string text = kCopy;
  text.replace(text.find("N = 5"), 5, "N from v");
  text.replace(text.find("M = 4"), 5, "M from v");
  dogged_program* program = nullptr;
  const dogged_parameter unknown[] = {{"Q", "3"}, {nullptr, nullptr}};
  EXPECT_EQ(
      dogged_program_text(session_, text.c_str(), nullptr, unknown, &program),
      DOGGED_PROGRAM_WRONG);
  EXPECT_THAT(Said(), HasSubstr("there is no parameter Q"));
  ASSERT_EQ(
      dogged_program_text(session_, text.c_str(), nullptr, nullptr, &program),
      DOGGED_OK)
      << Said();
  dogged_array wanted;
  ASSERT_EQ(dogged_program_input(program, 0, &wanted), DOGGED_OK);
  EXPECT_STREQ(wanted.name, "v");
  EXPECT_EQ(wanted.rank, -1);
  const char* name = nullptr;
  EXPECT_EQ(dogged_program_result(program, 0, &name), DOGGED_MISTYPED);
  std::vector<double> values(20);
  std::iota(values.begin(), values.end(), 0.5);
  EXPECT_EQ(U(Submit(program, {InputV(values.data())}))[19], 39);
}

TEST_F(Library, EventsWaitAtADescriptor) {
  session_ = OpenAgents(2);
  dogged_job* const job = Submit(Load(session_, kHeat, "300", "600"));
  int fd = -1;
  ASSERT_EQ(dogged_job_fd(job, &fd), DOGGED_OK);
  std::vector<int> kinds;
  dogged_event event = {};
  while (event.kind != DOGGED_DONE && event.kind != DOGGED_FAILED) {
    pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&waiting, 1, 60'000), 1);
    ASSERT_EQ(dogged_job_event(job, &event), DOGGED_OK);
    // The descriptor is no alarm without an event.
    ASSERT_NE(event.kind, DOGGED_NO_EVENT);
    kinds.push_back(event.kind);
    EXPECT_TRUE(nlohmann::json::parse(event.json).contains("event"));
  }
  EXPECT_EQ(kinds.front(), DOGGED_SUBMITTED);
  EXPECT_EQ(kinds.back(), DOGGED_DONE);
  EXPECT_THAT(kinds, IsSupersetOf({DOGGED_PROGRESS}));
  pollfd waiting = {.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  ASSERT_EQ(dogged_job_event(job, &event), DOGGED_OK);
  EXPECT_EQ(event.kind, DOGGED_NO_EVENT);
}

TEST_F(Library, AnAgentThatIsKilledIsALossAndNoMore) {
  session_ = OpenAgents(2);
  dogged_job* const job = Submit(Load(session_, kHeat, "600", "4000"));
  const pid_t victim = StatusOf(session_)["own_agents"][1]["pid"];
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  ASSERT_EQ(dogged_start(session_, 1), DOGGED_OK) << Said();
  ASSERT_EQ(dogged_wait(job, -1), DOGGED_OK) << Said();
  std::vector<int> kinds;
  dogged_event event = {};
  do {
    ASSERT_EQ(dogged_job_event(job, &event), DOGGED_OK);
    kinds.push_back(event.kind);
    if (event.kind == DOGGED_LOST) {
      EXPECT_THAT(event.who, HasSubstr("agent"));
      EXPECT_THAT(event.words, HasSubstr("9"));
    }
  } while (event.kind != DOGGED_NO_EVENT);
  EXPECT_THAT(kinds, IsSupersetOf({DOGGED_LOST, DOGGED_JOINED}));
  EXPECT_EQ(dogged_start(session_, 0), DOGGED_MISTYPED);
}

TEST_F(Library, ErrorsOfProgramsHavePlaces) {
  const dogged_options none = {};
  ASSERT_EQ(dogged_open(DOGGED_ABI, &none, &session_), DOGGED_OK) << Said();
  dogged_program* program = nullptr;
  constexpr char kWrong[] =
      "task twice\n  creates u(i) as n\n  for i = 0:9\n  code\n"
      "    n = 2*k\n  end code\nend task\nresult u(:)\n";
  ASSERT_EQ(dogged_program_text(session_, kWrong, "twice", nullptr, &program),
            DOGGED_PROGRAM_WRONG);
  EXPECT_EQ(program, nullptr);
  const dogged_error* const error = dogged_last_error();
  EXPECT_EQ(error->status, DOGGED_PROGRAM_WRONG);
  EXPECT_STREQ(error->code, "D006");
  EXPECT_STREQ(error->file, "twice.dog");
  EXPECT_EQ(error->line, 5);
  EXPECT_EQ(error->column, 11);
  EXPECT_EQ(error->end_column, 12);
  EXPECT_THAT(error->text, AllOf(HasSubstr("n = 2*k"), HasSubstr("^")));
  EXPECT_NE(error->help, nullptr);
  EXPECT_TRUE(nlohmann::json::parse(error->json).contains("diagnostics"));
  EXPECT_EQ(error->task, nullptr);
  // A program without a cluster is compiled, and no more.
  ASSERT_EQ(dogged_program_file(session_, kHeat, nullptr, &program), DOGGED_OK);
  dogged_job* job = nullptr;
  EXPECT_EQ(dogged_submit(program, nullptr, &job), DOGGED_MISTYPED);
  EXPECT_EQ(
      dogged_program_file(session_, "/nowhere/heat.dog", nullptr, &program),
      DOGGED_MISTYPED);
  EXPECT_THAT(Said(), HasSubstr("/nowhere/heat.dog: No such file"));
  EXPECT_EQ(dogged_program_file(session_, "/tmp", nullptr, &program),
            DOGGED_MISTYPED);
  const dogged_parameter wrong[] = {{"N", "many"}, {nullptr, nullptr}};
  EXPECT_EQ(dogged_program_file(session_, kHeat, wrong, &program),
            DOGGED_PROGRAM_WRONG);
  const dogged_parameter null[] = {{"N", nullptr}, {nullptr, nullptr}};
  EXPECT_EQ(dogged_program_file(session_, kHeat, null, &program),
            DOGGED_MISUSED);
  const std::string bytes = "\xff\xfe \x01";
  EXPECT_EQ(
      dogged_program_text(session_, bytes.c_str(), nullptr, nullptr, &program),
      DOGGED_PROGRAM_WRONG);
  const std::string huge(size_t{65} << 20, ' ');
  EXPECT_EQ(
      dogged_program_text(session_, huge.c_str(), nullptr, nullptr, &program),
      DOGGED_MISTYPED);
}

TEST_F(Library, AJobThatFailsNamesItsTask) {
  session_ = OpenAgents(1);
  const dogged_parameter parameters[] = {
      {"N", "4"}, {"NB", "2"}, {nullptr, nullptr}};
  dogged_program* program = nullptr;
  ASSERT_EQ(dogged_program_file(session_, DOGGED_APPS "/cholesky/cholesky.dog",
                                parameters, &program),
            DOGGED_OK)
      << Said();
  const std::vector<double> indefinite(16, 1.0);
  const std::array<int64_t, 2> shape = {4, 4};
  const dogged_input input = {.array = "A",
                              .type = DOGGED_DOUBLE,
                              .rank = 2,
                              .extents = shape.data(),
                              .data = indefinite.data()};
  dogged_job* const job = Submit(program, {input});
  EXPECT_EQ(dogged_wait(job, -1), DOGGED_JOB_FAILED);
  EXPECT_STREQ(dogged_last_error()->task, "factor(0)");
  EXPECT_THAT(Said(), HasSubstr("positive definite"));
  dogged_view view;
  EXPECT_EQ(dogged_result(job, "L", &view), DOGGED_JOB_FAILED);
}

TEST_F(Library, InputsThatDontFitAreRefused) {
  session_ = OpenAgents(1);
  dogged_program* const program = Copy();
  const std::vector<double> values(20);
  const auto refused = [&](const dogged_input& input) {
    dogged_job* job = nullptr;
    const dogged_submission how = {.inputs = &input, .input_count = 1};
    const int status = dogged_submit(program, &how, &job);
    EXPECT_EQ(job, nullptr);
    return status;
  };
  dogged_job* job = nullptr;
  EXPECT_EQ(dogged_submit(program, nullptr, &job), DOGGED_MISTYPED);
  EXPECT_EQ(Said(), "input v is wanted, of shape (5, 4), double");
  dogged_input input = InputV(values.data());
  input.type = DOGGED_FLOAT;
  EXPECT_EQ(refused(input), DOGGED_MISTYPED);
  EXPECT_EQ(Said(), "input v: the array is float, the program wants double");
  input.type = static_cast<dogged_type>(7);
  EXPECT_EQ(refused(input), DOGGED_MISUSED);
  input = InputV(values.data());
  const std::array<int64_t, 2> turned = {4, 5};
  input.extents = turned.data();
  EXPECT_EQ(refused(input), DOGGED_PROGRAM_WRONG);
  EXPECT_THAT(Said(), AllOf(HasSubstr("(4)(5)"), HasSubstr("(5)(4)")));
  const std::array<int64_t, 2> huge = {int64_t{1} << 62, int64_t{1} << 62};
  input.extents = huge.data();
  EXPECT_EQ(refused(input), DOGGED_MISUSED);
  const std::array<int64_t, 2> negative = {-5, 4};
  input.extents = negative.data();
  EXPECT_EQ(refused(input), DOGGED_MISUSED);
  input.extents = nullptr;
  EXPECT_EQ(refused(input), DOGGED_MISUSED);
  EXPECT_EQ(refused(InputV(nullptr)), DOGGED_MISUSED);
  // No memory is there: said, and no crash.
  EXPECT_EQ(refused(InputV(reinterpret_cast<const void*>(64))), DOGGED_MISUSED);
  EXPECT_THAT(Said(), StartsWith("input v: there is no memory of 160 bytes"));
  input = InputV(values.data());
  input.array = "V";
  EXPECT_EQ(refused(input), DOGGED_PROGRAM_WRONG);
  EXPECT_THAT(Said(), HasSubstr("no input V; did you mean v?"));
  input.array = nullptr;
  EXPECT_EQ(refused(input), DOGGED_MISUSED);
  for (const int rank : {-1, 9}) {
    input = InputV(values.data());
    input.rank = rank;
    EXPECT_EQ(refused(input), DOGGED_MISUSED);
  }
  const dogged_input twice[] = {InputV(values.data()), InputV(values.data())};
  const dogged_submission both = {.inputs = twice, .input_count = 2};
  EXPECT_EQ(dogged_submit(program, &both, &job), DOGGED_MISTYPED);
  const dogged_submission none = {.inputs = nullptr, .input_count = 1};
  EXPECT_EQ(dogged_submit(program, &none, &job), DOGGED_MISUSED);
  // And it still works.
  EXPECT_EQ(U(Submit(program, {InputV(values.data())}))[0], 0);
}

TEST_F(Library, ResultsThatDontFitAreRefused) {
  session_ = OpenAgents(1);
  dogged_job* const job = Submit(Load(session_, kHeat, "20", "2"));
  std::vector<double> buffer(400);
  EXPECT_EQ(dogged_read(job, "u", DOGGED_DOUBLE, buffer.data(), 3199),
            DOGGED_MISUSED);
  EXPECT_EQ(Said(),
            "result u of shape (20, 20), double, has 3200 bytes, the buffer "
            "3199 of double");
  EXPECT_EQ(dogged_read(job, "u", DOGGED_FLOAT, buffer.data(), 3200),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_read(job, "u", DOGGED_DOUBLE, nullptr, 3200),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_read(job, "v", DOGGED_DOUBLE, buffer.data(), 3200),
            DOGGED_MISTYPED);
  EXPECT_THAT(Said(), HasSubstr("v is no result of heat2d, which has u"));
}

TEST_F(Library, NullsAndFreedHandlesAreErrors) {
  session_ = OpenAgents(1);
  dogged_program* const program = Copy();
  dogged_program* other = nullptr;
  dogged_session* session = nullptr;
  const std::vector<double> values(20);
  dogged_job* const job = Submit(program, {InputV(values.data())});
  EXPECT_EQ(dogged_open(DOGGED_ABI, nullptr, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_close(nullptr), DOGGED_MISUSED);
  EXPECT_EQ(Said(), "NULL is no session");
  EXPECT_EQ(dogged_start(nullptr, 1), DOGGED_MISUSED);
  EXPECT_EQ(dogged_status(session_, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_text(nullptr, kCopy, nullptr, nullptr, &other),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_text(session_, nullptr, nullptr, nullptr, &other),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_text(session_, kCopy, nullptr, nullptr, nullptr),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_file(session_, nullptr, nullptr, &other),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_want(program, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_input(program, 0, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_result(program, 0, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_facts(program, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_alloc(8, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_submit(program, nullptr, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_submit(nullptr, nullptr, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_job_hash(job, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_result(job, nullptr, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_read(job, nullptr, DOGGED_DOUBLE, nullptr, 0),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_job_fd(job, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_job_event(job, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_job_report(job, nullptr), DOGGED_MISUSED);
  void* memory = nullptr;
  EXPECT_EQ(dogged_alloc(SIZE_MAX, &memory), DOGGED_NO_ROOM);
  // Handles of another kind, and such as were freed.
  EXPECT_EQ(dogged_wait(reinterpret_cast<dogged_job*>(program), 0),
            DOGGED_MISUSED);
  EXPECT_EQ(dogged_release(program), DOGGED_MISUSED);
  EXPECT_EQ(dogged_job_free(job), DOGGED_OK);
  EXPECT_EQ(dogged_job_free(job), DOGGED_MISUSED);
  EXPECT_EQ(Said(), "this is no job, or one that was freed");
  EXPECT_EQ(dogged_wait(job, -1), DOGGED_MISUSED);
  EXPECT_EQ(dogged_program_free(program), DOGGED_OK);
  EXPECT_EQ(dogged_submit(program, nullptr, nullptr), DOGGED_MISUSED);
  EXPECT_EQ(dogged_close(session_), DOGGED_OK);
  EXPECT_EQ(dogged_close(session_), DOGGED_MISUSED);
  EXPECT_EQ(Said(), "this is no session, or one that was closed");
  // No handle comes twice.
  ASSERT_EQ(dogged_open(DOGGED_ABI, nullptr, &session), DOGGED_OK);
  EXPECT_NE(session, session_);
  session_ = session;
}

TEST_F(Library, AClosedSessionEndsWhatWaits) {
  session_ = OpenAgents(1);
  dogged_job* const job = SubmitEndless(session_);
  dogged_program* const program = Copy();
  EXPECT_EQ(dogged_wait(job, 0), DOGGED_TIMED_OUT);
  EXPECT_EQ(dogged_wait(job, 0.01), DOGGED_TIMED_OUT);
  EXPECT_THAT(Said(), HasSubstr("of heat2d has not ended yet"));
  int status = DOGGED_OK;
  std::string said;
  std::thread waits([&] {
    status = dogged_wait(job, -1);
    said = Said();
  });
  ASSERT_EQ(dogged_close(session_), DOGGED_OK);
  session_ = nullptr;
  waits.join();
  EXPECT_EQ(status, DOGGED_CLIENT_GONE);
  EXPECT_EQ(said, "this session is closed, and its own agents with it");
  dogged_job* other = nullptr;
  const std::vector<double> values(20);
  const dogged_input input = InputV(values.data());
  const dogged_submission how = {.inputs = &input, .input_count = 1};
  EXPECT_EQ(dogged_submit(program, &how, &other), DOGGED_CLIENT_GONE);
  EXPECT_EQ(dogged_program_want(program, "u(0)(:)"), DOGGED_CLIENT_GONE);
  EXPECT_EQ(dogged_cancel(job), DOGGED_OK);  // it has ended
  dogged_event event = {};
  int last = DOGGED_NO_EVENT;
  do {
    last = event.kind;
    ASSERT_EQ(dogged_job_event(job, &event), DOGGED_OK);
  } while (event.kind != DOGGED_NO_EVENT);
  EXPECT_EQ(last, DOGGED_FAILED);
}

TEST_F(Library, ACancelledJobSaysSo) {
  session_ = OpenAgents(1);
  dogged_job* const job = SubmitEndless(session_);
  ASSERT_EQ(dogged_cancel(job), DOGGED_OK) << Said();
  EXPECT_EQ(dogged_wait(job, -1), DOGGED_CANCELLED);
  EXPECT_EQ(dogged_cancel(job), DOGGED_OK);
}

TEST_F(Library, AClientProcessThatIsKilledEndsItsJobs) {
  session_ = OpenAgents(1);
  dogged_job* const job = SubmitEndless(session_);
  const Watched agent(StatusOf(session_)["own_agents"][0]["pid"]);
  const std::vector<pid_t> children = Children();
  ASSERT_EQ(children.size(), 1u);
  ASSERT_EQ(kill(children[0], SIGKILL), 0);
  EXPECT_EQ(dogged_wait(job, -1), DOGGED_CLIENT_GONE);
  EXPECT_THAT(Said(), HasSubstr("the dogged client has ended"));
  char* text = nullptr;
  EXPECT_EQ(dogged_status(session_, &text), DOGGED_CLIENT_GONE);
  EXPECT_TRUE(agent.HasEnded());
}

TEST_F(Library, AnotherAbiIsRefused) {
  dogged_session* session = nullptr;
  EXPECT_EQ(dogged_open(DOGGED_ABI + 1, nullptr, &session), DOGGED_WRONG_ABI);
  EXPECT_THAT(Said(), AllOf(HasSubstr("dogged.h of ABI 2"),
                            HasSubstr("libdogged has ABI 1"),
                            HasSubstr("libdogged.so.2")));
  EXPECT_EQ(session, nullptr);
}

class Command : public Library {
 protected:
  void SetUp() override {
    before_ = getenv("DOGGED_COMMAND");
    folder_ =
        ::testing::TempDir() + "client_library_" + std::to_string(getpid());
    mkdir(folder_.c_str(), 0700);
    path_ = folder_ + "/dogged";
  }
  void TearDown() override {
    setenv("DOGGED_COMMAND", before_.c_str(), 1);
    unlink(path_.c_str());
    rmdir(folder_.c_str());
    Library::TearDown();
  }

  // dogged_open() with a command of this text.
  int Open(const std::string& text, mode_t mode = 0700) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    setenv("DOGGED_COMMAND", path_.c_str(), 1);
    dogged_session* session = nullptr;
    const int status = dogged_open(DOGGED_ABI, nullptr, &session);
    EXPECT_EQ(session, nullptr);
    return status;
  }

  std::string before_;
  std::string folder_;
  std::string path_;
};

TEST_F(Command, OfAnotherSchemaIsRefused) {
  EXPECT_EQ(Open("#!/bin/sh\n"
                 "echo '{\"schema\": 2, \"hello\": \"dogged client\"}' >&3\n"
                 "read line <&3\n"),
            DOGGED_WRONG_ABI);
  EXPECT_EQ(Said(), path_ +
                        " speaks schema 2, and this library speaks 1: "
                        "take both of one release");
}

TEST_F(Command, ThatIsNoneIsRefused) {
  EXPECT_EQ(Open("#!/bin/sh\n"), DOGGED_WRONG_ABI);
  EXPECT_THAT(Said(), HasSubstr("ended before it said a word"));
  EXPECT_EQ(Open("#!/bin/sh\necho nonsense >&3\nread line <&3\n"),
            DOGGED_WRONG_ABI);
  EXPECT_EQ(Open("#!/bin/sh\n", 0600), DOGGED_MISTYPED);
  EXPECT_EQ(Said(),
            "DOGGED_COMMAND=" + path_ + " is no program that can be started");
  EXPECT_EQ(Open("no program\n"), DOGGED_MISTYPED);
  EXPECT_THAT(Said(), HasSubstr(path_ + " can't be started: "));
}

TEST_F(Command, ThatIsNowhereIsSaid) {
  const std::string search = getenv("PATH");
  unsetenv("DOGGED_COMMAND");
  setenv("PATH", folder_.c_str(), 1);
  dogged_session* session = nullptr;
  EXPECT_EQ(dogged_open(DOGGED_ABI, nullptr, &session), DOGGED_MISTYPED);
  EXPECT_THAT(Said(), AllOf(StartsWith("there is no dogged command"),
                            HasSubstr("set DOGGED_COMMAND")));
  setenv("PATH", search.c_str(), 1);
}

TEST_F(Library, NobodyThereIsAnError) {
  const dogged_options options = {.cluster = "127.0.0.1:1"};
  dogged_session* session = nullptr;
  EXPECT_EQ(dogged_open(DOGGED_ABI, &options, &session), DOGGED_NO_AGENTS);
  EXPECT_STREQ(dogged_last_error()->agent, "127.0.0.1:1");
  const dogged_options both = {.agents = 1, .cluster = "127.0.0.1:1"};
  EXPECT_EQ(dogged_open(DOGGED_ABI, &both, &session), DOGGED_MISTYPED);
  const dogged_options many = {.agents = -1};
  EXPECT_EQ(dogged_open(DOGGED_ABI, &many, &session), DOGGED_MISTYPED);
  const dogged_options key = {.agents = 1, .key_file = "/nowhere/key"};
  EXPECT_EQ(dogged_open(DOGGED_ABI, &key, &session), DOGGED_MISTYPED);
}

TEST_F(Library, AChildOfAForkIsTold) {
  session_ = OpenAgents(1);
  dogged_job* const job = Submit(Load(session_, kHeat, "40", "10"));
  const pid_t child = fork();
  if (child == 0) {
    const bool is_told = dogged_wait(job, -1) == DOGGED_FORKED &&
                         dogged_close(session_) == DOGGED_FORKED;
    // ThreadSanitizer starts no threads in such a child.
    if (kHasThreadSanitizer) _exit(is_told ? 0 : 1);
    dogged_session* own = nullptr;
    const bool has_own = dogged_open(DOGGED_ABI, nullptr, &own) == DOGGED_OK &&
                         dogged_close(own) == DOGGED_OK;
    _exit((is_told ? 0 : 1) + (has_own ? 0 : 2));
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(dogged_wait(job, -1), DOGGED_OK) << Said();
}

// The child keeps no end of the socket open: the client process sees the end of
// its parent, which did not close it.
TEST_F(Library, AChildHoldsNoSession) {
  int pids[2];
  int ends[2];
  ASSERT_EQ(pipe(pids), 0);
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    dogged_session* session = nullptr;
    if (dogged_open(DOGGED_ABI, nullptr, &session) != DOGGED_OK) _exit(1);
    const std::vector<pid_t> clients = Children();
    if (clients.size() != 1) _exit(2);
    if (fork() == 0) {
      char byte = 0;
      close(ends[1]);
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);  // until the test ends
    }
    const int size = sizeof(pid_t);
    if (write(pids[1], clients.data(), size) != size) _exit(3);
    while (true) pause();  // until it is killed
  }
  pid_t client = 0;
  ASSERT_EQ(read(pids[0], &client, sizeof(client)), sizeof(client));
  const Watched process(client);
  kill(parent, SIGKILL);
  int status = -1;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(process.HasEnded());
  for (const int one : {pids[0], pids[1], ends[0], ends[1]}) close(one);
}

volatile sig_atomic_t handled_by = 0;

TEST_F(Library, SignalsAreForTheUsersThreads) {
  session_ = OpenAgents(1);
  const auto by = [](int) { handled_by = gettid(); };
  const auto before = signal(SIGUSR2, by);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &one, nullptr), 0);
  ASSERT_EQ(kill(getpid(), SIGUSR2), 0);
  (void)StatusOf(session_);  // the reader has run meanwhile
  EXPECT_EQ(handled_by, 0);
  ASSERT_EQ(pthread_sigmask(SIG_UNBLOCK, &one, nullptr), 0);
  EXPECT_EQ(handled_by, gettid());
  signal(SIGUSR2, before);
}

TEST_F(Library, ManyThreadsShareASession) {
  session_ = OpenAgents(1);
  dogged_program* const program = Copy();
  std::vector<std::thread> threads;
  std::array<double, 6> last = {};
  for (size_t t = 0; t < last.size(); ++t) {
    threads.emplace_back([&, t] {
      const std::vector<double> values(20, static_cast<double>(t));
      dogged_job* const job = Submit(program, {InputV(values.data())});
      last[t] = U(job)[19];
      dogged_job_free(job);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(last, ElementsAre(0, 2, 4, 6, 8, 10));
}

}  // namespace
}  // namespace dogged
