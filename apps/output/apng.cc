#include "apps/output/apng.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "apps/output/png.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr int64_t kPlayMs = 5000;
constexpr int64_t kFrameMsMin = 50;
constexpr int64_t kFrameMsMax = 500;
constexpr int64_t kLastMsMore = 1000;

constexpr size_t kSignatureBytes = 8;

uint32_t Crc(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Big-endian, as all numbers of a PNG file.
void AppendNumber(std::string& out, uint32_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift & 0xff));
  }
}

uint32_t NumberAt(absl::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  }
  return number;
}

void AppendChunk(std::string& out, absl::string_view type,
                 absl::string_view content) {
  AppendNumber(out, static_cast<uint32_t>(content.size()), 4);
  const size_t begin = out.size();
  absl::StrAppend(&out, type, content);
  AppendNumber(out, Crc(absl::string_view(out).substr(begin)), 4);
}

// A chunk of a file.
struct Chunk {
  absl::string_view type;
  absl::string_view content;
};

// Takes the first chunk off `file`.
Chunk TakeChunk(absl::string_view& file) {
  const size_t size = NumberAt(file, 0);
  const Chunk chunk = {file.substr(4, 4), file.substr(8, size)};
  file.remove_prefix(size + 12);
  return chunk;
}

}  // namespace

std::vector<int64_t> FrameSteps(int64_t first, int64_t last) {
  int64_t step = 1;
  // 1, 2, 5, 10, 20, 50, ...
  for (int i = 0; (last - first + step - 1) / step >= kFramesMax; ++i) {
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  }
  std::vector<int64_t> out;
  for (int64_t at = first; at < last; at += step) out.push_back(at);
  out.push_back(last);
  return out;
}

Apng::Apng(int64_t frame_count) : frame_count_(frame_count) {
  DOGGED_CHECK(frame_count > 0) << "an animation without frames";
}

void Apng::AppendControl(const Canvas& frame) {
  int64_t delay = std::clamp(kPlayMs / frame_count_, kFrameMsMin, kFrameMsMax);
  if (frames_ + 1 == frame_count_) delay += kLastMsMore;
  std::string control;
  AppendNumber(control, sequence_++, 4);
  AppendNumber(control, static_cast<uint32_t>(frame.width()), 4);
  AppendNumber(control, static_cast<uint32_t>(frame.height()), 4);
  AppendNumber(control, 0, 4);  // from the left
  AppendNumber(control, 0, 4);  // from the top
  AppendNumber(control, static_cast<uint32_t>(delay), 2);
  AppendNumber(control, 1000, 2);  // parts of a second
  AppendNumber(control, 0, 1);     // the frame stays till the next one,
  AppendNumber(control, 0, 1);     // which replaces it
  AppendChunk(out_, "fcTL", control);
}

absl::Status Apng::Add(const Canvas& frame) {
  DOGGED_CHECK(frames_ < frame_count_) << "more frames than " << frame_count_;
  if (frames_ == 0) {
    width_ = frame.width();
    height_ = frame.height();
  }
  DOGGED_CHECK(frame.width() == width_ && frame.height() == height_)
      << "frame " << frames_ << " has another size than the first";
  DOGGED_ASSIGN_OR_RETURN(const std::string png, EncodePng(frame));
  absl::string_view rest = png;
  if (frames_ == 0) out_ = std::string(rest.substr(0, kSignatureBytes));
  rest.remove_prefix(kSignatureBytes);
  bool is_header = true;
  while (!rest.empty()) {
    const Chunk chunk = TakeChunk(rest);
    const bool is_image = chunk.type == "IDAT";
    if (is_image && is_header) AppendControl(frame);
    is_header = is_header && !is_image;
    if (chunk.type == "IEND") break;
    if (frames_ == 0) {
      AppendChunk(out_, chunk.type, chunk.content);
    } else if (is_image) {
      std::string numbered;
      AppendNumber(numbered, sequence_++, 4);
      absl::StrAppend(&numbered, chunk.content);
      AppendChunk(out_, "fdAT", numbered);
    }
    // How many frames, and that they are shown without end, comes at once
    // behind the size of the picture.
    if (frames_ == 0 && chunk.type == "IHDR") {
      std::string all;
      AppendNumber(all, static_cast<uint32_t>(frame_count_), 4);
      AppendNumber(all, 0, 4);
      AppendChunk(out_, "acTL", all);
    }
  }
  ++frames_;
  return absl::OkStatus();
}

std::string Apng::Finish() {
  DOGGED_CHECK(frames_ == frame_count_)
      << frames_ << " frames of " << frame_count_;
  AppendChunk(out_, "IEND", "");
  return std::move(out_);
}

}  // namespace dogged
