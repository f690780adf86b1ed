#include "apps/output/png.h"

#include <png.h>

#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "apps/output/file.h"
#include "apps/output/plot.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<std::string> EncodePng(const Canvas& canvas) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(canvas.width());
  image.height = static_cast<png_uint_32>(canvas.height());
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(bytes, '\0');
  // The simple interface of libpng: it reports errors, and never jumps.
  if (png_image_write_to_memory(&image, out.data(), &bytes, 0,
                                canvas.rgb().data(), 0, nullptr) == 0) {
    return absl::InternalError(absl::StrCat("libpng: ", image.message));
  }
  out.resize(bytes);
  return out;
}

absl::Status WritePng(absl::string_view path, const Value& value,
                      absl::string_view title, const IndexGrid& indices) {
  absl::StatusOr<Canvas> canvas = Plot(value, title, indices);
  DOGGED_RETURN_IF_ERROR(Annotate(canvas.status(), path));
  DOGGED_ASSIGN_OR_RETURN(const std::string bytes, EncodePng(*canvas));
  const absl::string_view pieces[] = {bytes};
  return WriteWholeFile(path, pieces);
}

}  // namespace dogged
