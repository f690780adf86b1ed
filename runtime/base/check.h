// Invariants. A failed check names what broke and ends the process, in every
// build: a dead agent is a case that we survive, a wrong value is not.
//
//   DOGGED_CHECK(index >= 0) << "index " << index << " of " << name;
#ifndef DOGGED_RUNTIME_BASE_CHECK_H_
#define DOGGED_RUNTIME_BASE_CHECK_H_

#include <sstream>

namespace dogged {

// Collects the message of a failed check; its destructor aborts.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// A line that is printed with every failed check of this thread: the seed and
// the scenario of a simulation. Cleared by "".
void SetCheckContext(const char* context);

// Gives the streaming expression type void.
struct CheckVoidify {
  void operator&(std::ostream&) {}
};

}  // namespace dogged

#define DOGGED_CHECK(condition)    \
  (condition)                      \
      ? (void)0                    \
      : ::dogged::CheckVoidify() & \
            ::dogged::CheckFailure(__FILE__, __LINE__, #condition).stream()

#endif  // DOGGED_RUNTIME_BASE_CHECK_H_
