// Types, shapes and sizes of values, between the C interface and lines of JSON.
#ifndef DOGGED_APPS_CLIENT_CLIENT_VALUES_H_
#define DOGGED_APPS_CLIENT_CLIENT_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/client/client_error.h"

namespace dogged {

// "double"; nullptr for a type that there is not.
const char* TypeName(int type);
// -1 for a name that there is not.
int TypeOf(const std::string& name);

// "(500, 500)", as in Python.
std::string ShapeText(int rank, const int64_t* extents);
// Bytes of such a value; -1 if there can't be so many.
int64_t BytesOf(int type, int rank, const int64_t* extents);
// The value of an object with "type" and "shape". Errors: DOGGED_JOB_FAILED,
// for what only a command of another release says.
ClientError ValueFrom(const nlohmann::json& object, dogged_view& out);

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_VALUES_H_
