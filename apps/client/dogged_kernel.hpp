// Kernels in C++: functions of spans and blocks, in a shared library of one's
// own, that agents call. docs/CLIENT.md shows them at work.
//
//     #include <dogged_kernel.hpp>
//
//     void Halve(std::span<const double> a, std::span<double> b) {
//       for (size_t i = 0; i < a.size(); ++i) b[i] = 0.5 * a[i];
//     }
//     DOGGED_KERNEL(Halve)
//
// A parameter of const elements is read, one of others is created, a double or
// int64_t is a number. A kernel returns nothing, or an int that is not 0 if it
// gives up. A kernel has no state: the same values make the same bits.
//
// The library needs this header and the C++ library alone.
#ifndef DOGGED_APPS_CLIENT_DOGGED_KERNEL_HPP_
#define DOGGED_APPS_CLIENT_DOGGED_KERNEL_HPP_

#if __cplusplus < 202002L
#error "dogged_kernel.hpp wants C++20: -std=c++20"
#endif

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace dogged {

// As agents hand it over, by docs/LANGUAGE.md: 0 double, 1 float, 2 int64.
struct KernelValue {
  void* data;
  int64_t rank;
  const int64_t* extents;
  int64_t type;
};

template <typename T>
concept Element = std::same_as < std::remove_const_t<T>,
double > || std::same_as<std::remove_const_t<T>, float> ||
    std::same_as<std::remove_const_t<T>, int64_t>;

// The elements of an array in C order, which it does not own.
template <Element T>
class Block {
 public:
  Block(T* data, std::span<const int64_t> extents)
      : data_(data), extents_(extents) {
    for (const int64_t extent : extents) size_ *= extent;
  }

  T& operator()(int64_t i) const { return data_[i]; }
  T& operator()(int64_t i, int64_t j) const {
    return data_[i * extents_[1] + j];
  }
  T& operator()(int64_t i, int64_t j, int64_t k) const {
    return data_[(i * extents_[1] + j) * extents_[2] + k];
  }

  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  size_t size() const { return static_cast<size_t>(size_); }
  std::span<const int64_t> extents() const { return extents_; }
  int64_t rows() const { return extents_[0]; }
  int64_t columns() const { return extents_[1]; }

 private:
  T* data_;
  std::span<const int64_t> extents_;
  int64_t size_ = 1;
};

namespace internal {

enum class Formal { kIn, kOut, kNumber };

template <typename T>
struct Parameter;

template <Element T>
struct Parameter<std::span<T>> {
  static constexpr bool kIsBlock = false;
  static constexpr Formal kFormal =
      std::is_const_v<T> ? Formal::kIn : Formal::kOut;
  using ElementOf = std::remove_const_t<T>;
  static std::span<T> Of(const KernelValue& value) {
    const Block<T> block(static_cast<T*>(value.data),
                         {value.extents, static_cast<size_t>(value.rank)});
    return {block.data(), block.size()};
  }
};

template <Element T>
struct Parameter<Block<T>> {
  static constexpr bool kIsBlock = true;
  static constexpr Formal kFormal =
      std::is_const_v<T> ? Formal::kIn : Formal::kOut;
  using ElementOf = std::remove_const_t<T>;
  static Block<T> Of(const KernelValue& value) {
    return {static_cast<T*>(value.data),
            {value.extents, static_cast<size_t>(value.rank)}};
  }
};

template <typename T>
requires std::same_as<T, double> || std::same_as<T, int64_t>
struct Parameter<T> {
  static constexpr bool kIsBlock = false;
  static constexpr Formal kFormal = Formal::kNumber;
  using ElementOf = T;
};

// Which of its sort a parameter is.
template <typename... Parameters>
constexpr auto Places() {
  std::array<size_t, sizeof...(Parameters)> out = {};
  constexpr std::array<Formal, sizeof...(Parameters)> formals = {
      Parameter<std::remove_cvref_t<Parameters>>::kFormal...};
  std::array<size_t, 3> counts = {};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = counts[static_cast<size_t>(formals[i])]++;
  }
  return out;
}

template <typename T>
auto Argument(size_t place, const KernelValue* in, const KernelValue* out,
              const double* numbers) {
  using Taken = Parameter<std::remove_cvref_t<T>>;
  if constexpr (Taken::kFormal == Formal::kNumber) {
    return static_cast<typename Taken::ElementOf>(numbers[place]);
  } else if constexpr (Taken::kFormal == Formal::kIn) {
    return Taken::Of(in[place]);
  } else {
    return Taken::Of(out[place]);
  }
}

template <typename Return, typename... Parameters, size_t... kAt>
int CallKernel(Return (*function)(Parameters...), std::index_sequence<kAt...>,
               const KernelValue* in, const KernelValue* out,
               const double* numbers) {
  constexpr auto kPlaces = Places<Parameters...>();
  if constexpr (std::is_void_v<Return>) {
    function(Argument<Parameters>(kPlaces[kAt], in, out, numbers)...);
    return 0;
  } else {
    return function(Argument<Parameters>(kPlaces[kAt], in, out, numbers)...);
  }
}

template <typename Return, typename... Parameters>
int CallKernel(Return (*function)(Parameters...), const KernelValue* in,
               const KernelValue* out, const double* numbers) {
  return CallKernel(function, std::index_sequence_for<Parameters...>(), in, out,
                    numbers);
}

}  // namespace internal
}  // namespace dogged

// Makes a function of this name one that agents find: NAME_kernel.
#define DOGGED_KERNEL(name)                                              \
  extern "C" __attribute__((visibility("default"))) int name##_kernel(   \
      const ::dogged::KernelValue* in, ::dogged::KernelValue* out,       \
      const double* numbers);                                            \
  int name##_kernel(const ::dogged::KernelValue* in,                     \
                    ::dogged::KernelValue* out, const double* numbers) { \
    return ::dogged::internal::CallKernel(name, in, out, numbers);       \
  }

#endif  // DOGGED_APPS_CLIENT_DOGGED_KERNEL_HPP_
