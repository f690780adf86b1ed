// LabelRelations: the port through which the dictionary learns how labels
// relate to each other: which one is a version of which, what makes a label and
// of what, and what reads it. The dictionary knows labels, versions, rows and
// members, and of readers only their names: it never sees a task. Whether
// readers are done it is told by LabelReaders.
//
// A *row* is all versions of one label; it is named by the label whose version
// is 0. A label of an array without versions is a row of its own.
//
// All answers are the same at each agent, and at all times. Labels that are
// passed satisfy IsKnown().
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"

namespace dogged {

class LabelRelations {
 public:
  virtual ~LabelRelations() = default;

  // --- versions
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

  // --- one label
  // `label` is of an array of the program, with as many indices: labels from
  // outside are checked before anything reads them.
  virtual bool IsKnown(const Label& label) const = 0;
  // Labels with one key have one home.
  virtual uint64_t KeyOf(const Label& label) const = 0;
  // For people.
  virtual std::string TextOf(const Label& label) const = 0;

  // --- what makes it, and of what
  // None: nothing does; its index lies outside its array.
  virtual std::optional<Reader> ProducerOf(const Label& label) const = 0;
  bool IsMade(const Label& label) const {
    return ProducerOf(label).has_value();
  }
  // `label` is made of other labels, not by a leaf.
  virtual bool IsMadeOfLabels(const Label& label) const = 0;
  // The labels that a reader makes, and the first of them: that one's home is
  // the reader's.
  virtual void ForEachMade(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const = 0;
  virtual Label FirstMade(const Reader& reader) const = 0;
  // The labels that it reads, once for each time that it does.
  virtual void ForEachRead(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const = 0;
  virtual std::string TextOf(const Reader& reader) const = 0;

  // --- what reads it
  // Calls visit(reader) once for each time that a reader reads `label`, until
  // it returns false; then returns false itself. The place of a call in this
  // order is the *ordinal* of that reading.
  virtual bool ForEachReader(
      const Label& label,
      absl::FunctionRef<bool(const Reader& reader)> visit) const = 0;
  // How many calls that would be; and whether more than so many.
  virtual int64_t ReaderCount(const Label& label) const = 0;
  virtual bool HasMoreReaders(const Label& label, int64_t than) const = 0;
  // Labels of this array may have more than so many. False is a promise.
  virtual bool MayHaveMoreReaders(int32_t array, int64_t than) const = 0;

 protected:
  // `version_index`: by array, the position of the version in the index of a
  // label; -1: none.
  LabelRelations(std::vector<int32_t> version_index, int64_t version_span)
      : version_index_(std::move(version_index)), version_span_(version_span) {}

 private:
  int32_t VersionIndexOf(const Label& label) const {
    return version_index_[label.array];
  }

  const std::vector<int32_t> version_index_;
  const int64_t version_span_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_RELATIONS_H_
