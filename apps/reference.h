// References: the programs of apps/ once more, as the plain loops of a
// textbook. Tests compare results with them bit by bit, but for the
// factorisations, whose sums OpenBLAS adds up in an order of its own.
#ifndef DOGGED_APPS_REFERENCE_H_
#define DOGGED_APPS_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dogged::apps {

// phi(0:n-1)(t) of apps/heat1d.
std::vector<double> Heat1d(int64_t n, int64_t t);
// u(0:n-1)(0:n-1)(t) of apps/heat2d, row by row.
std::vector<double> Heat2d(int64_t n, int64_t t);
// u(0:n-1)(0:n-1) at the end of apps/jacobi, row by row.
std::vector<double> Jacobi(int64_t n, double bound);
// u(0:n-1)(t) of apps/advection1d.
std::vector<double> Advection1d(int64_t n, int64_t t);
// u(0:n-1)(0:n-1)(0:n-1)(t) of apps/heat3d.
std::vector<double> Heat3d(int64_t n, int64_t t);
// u(0:n-1)(0:n-1)(t) of apps/wave2d.
std::vector<double> Wave2d(int64_t n, int64_t t);
// p(0:n-1)(0:n-1)(t) of apps/acoustic2d, row by row, and heard(0:t).
struct Sound {
  std::vector<double> pressure;
  std::vector<double> heard;
};
Sound Acoustic2d(int64_t n, int64_t t);
// u(0:n-1)(0:n-1)(t) of apps/grayscott, then v.
std::vector<double> GrayScott(int64_t n, int64_t t);
// hz(0:n-1)(0:n-1)(t) of apps/maxwell2d.
std::vector<double> Maxwell2d(int64_t n, int64_t t);
// cell(0:n-1)(0:n-1)(t) of apps/life.
std::vector<int64_t> Life(int64_t n, int64_t t);
// h(0:n)(0:n) of apps/smithwaterman.
std::vector<int64_t> SmithWaterman(int64_t n);
// w(n-1)(n-1) of apps/wavefront.
double Wavefront(int64_t n);
// L of apps/cholesky, row by row, zero above the diagonal, for the symmetric
// positive definite n x n matrix `a`, of which the lower triangle is read.
std::vector<double> Cholesky(int64_t n, std::vector<double> a);

// Factors of apps/lu: U on and above the diagonal, row by row (elements below
// have no meaning), and the row that each row was exchanged with, in turn.
struct LuFactors {
  std::vector<double> u;
  std::vector<int64_t> exchanges;
};
LuFactors Lu(int64_t n, std::vector<double> a);
// R of apps/qr, on and above the diagonal.
std::vector<double> Qr(int64_t n, std::vector<double> a);

}  // namespace dogged::apps

#endif  // DOGGED_APPS_REFERENCE_H_
