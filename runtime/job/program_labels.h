// ProgramLabels: the dictionary's questions about labels, answered from the
// dependences of a program.
#ifndef DOGGED_RUNTIME_JOB_PROGRAM_LABELS_H_
#define DOGGED_RUNTIME_JOB_PROGRAM_LABELS_H_

#include "kvstore/dictionary/label_relations.h"
#include "runtime/base/label.h"
#include "runtime/graph/relations.h"

namespace dogged {

class ProgramLabels : public LabelRelations {
 public:
  // `relations` outlives this.
  explicit ProgramLabels(const Relations& relations);

  bool IsMade(const Label& label) const override;
  bool IsMadeOfLabels(const Label& label) const override;

 private:
  const Relations& relations_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_PROGRAM_LABELS_H_
