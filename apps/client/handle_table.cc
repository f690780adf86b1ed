#include "apps/client/handle_table.h"

#include <pthread.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace dogged {
namespace {

const char* NameOf(HandleKind kind) {
  switch (kind) {
    case HandleKind::kSession:
      return "session";
    case HandleKind::kProgram:
      return "program";
    case HandleKind::kJob:
      return "job";
    case HandleKind::kMemory:
    case HandleKind::kText:
      return "memory of dogged_alloc() or dogged_status()";
  }
  return "handle";
}

bool IsMemory(HandleKind kind) {
  return kind == HandleKind::kMemory || kind == HandleKind::kText;
}

ClientError NoSuch(HandleKind kind, const void* handle) {
  const std::string name = NameOf(kind);
  std::string words = "NULL is no " + name;
  if (handle != nullptr) {
    words = "this is no " + name + ", or one that was " +
            (kind == HandleKind::kSession ? "closed" : "freed");
  }
  return ErrorOf(DOGGED_MISUSED, std::move(words));
}

}  // namespace

HandleTable& HandleTable::OfThisProcess() {
  static auto* const table = new HandleTable;
  return *table;
}

HandleTable::HandleTable() {
  pthread_atfork([] { OfThisProcess().mutex_.lock(); },
                 [] { OfThisProcess().mutex_.unlock(); },
                 [] {
                   HandleTable& table = OfThisProcess();
                   for (const int one : table.descriptors_) close(one);
                   table.descriptors_.clear();
                   table.mutex_.unlock();
                 });
}

void* HandleTable::Add(HandleKind kind, std::shared_ptr<void> object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_ += 2;
  entries_[last_] = {
      .kind = kind, .pid = getpid(), .object = std::move(object)};
  return reinterpret_cast<void*>(last_);
}

void HandleTable::AddMemory(HandleKind kind, const void* address,
                            std::shared_ptr<void> object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[reinterpret_cast<uintptr_t>(address)] = {
      .kind = kind, .pid = getpid(), .object = std::move(object)};
}

ClientError HandleTable::Look(HandleKind kind, const void* handle, bool is_last,
                              std::shared_ptr<void>& out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(reinterpret_cast<uintptr_t>(handle));
  if (it == entries_.end() ||
      (it->second.kind != kind &&
       !(IsMemory(it->second.kind) && IsMemory(kind) && is_last))) {
    return NoSuch(kind, handle);
  }
  if (it->second.pid != getpid()) {
    return ErrorOf(DOGGED_FORKED, "this was made in process " +
                                      std::to_string(it->second.pid) +
                                      ", and a fork has made this one, " +
                                      std::to_string(getpid()) +
                                      ": connect or start agents anew here");
  }
  out = it->second.object;
  if (is_last) entries_.erase(it);
  return {};
}

void HandleTable::CloseInChild(int descriptor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  descriptors_.insert(descriptor);
}

void HandleTable::ForgetDescriptor(int descriptor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  descriptors_.erase(descriptor);
}

}  // namespace dogged
