#include "runtime/base/value.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "absl/strings/str_cat.h"
#include "runtime/base/block_pool.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// Header bytes of a value whose data is aligned, and of a value too small for
// that.
constexpr size_t kHeaderBytes = Value::kHeaderBytes;
constexpr size_t kSmallHeaderBytes = 96;

// In vectors of the least that processors have, four at a time: all that tasks
// make is looked through, and mostly has none. GCC 12 makes scalars of a loop
// over doubles.
template <typename T>
bool HasNan(absl::Span<const T> numbers) {
  using Vector __attribute__((vector_size(16))) = T;
  Vector some[4];
  constexpr size_t kBytes = sizeof(some);
  decltype(Vector() != Vector()) nans = {};
  for (; numbers.size() * sizeof(T) >= kBytes;
       numbers.remove_prefix(kBytes / sizeof(T))) {
    std::memcpy(some, numbers.data(), kBytes);
    nans |= (some[0] != some[0]) | (some[1] != some[1]) | (some[2] != some[2]) |
            (some[3] != some[3]);
  }
  int64_t found[2];
  static_assert(sizeof(found) == sizeof(nans));
  std::memcpy(found, &nans, sizeof(nans));
  return (found[0] | found[1]) != 0 ||
         std::any_of(numbers.begin(), numbers.end(),
                     [](T x) { return x != x; });
}

template <typename T>
void UnifyNansOf(absl::Span<T> numbers) {
  if (!HasNan<T>(numbers)) return;
  for (T& x : numbers) {
    if (x != x) x = std::numeric_limits<T>::quiet_NaN();
  }
}

// Data that a value keeps in a buffer of Bytes.
class BufferMemory : public ValueMemory {
 public:
  explicit BufferMemory(Bytes buffer) : buffer_(std::move(buffer)) {}
  void* Take(int64_t) override { return nullptr; }
  void Give(void*, int64_t) override {}

 private:
  const Bytes buffer_;
};

bool IsWorthKeeping(absl::string_view data, const Bytes& buffer) {
  return buffer.IsAll() && std::ssize(data) > buffer.size() / 2 &&
         reinterpret_cast<uintptr_t>(data.data()) % kBlockAlignment == 0;
}

std::atomic<ValueMemory*>& CurrentMemory() {
  static std::atomic<ValueMemory*> memory{nullptr};
  return memory;
}

// Bytes of data in arenas: values there are large, so this is seldom counted.
std::atomic<int64_t>& ArenaByteCount() {
  static std::atomic<int64_t> count{0};
  return count;
}

int64_t& RefusedByteCount() {
  thread_local int64_t bytes = 0;
  return bytes;
}

size_t HeaderBytes(int64_t data_bytes) {
  return data_bytes < static_cast<int64_t>(kBlockAlignment) ? kSmallHeaderBytes
                                                            : kHeaderBytes;
}

