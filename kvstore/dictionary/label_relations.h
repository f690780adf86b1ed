// LabelRelations: the port through which the dictionary learns how labels
// relate to each other. The dictionary knows labels, versions, rows and
// members; it never sees a task.
//
// A *row* is all versions of one label; it is named by the label whose version
// is 0. A label of an array without versions is a row of its own.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/label.h"

namespace dogged {

class LabelRelations {
 public:
  virtual ~LabelRelations() = default;

  bool HasVersions(const Label& label) const {
    return VersionIndexOf(label) >= 0;
  }
  // 0 if its array has no versions.
  int64_t VersionOf(const Label& label) const {
    const int32_t at = VersionIndexOf(label);
    return at < 0 ? 0 : label.index[at];
  }
  // `row` itself if its array has no versions.
  Label WithVersion(const Label& row, int64_t version) const {
    Label label = row;
    const int32_t at = VersionIndexOf(row);
    if (at >= 0) label.index[at] = version;
    return label;
  }
  Label RowOf(const Label& label) const { return WithVersion(label, 0); }

  int32_t array_count() const {
    return static_cast<int32_t>(version_index_.size());
  }
  // The largest difference of versions of a label and one that it is made of;
  // at least 1.
  int64_t version_span() const { return version_span_; }

  // A task makes `label`: its index lies within its array.
  virtual bool IsMade(const Label& label) const = 0;
  // `label` is made of other labels, not by a leaf.
  virtual bool IsMadeOfLabels(const Label& label) const = 0;

 protected:
  // `version_index`: by array, the position of the version in the index of a
  // label; -1: none.
  LabelRelations(std::vector<int32_t> version_index, int64_t version_span)
      : version_index_(std::move(version_index)), version_span_(version_span) {}

 private:
  int32_t VersionIndexOf(const Label& label) const {
    return version_index_[static_cast<size_t>(label.array)];
  }

  const std::vector<int32_t> version_index_;
  const int64_t version_span_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_
