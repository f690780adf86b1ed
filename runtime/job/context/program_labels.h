// ProgramLabels: what the dictionary asks about labels, answered from the
// dependences of a program. Readers are its tasks.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_PROGRAM_LABELS_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_PROGRAM_LABELS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "kvstore/dictionary/label_relations.h"
#include "runtime/base/label.h"
#include "runtime/graph/relations.h"

namespace dogged {

class ProgramLabels : public LabelRelations {
 public:
  // `relations` outlives this.
  explicit ProgramLabels(const Relations& relations);

  bool IsKnown(const Label& label) const override;
  uint64_t KeyOf(const Label& label) const override;
  std::string TextOf(const Label& label) const override;
  std::optional<Reader> ProducerOf(const Label& label) const override;
  bool IsMadeOfLabels(const Label& label) const override;
  void ForEachMade(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const override;
  Label FirstMade(const Reader& reader) const override;
  void ForEachRead(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const override;
  std::string TextOf(const Reader& reader) const override;
  bool ForEachReader(
      const Label& label,
      absl::FunctionRef<bool(const Reader& reader)> visit) const override;
  int64_t ReaderCount(const Label& label) const override;
  bool HasMoreReaders(const Label& label, int64_t than) const override;
  bool MayHaveMoreReaders(int32_t array, int64_t than) const override;

 private:
  const Relations& relations_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_PROGRAM_LABELS_H_