size_t BlockBytes(int64_t data_bytes) {
  const size_t total =
      HeaderBytes(data_bytes) + static_cast<size_t>(data_bytes);
  return (total + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

}  // namespace

int64_t ElementBytes(ElementType type) {
  return type == ElementType::kFloat ? 4 : 8;
}

absl::string_view ElementName(ElementType type) {
  switch (type) {
    case ElementType::kDouble:
      return "double";
    case ElementType::kFloat:
      return "float";
    case ElementType::kInt64:
      return "int64";
  }
  return "unknown";
}

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

void SetValueMemory(ValueMemory* memory) {
  CurrentMemory().store(memory, std::memory_order_release);
}

ValueMemory* CurrentValueMemory() {
  return CurrentMemory().load(std::memory_order_acquire);
}

size_t Value::BlockBytesOf(const Block& block) {
  return BlockBytes(block.data == nullptr ||
                            block.place != DataPlace::kBehindHeader
                        ? 0
                        : block.bytes);
}

Value::Block* Value::TryAllocate(ElementType type, const Shape& shape,
                                 Kind kind) {
  static_assert(sizeof(Block) <= kSmallHeaderBytes &&
                sizeof(FarBlock) <= kHeaderBytes);
  const int64_t bytes = ElementCount(shape) * ElementBytes(type);
  DOGGED_CHECK(bytes >= 0) << "shape " << shape.ToString();
  ValueMemory* source = CurrentValueMemory();
  void* elsewhere = nullptr;
  if (kind == Kind::kWhole && source != nullptr && bytes > 0) {
    elsewhere = source->Take(bytes);
  }
  const bool is_inside = kind == Kind::kWhole && elsewhere == nullptr;
  const size_t total = BlockBytes(is_inside ? bytes : 0);
  void* memory = AllocateBlock(total);
  if (memory == nullptr) {
    if (elsewhere != nullptr) source->Give(elsewhere, bytes);
    RefusedByteCount() = bytes;
    return nullptr;
  }
  const bool is_far = kind == Kind::kView || elsewhere != nullptr;
  Block* block = is_far ? new (memory) FarBlock : new (memory) Block;
  block->type = type;
  block->shape = shape;
  block->bytes = bytes;
  if (is_inside) {
    block->data = static_cast<char*>(memory) + HeaderBytes(bytes);
  } else if (elsewhere != nullptr) {
    block->data = elsewhere;
    block->place = DataPlace::kValueMemory;
    MemoryOf(block) = source;
    ArenaByteCount().fetch_add(bytes, std::memory_order_relaxed);
  }
  return block;
}

Value Value::Allocate(ElementType type, const Shape& shape) {
  Block* block = TryAllocate(type, shape, Kind::kWhole);
  while (block == nullptr) {
    // The same once more, for the exception that it throws; if by now there is
    // memory, all is well.
    const size_t total = BlockBytes(ElementCount(shape) * ElementBytes(type));
    operator delete (operator new (total, std::align_val_t{kBlockAlignment}),
                     std::align_val_t{kBlockAlignment});
    block = TryAllocate(type, shape, Kind::kWhole);
  }
  return Value(block);
}

Value Value::View(ElementType type, const Shape& shape, const Digest& digest,
                  const void* data, std::unique_ptr<ValueMemory> lease) {
  Block* block = TryAllocate(type, shape, Kind::kView);
  DOGGED_CHECK(block != nullptr) << "no memory for a header";
  block->data = const_cast<void*>(data);  // written by nobody: see IsWritable()
  block->digest = digest;
  MemoryOf(block) = lease.release();
  block->place = DataPlace::kLease;
  return Value(block);
}

Value Value::Copy() const {
  Value out = Allocate(type(), shape());
  std::memcpy(out.mutable_data(), data(), bytes());
  out.block_->digest = digest();
  return out;
}

int64_t Value::RefusedBytes() { return RefusedByteCount(); }

Value Value::Spilled() const {
  if (IsNone() || IsSpilled()) return *this;
  Block* block = TryAllocate(type(), shape(), Kind::kSpilled);
  DOGGED_CHECK(block != nullptr) << "no memory for a header";
  block->digest = digest();
  return Value(block);
}

Value Value::Scalar(double value) {
  Value out = Allocate(ElementType::kDouble, {});
  out.mutable_span<double>()[0] = value;
  out.Seal();
  return out;
}

void Value::Free(Block* block) {
  const size_t total = BlockBytesOf(*block);
  if (block->place != DataPlace::kBehindHeader) {
    if (block->place != DataPlace::kLease) {
      ArenaByteCount().fetch_sub(block->bytes, std::memory_order_relaxed);
    }
    MemoryOf(block)->Give(block->data, block->bytes);
    if (block->place >= DataPlace::kLease) delete MemoryOf(block);
  }
  block->~Block();
  FreeBlock(block, total);
}

void Value::UnifyNans(int64_t first, int64_t count) {
  const auto at = static_cast<size_t>(first);
  const auto n = static_cast<size_t>(count);
  if (type() == ElementType::kDouble) {
    UnifyNansOf<double>(mutable_span<double>().subspan(at, n));
  } else if (type() == ElementType::kFloat) {
    UnifyNansOf<float>(mutable_span<float>().subspan(at, n));
  }
}

void Value::Seal() {
  block_->digest = Hash128(view());
  block_->digest_state.store(DigestState::kKnown, std::memory_order_release);
}

void Value::SealLazily() {
  block_->digest_state.store(DigestState::kDue, std::memory_order_release);
}

void Value::ComputeDigest() const {
  std::atomic<DigestState>& state = block_->digest_state;
  DigestState found = DigestState::kDue;
  if (state.compare_exchange_strong(found, DigestState::kBeingComputed)) {
    block_->digest = Hash128(view());
    state.store(DigestState::kKnown);
    state.notify_all();
  } else {
    state.wait(DigestState::kBeingComputed);
  }
}

int64_t Value::LiveBytes() {
  return LiveBlockBytes() + ArenaByteCount().load(std::memory_order_relaxed);
}

void Value::Encode(Encoder& out) const {
  EncodeHead(out);
  out.PutRaw(view());
}

void Value::EncodeHead(Encoder& out) const {
  DOGGED_CHECK(!IsSpilled()) << "a spilled value of " << bytes() << " bytes";
  out.PutU64(digest().low);
  out.PutU64(digest().high);
  out.PutU8(static_cast<uint8_t>(type()));
  shape().Encode(out);
  out.PutVarint(view().size());
}

Value Value::Kept(ElementType type, const Shape& shape, absl::string_view data,
                  const Bytes& buffer) {
  Block* block = TryAllocate(type, shape, Kind::kView);
  DOGGED_CHECK(block != nullptr) << "no memory for a header";
  block->data = const_cast<char*>(data.data());  // see IsWritable()
  block->place = DataPlace::kBuffer;
  MemoryOf(block) = new BufferMemory(buffer);
  ArenaByteCount().fetch_add(block->bytes, std::memory_order_relaxed);
  return Value(block);
}

absl::StatusOr<Value> Value::Decode(Decoder& in, const Bytes& buffer) {
  Digest digest;
  digest.low = in.GetU64();
  digest.high = in.GetU64();
  const uint8_t type = in.GetU8();
  const Shape shape = Shape::Decode(in);
  const absl::string_view bytes = in.GetString();
  const auto limit = std::ssize(bytes);
  bool fits = in.ok() && type <= 2;
  // A value without elements may have any other extents, as long as nothing
  // overflows.
  constexpr int64_t kCountMax = INT64_MAX / 16;
  int64_t count = 1;
  bool is_empty = false;
  for (const int64_t extent : shape) {
    is_empty |= extent == 0;
    const int64_t factor = std::max<int64_t>(extent, 1);
    fits = fits && extent >= 0 && count <= kCountMax / factor;
    if (fits) count *= factor;
  }
  if (is_empty) count = 0;
  fits = fits && count * ElementBytes(static_cast<ElementType>(type)) == limit;
  if (!fits) {
    in.Fail();
    return in.status("value");
  }
  Value out;
  if (IsWorthKeeping(bytes, buffer)) {
    out = Kept(static_cast<ElementType>(type), shape, bytes, buffer);
  } else {
    out.block_ =
        TryAllocate(static_cast<ElementType>(type), shape, Kind::kWhole);
    if (out.IsNone()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a value of ", limit, " bytes"));
    }
    std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  }
  out.Seal();
  if (out.digest() != digest) {
    return absl::DataLossError(absl::StrCat(
        "value of ", bytes.size(), " bytes: digest ", out.digest().ToString(),
        " instead of ", digest.ToString()));
  }
  return out;
}

}  // namespace dogged
