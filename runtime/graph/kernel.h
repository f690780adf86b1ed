// Kernels: pure functions from values to values. A worker runs a `Kernel` for a
// task; `NativeKernel` is a function by name (potrf, gemm) that the language
// binds to the formal arguments of a `call`.
#ifndef DOGGED_RUNTIME_GRAPH_KERNEL_H_
#define DOGGED_RUNTIME_GRAPH_KERNEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/task.h"

namespace dogged {

struct TaskClass;

// `value` itself if nobody else holds it, else a copy of it: a kernel that
// updates an input starts from it. `value` is none afterwards if it was taken.
Value TakeOrCopy(Value& value);

// KernelCall: an execution of a task.
struct KernelCall {
  const Task& task;
  // By position of the use; none where the use's guard fails. A kernel may
  // take an input it updates, through TakeOrCopy.
  absl::Span<Value> inputs;
  // By position of the create; the kernel allocates and fills all of them.
  // The caller seals them.
  absl::Span<Value> outputs;
};

class KernelLibrary;

// Bytes of values, by position.
using ByteCounts = absl::InlinedVector<int64_t, 4>;

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Thread-safe and deterministic: the same inputs give the same bits. Errors
  // fail the job: kInvalidArgument where the input is to blame (a matrix that
  // is not positive definite), with the pivot or element in the message; the
  // caller adds the task's name.
  virtual absl::Status Run(KernelCall& call) const = 0;
  // The kernel can run the tasks of `c`. A job may come from any client, and
  // Run takes the numbers of uses, creates and indices for granted; Run checks
  // the contents of values.
  virtual bool Fits(const TaskClass& c) const {
    (void)c;
    return true;
  }
  // The kernel takes the value of `use` for an output if that has no other
  // holder.
  virtual bool Updates(int use) const {
    (void)use;
    return false;
  }
  // Bytes of the values that `task` makes, by position of the create; empty if
  // that is not known before it runs.
  virtual ByteCounts OutputBytes(const Task& task) const {
    (void)task;
    return {};
  }
  // Bytes that a worker that has run `task` may keep beside its outputs, at
  // most.
  virtual int64_t ScratchBytes(const Task& task) const {
    (void)task;
    return 0;
  }
  // Floating-point operations of `task`; 0 if not declared.
  virtual double Flops(const Task& task) const {
    (void)task;
    return 0;
  }
  // The kernel reads inputs of the job, which must be at hand when a task runs.
  virtual bool ReadsInputs() const { return false; }
  // Calls `f` with the elements that `task` reads of the input at `position`.
  virtual void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t position, const DenseBox&)> f) const {
    (void)task;
    (void)f;
  }
  // The library that the kernel runs in, if that is the user's own; else null.
  virtual KernelLibrary* library() const { return nullptr; }
};

// The kernels of a program, by Program::kernels position; null where no task
// runs it.
using KernelTable = std::vector<std::unique_ptr<Kernel>>;

// KernelLibrary::Stop() of all libraries: for a job that has ended.
void StopKernels(const KernelTable& kernels);
// KernelLibrary::Rest() of them: for a job that is done.
void RestKernels(const KernelTable& kernels);

// Arguments of a native kernel, in the order of its formals of each sort.
struct NativeCall {
  absl::Span<Value> in;
  // None on entry: the kernel allocates them, or takes an input (TakeOrCopy).
  absl::Span<Value> out;
  absl::Span<const double> scalars;
  // Shapes of the outputs, as the program declares them.
  absl::Span<const Shape> out_shapes;
  // Names of the formals, `in` before `out`, for messages.
  absl::Span<const std::string> names;
};

// Functions of a library of the user's own, wherever they run. Thread-safe.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
  // Calls `function`, for which it was loaded, to fill `call.out`: values of
  // the shapes declared, not sealed.
  //
  // Errors: kInternal if the function gives up, throws, ends its process or
  //         writes where it must not, with its name and what it did;
  //         kCancelled after Stop(); kResourceExhausted and kUnavailable for
  //         what is lacking here and not the function's doing.
  virtual absl::Status Call(const std::string& function, NativeCall& call) = 0;
  // Ends calls that run; later ones fail as well.
  virtual void Stop() {}
  // Gives back resources that no call uses now.
  virtual void Rest() {}
};

// KernelLibrarySpec: a library to load.
struct KernelLibrarySpec {
  std::string name;           // for messages: "mine.so"
  absl::string_view content;  // of its file
  std::vector<std::string> functions;
};
// Errors: kInvalidArgument if it can't be loaded or lacks a function, in words
// for the user; kCancelled; kDeadlineExceeded.
using LoadLibrary =
    std::function<absl::StatusOr<std::shared_ptr<KernelLibrary>>(
        const KernelLibrarySpec& spec)>;

struct NativeKernel {
  std::string name;
  int in_count = 0;
  int out_count = 0;
  int scalar_count = 0;
  int optional_count = 0;  // of further ones, which a program may leave out
  // Element types of the values that it reads, then of those that it makes.
  // Empty: any.
  std::vector<ElementType> elements;
  int updates = -1;  // the `in` that goes through TakeOrCopy; -1: none
  // The parts that decide its bits on this host: see numeric_class.h.
  std::string numeric_class;
  std::function<absl::Status(NativeCall&)> run;
  // Where it runs; null: here.
  std::shared_ptr<KernelLibrary> library;
  // Whether it can take blocks of these declared shapes, with these scalars: an
  // error that says which it can't. May be empty: it can tell as it runs only.
  std::function<absl::Status(absl::Span<const Shape> in,
                             absl::Span<const double> scalars)>
      fits;
  // Floating-point operations, from declared shapes and scalars. May be empty.
  std::function<double(absl::Span<const Shape> in, absl::Span<const Shape> out,
                       absl::Span<const double> scalars)>
      flops;

  bool TakesScalars(int count) const {
    return count >= scalar_count && count <= scalar_count + optional_count;
  }
};

// Names to native kernels. Filled once by apps, then const.
class KernelRegistry {
 public:
  void Add(NativeKernel kernel);
  // Null if there is none.
  const NativeKernel* Find(absl::string_view name) const;
  std::vector<std::string> Names() const;  // without float variants

 private:
  std::vector<NativeKernel> kernels_;  // sorted by name
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_KERNEL_H_
