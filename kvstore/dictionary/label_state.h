// LabelState: what the home of a label says of it to an agent that searches.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_STATE_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_STATE_H_

#include <cstdint>

namespace dogged {

enum class LabelState : uint8_t {
  kBound = 0,
  kUnbound = 1,
  kClaimed = 2,  // unbound, and somebody makes it
  kRetired = 3,  // it was bound, and dropped for its readers were done
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_STATE_H_
