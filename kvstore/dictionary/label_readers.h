// LabelReaders: the port through which the dictionary tells the readers of a
// label at this agent what is bound, and learns whether they are done. Which
// readers a label has LabelRelations says.
//
// A reader is *here* if its home is this agent. It is *done* once the labels
// that it makes are bound, here or, as far as is known, elsewhere. Retention
// adds what makes its word final: that they are durable.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_READERS_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_READERS_H_

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"
#include "runtime/base/value.h"

namespace dogged {

class LabelReaders {
 public:
  virtual ~LabelReaders() = default;

  // A result, or may become one: clients read it, and they are never done.
  virtual bool IsResult(const Label& label) const = 0;
  // Results are still to be made: what they can be made from again is kept.
  virtual bool AreResultsDemanded() const = 0;

  // Goes through the readers of `label`, in the order of LabelRelations, that
  // are here or that this agent runs for another: calls visit(), then gives
  // `value` to a reader that is not done. Done readers get nothing. If `value`
  // is none: says whether some reader lacks it, which is looked at only if it
  // `asks`.
  //
  // A reader may act on what it gets before this returns; `visit` sees the
  // dictionary as it is then.
  using Visit =
      absl::FunctionRef<void(const Reader& reader, bool is_here, bool is_done)>;
  virtual bool Tell(const Label& label, const Value& value, bool asks,
                    Visit visit) = 0;
  // To a reader that has asked for it, if it still does.
  virtual void Give(const Reader& reader, const Label& label,
                    const Value& value) = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_READERS_H_
