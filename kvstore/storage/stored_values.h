// StoredValues: the port to what keeps the bytes of one job's values on disk,
// as far as the dictionary asks for it.
#ifndef DOGGED_KVSTORE_STORAGE_STORED_VALUES_H_
#define DOGGED_KVSTORE_STORAGE_STORED_VALUES_H_

#include <set>

#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

class StoredValues {
 public:
  virtual ~StoredValues() = default;

  // Values count as durable only once they are written, or the values made of
  // them are.
  virtual bool keeps_values() const = 0;
  // Values may leave memory for a disk, whether they count there or not.
  virtual bool has_store() const = 0;
  // Memory for values is bounded, so that they leave it at any moment: what is
  // under way must not hold them.
  virtual bool is_bounded() const = 0;
  // Has the bytes of a spilled value fetched, for these agents.
  virtual void Load(const Label& label, const std::set<AgentId>& targets) = 0;
  // Bytes that came from elsewhere: somebody here may wait for them.
  virtual void Offer(const Label& label, const Value& value) = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_STORED_VALUES_H_
