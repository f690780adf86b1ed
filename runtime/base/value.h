// Value: an immutable, dense, row-major array of numbers with a digest, to
// which a label is bound. It is a counted reference to one block, so copying it
// is cheap; the data lies on the heap or in a ValueMemory. Thread-safe once it
// is filled.
#ifndef DOGGED_RUNTIME_BASE_VALUE_H_
#define DOGGED_RUNTIME_BASE_VALUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value_memory.h"

namespace dogged {

enum class ElementType : uint8_t { kDouble = 0, kFloat = 1, kInt64 = 2 };

// 8, 4, 8.
int64_t ElementBytes(ElementType type);
// "double", "float", "int64".
absl::string_view ElementName(ElementType type);

// The extents of a value; empty for a scalar.
using Shape = IndexVector;
// The number of elements: the product of the extents, 1 for a scalar.
int64_t ElementCount(const Shape& shape);

class Value {
 public:
  Value() = default;  // none
  Value(const Value& other) : block_(other.block_) { Ref(); }
  Value(Value&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Value() { Unref(); }

  // An unfilled value, data aligned to 64 bytes when it is 64 bytes or more.
  // The caller writes it through mutable_data(), then calls Seal() once.
  // Without memory for it operator new throws std::bad_alloc; RefusedBytes()
  // of that thread says how much it was.
  static Value Allocate(ElementType type, const Shape& shape);
  // The bytes of this thread's last Allocate() that failed.
  static int64_t RefusedBytes();
  static Value Scalar(double value);

  // A value of the same type, shape and digest without the bytes, which must be
  // fetched before a read.
  Value Spilled() const;
  // A value that reads memory of another owner. The last reference to it ends
  // `lease` by calling its Give().
  static Value View(ElementType type, const Shape& shape, const Digest& digest,
                    const void* data, std::unique_ptr<ValueMemory> lease);
  bool IsView() const {
    return block_ != nullptr && block_->place == DataPlace::kLease;
  }
  // A view of memory that exists only because it is viewed.
  bool IsOrphan() const { return IsView() && MemoryOf(block_)->IsOrphaned(); }
  // The same in memory of this process's own.
  Value Copy() const;
  bool IsSpilled() const {
    return block_ != nullptr && block_->data == nullptr;
  }

  bool IsNone() const { return block_ == nullptr; }
  ElementType type() const { return block_->type; }
  const Shape& shape() const { return block_->shape; }
  int64_t element_count() const { return block_->bytes / ElementBytes(type()); }
  // Bytes of the data, also where Spilled() has dropped them.
  int64_t bytes() const { return block_->bytes; }
  const void* data() const { return block_->data; }
  absl::string_view view() const {
    return {static_cast<const char*>(block_->data),
            static_cast<size_t>(block_->bytes)};
  }
  template <typename T>
  absl::Span<const T> span() const {
    return {static_cast<const T*>(block_->data),
            static_cast<size_t>(block_->bytes) / sizeof(T)};
  }

  // Only before Seal().
  void* mutable_data() { return block_->data; }
  template <typename T>
  absl::Span<T> mutable_span() {
    return {static_cast<T*>(block_->data),
            static_cast<size_t>(block_->bytes) / sizeof(T)};
  }
  // Gives all NaNs the same bits. Compilers, and the order of operands, decide
  // sign and payload of a NaN that arises.
  void UnifyNans() { UnifyNans(0, element_count()); }
  // Unifies NaNs in `count` elements from the first-th on.
  void UnifyNans(int64_t first, int64_t count);
  // Computes the digest; the value is immutable from now on.
  void Seal();
  // Likewise, but the first call of digest() computes it.
  void SealLazily();
  // XXH3-128 over the data, type and shape excluded.
  const Digest& digest() const {
    if (!HasDigest()) ComputeDigest();
    return block_->digest;
  }
  // False: SealLazily() was called, and digest() not yet.
  bool HasDigest() const {
    return block_->digest_state.load(std::memory_order_acquire) ==
           DigestState::kKnown;
  }
  // True if both refer to one block, or to none.
  bool IsSameBlock(const Value& other) const { return block_ == other.block_; }
  // True if nobody else holds this block, so that its data goes with it. Not
  // for views.
  bool IsUnique() const {
    return block_->place != DataPlace::kLease &&
           block_->refs.load(std::memory_order_acquire) == 1;
  }
  // The same if nobody else may read the data either, so that it may be
  // written.
  bool IsWritable() const {
    return block_->place != DataPlace::kBuffer && IsUnique();
  }

  // Type, shape and bytes; the digest goes first and is checked on arrival. Not
  // for values without bytes.
  void Encode(Encoder& out) const;
  // The same up to the data; view() is what follows.
  void EncodeHead(Encoder& out) const;
  // Takes a value from `in`, which reads `buffer`: where the data is most of
  // it, and aligned, the value keeps it (Bytes::IsAll) instead of a copy.
  //
  // Errors: kInvalidArgument if malformed, kDataLoss if the digest does not
  //         fit, kResourceExhausted without memory for it.
  static absl::StatusOr<Value> Decode(Decoder& in, const Bytes& buffer = {});

  // Bytes that a value takes beside its data, at most; also those of Spilled().
  static constexpr int64_t kHeaderBytes = 128;
  // Bytes in all live values of this process, headers included; values without
  // data of their own, as of Spilled() and View(), count as headers.
  static int64_t LiveBytes();

 private:
  enum class DigestState : uint8_t { kKnown, kDue, kBeingComputed };
  // All but the first are those of a FarBlock; those from kLease on own its
  // `memory`, and others may read the data.
  enum class DataPlace : uint8_t {
    kBehindHeader,
    kValueMemory,
    kLease,   // of a view
    kBuffer,  // of a message that the value came in
  };
  struct Block {
    std::atomic<int32_t> refs{1};
    std::atomic<DigestState> digest_state{DigestState::kKnown};
    ElementType type = ElementType::kDouble;
    DataPlace place = DataPlace::kBehindHeader;
    Shape shape;
    int64_t bytes = 0;
    void* data = nullptr;  // null: see Spilled()
    Digest digest;
  };
  // Block of a value whose data lies elsewhere.
  struct FarBlock : Block {
    ValueMemory* memory = nullptr;
  };
  enum class Kind : uint8_t { kWhole, kSpilled, kView };
  // A value whose data is `data`, a part of `buffer`.
  static Value Kept(ElementType type, const Shape& shape,
                    absl::string_view data, const Bytes& buffer);
  // Null without memory.
  static Block* TryAllocate(ElementType type, const Shape& shape, Kind kind);
  static size_t BlockBytesOf(const Block& block);
  static ValueMemory*& MemoryOf(Block* block) {
    return static_cast<FarBlock*>(block)->memory;
  }
  explicit Value(Block* block) : block_(block) {}
  void Ref() {
    if (block_ != nullptr) {
      block_->refs.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void Unref() {
    if (block_ != nullptr &&
        block_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Free(block_);
    }
  }
  static void Free(Block* block);
  void ComputeDigest() const;
  Block* block_ = nullptr;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_VALUE_H_
