// Memory of this process, as the operating system counts it.
#ifndef DOGGED_APPS_DOGGED_MEMORY_H_
#define DOGGED_APPS_DOGGED_MEMORY_H_

#include <cstdint>

namespace dogged {

// Of this computer.
int64_t PhysicalBytes();
// Resident bytes now; 0 if that can't be read.
int64_t ResidentBytes();
// The most that it ever was.
int64_t PeakResidentBytes();
// Gives what the heap keeps of freed blocks back to the operating system.
void ReturnFreedMemory();

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_MEMORY_H_
