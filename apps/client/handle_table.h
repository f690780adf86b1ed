// HandleTable: what the handles of the C interface stand for, in the whole
// process.
//
// A handle is a number in the form of a pointer, and is never used again, so a
// call with a freed one finds nothing. An object lives as long as a call uses
// it, also if another thread frees its handle meanwhile. Memory that users get
// has its address as its handle.
//
// Around a fork the table is locked: the child finds it whole, and knows that
// each entry is the parent's.
//
// Thread-safe.
#ifndef DOGGED_APPS_CLIENT_HANDLE_TABLE_H_
#define DOGGED_APPS_CLIENT_HANDLE_TABLE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "apps/client/client_error.h"

namespace dogged {

enum class HandleKind : uint8_t { kSession, kProgram, kJob, kMemory, kText };

class HandleTable {
 public:
  // Never destroyed: functions that run at exit may still call.
  static HandleTable& OfThisProcess();

  void* Add(HandleKind kind, std::shared_ptr<void> object);
  void AddMemory(HandleKind kind, const void* address,
                 std::shared_ptr<void> object);

  // Errors: DOGGED_MISUSED, DOGGED_FORKED.
  template <typename T>
  ClientError Find(HandleKind kind, const void* handle,
                   std::shared_ptr<T>& out) {
    std::shared_ptr<void> found;
    ClientError error = Look(kind, handle, /*is_last=*/false, found);
    out = std::static_pointer_cast<T>(found);
    return error;
  }
  // The same, and the handle is none from now on.
  template <typename T>
  ClientError Take(HandleKind kind, const void* handle,
                   std::shared_ptr<T>& out) {
    std::shared_ptr<void> found;
    ClientError error = Look(kind, handle, /*is_last=*/true, found);
    out = std::static_pointer_cast<T>(found);
    return error;
  }

  // A child of a fork closes its copy of this descriptor, so that the other
  // end sees the parent's end.
  void CloseInChild(int descriptor);
  void ForgetDescriptor(int descriptor);

 private:
  struct Entry {
    HandleKind kind = HandleKind::kSession;
    pid_t pid = 0;
    std::shared_ptr<void> object;
  };

  HandleTable();
  ClientError Look(HandleKind kind, const void* handle, bool is_last,
                   std::shared_ptr<void>& out);

  std::mutex mutex_;
  std::map<uintptr_t, Entry> entries_;
  uintptr_t last_ = 1;  // odd, unlike any address of memory
  std::set<int> descriptors_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_HANDLE_TABLE_H_
