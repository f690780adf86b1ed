// FakeLabels: labels of a dictionary without a program: rows, of which each
// version is made of the one some steps before it; one label with readers
// beside them, and a part that each of those makes. If they have sides each
// makes a side, too, which another reader makes its label of.
#ifndef DOGGED_TESTS_KVSTORE_FAKE_LABELS_H_
#define DOGGED_TESTS_KVSTORE_FAKE_LABELS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "kvstore/dictionary/label_relations.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"

namespace dogged {

class FakeLabels : public LabelRelations {
 public:
  struct Shape {
    int64_t rows = 10;
    int64_t steps = 20;      // the last version of a row
    int64_t distance = 1;    // to the version that one is made of
    bool has_edges = false;  // the first and the last row are made of nothing
    int64_t wide_readers = 0;
    uint64_t wide_key = 1000;
    uint64_t part_key = 1001;                 // of all parts
    std::optional<uint64_t> side_reader_key;  // sides have that of parts
  };
  FakeLabels() : FakeLabels(Shape()) {}
  explicit FakeLabels(const Shape& shape)
      : LabelRelations({1, -1, -1, -1, -1}, shape.distance), shape_(shape) {}

  static Label Row(int64_t x, int64_t t) {
    return {.array = 0, .index = {x, t}};
  }
  static Label Wide() { return {.array = 1, .index = {}}; }
  static Label Part(int64_t i) { return {.array = 2, .index = {i}}; }
  static Label Side(int64_t i) { return {.array = 3, .index = {i}}; }
  // They make Row(x, t), and Part(i) of Wide(), with Side(i).
  static Reader Step(int64_t x, int64_t t) {
    return {.group = 0, .index = {x, t}};
  }
  static Reader User(int64_t i) { return {.group = 2, .index = {i}}; }

  bool IsKnown(const Label& label) const override {
    constexpr int kRanks[] = {2, 0, 1, 1, 1};
    return label.array < (shape_.side_reader_key.has_value() ? 5 : 3) &&
           label.index.size() == kRanks[label.array];
  }
  uint64_t KeyOf(const Label& label) const override {
    if (label.array == 0) return static_cast<uint64_t>(label.index[0]);
    if (label.array == kOfSides) return *shape_.side_reader_key;
    return label.array == 1 ? shape_.wide_key : shape_.part_key;
  }
  std::string TextOf(const Label& label) const override {
    constexpr const char* kNames[] = {"row", "wide", "part", "side", "of side"};
    return label.ToString(kNames[label.array]);
  }
  std::optional<Reader> ProducerOf(const Label& label) const override {
    const Reader producer{
        .group = label.array == Side(0).array ? User(0).group : label.array,
        .index = label.index};
    const bool is_there =
        label.array == 0
            ? IsWithin(label.index[0], shape_.rows) &&
                  IsWithin(label.index[1], shape_.steps + 1)
            : label.array == 1 || IsWithin(label.index[0], shape_.wide_readers);
    return is_there ? std::optional(producer) : std::nullopt;
  }
  bool IsMadeOfLabels(const Label& label) const override {
    bool reads = false;
    const std::optional<Reader> producer = ProducerOf(label);
    if (producer.has_value()) {
      ForEachRead(*producer, [&](const Label&) { reads = true; });
    }
    return reads;
  }
  void ForEachMade(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const override {
    visit(FirstMade(reader));
    if (reader.group == User(0).group && shape_.side_reader_key.has_value()) {
      visit(Side(reader.index[0]));
    }
  }
  Label FirstMade(const Reader& reader) const override {
    return {.array = reader.group, .index = reader.index};
  }
  void ForEachRead(
      const Reader& reader,
      absl::FunctionRef<void(const Label& label)> visit) const override {
    if (reader.group == 2) return visit(Wide());
    if (reader.group == kOfSides) return visit(Side(reader.index[0]));
    if (reader.group == 1) return;
    const int64_t x = reader.index[0];
    const bool is_edge = shape_.has_edges && (x == 0 || x == shape_.rows - 1);
    const int64_t t = reader.index[1] - shape_.distance;
    if (t >= 0 && !is_edge) visit(Row(x, t));
  }
  std::string TextOf(const Reader& reader) const override {
    return absl::StrCat("reader ", reader.group);
  }
  bool ForEachReader(
      const Label& label,
      absl::FunctionRef<bool(const Reader& reader)> visit) const override {
    if (label.array == 2 || label.array == kOfSides) return true;
    if (label.array == Side(0).array) {
      return visit({.group = kOfSides, .index = label.index});
    }
    if (label.array == 1) {
      for (int64_t i = 0; i < shape_.wide_readers; ++i) {
        if (!visit(User(i))) return false;
      }
      return true;
    }
    const Label later = WithVersion(label, label.index[1] + shape_.distance);
    return !IsMade(later) || !IsMadeOfLabels(later) ||
           visit(*ProducerOf(later));
  }
  int64_t ReaderCount(const Label& label) const override {
    int64_t count = 0;
    ForEachReader(label, [&](const Reader&) {
      ++count;
      return true;
    });
    return count;
  }
  bool HasMoreReaders(const Label& label, int64_t than) const override {
    return ReaderCount(label) > than;
  }
  bool MayHaveMoreReaders(int32_t array, int64_t than) const override {
    return array == 1 && shape_.wide_readers > than;
  }

 private:
  // A label that is made of a side, and its maker.
  static constexpr int32_t kOfSides = 4;

  static bool IsWithin(int64_t i, int64_t size) { return 0 <= i && i < size; }

  const Shape shape_;
};

}  // namespace dogged

#endif  // DOGGED_TESTS_KVSTORE_FAKE_LABELS_H_
