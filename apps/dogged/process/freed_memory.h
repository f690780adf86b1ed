// Memory that was freed: how much of it the heap keeps, and when it goes back.
#ifndef DOGGED_APPS_DOGGED_PROCESS_FREED_MEMORY_H_
#define DOGGED_APPS_DOGGED_PROCESS_FREED_MEMORY_H_

namespace dogged {

// Returns to the operating system what the heap keeps of freed blocks. Blocks
// that a thread keeps for itself, and the end of its own part of the heap, are
// returned by that thread alone: each is to call it.
void ReturnFreedMemory();
// From now on the heap keeps up to 64 MB that are freed, until
// ReturnFreedMemory(): messages come and go, and each took fresh pages.
void KeepFreedMemory();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_FREED_MEMORY_H_
