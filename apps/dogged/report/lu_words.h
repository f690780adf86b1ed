// A word for readers of the files of an LU factorisation: these look like
// LAPACK's, and are not.
#ifndef DOGGED_APPS_DOGGED_REPORT_LU_WORDS_H_
#define DOGGED_APPS_DOGGED_REPORT_LU_WORDS_H_

#include <string>
#include <vector>

#include "apps/dogged/report/outputs.h"
#include "runtime/graph/program.h"

namespace dogged {

// How to use them with NumPy, if some of `written` are an LU's, by its kernels,
// in several block columns; else nothing. Lines, each with its end.
std::string LuWords(const Program& program,
                    const std::vector<WrittenOutput>& written);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_LU_WORDS_H_
