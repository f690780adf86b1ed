// Programs that read by tables, of more than one test.
#ifndef DOGGED_TESTS_DSL_LOWER_TABLE_PROGRAMS_H_
#define DOGGED_TESTS_DSL_LOWER_TABLE_PROGRAMS_H_

namespace dogged::dsl {

// int64(...) around an expression of indices takes it by its values.
inline constexpr char kButterfly[] = R"(
param L = 6
param N = 64
input a(0)(i) for i = 0:N-1 else (i*i + 3*i) % 17
task butterfly
  creates a(s)(i) as o
  for s = 1:L  i = 0:N-1
  using
    a(s-1)(i) as x
    a(s-1)(i + int64(pow(2, s-1)*
                     (i % int64(pow(2, s)) < pow(2, s-1) ? 1 : -1))) as y
  code
    o = i % int64(pow(2, s)) < pow(2, s-1) ? x + y : y - x
  end code
end task
result a(L)(:)
)";

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_LOWER_TABLE_PROGRAMS_H_
