// Animated PNG, the format that browsers play: frames are shown one after
// another, again and again; a viewer that knows PNG only shows the first one.
// Frames are encoded as they come, so that only their files are held.
// Thread-compatible.
#ifndef DOGGED_APPS_OUTPUT_APNG_H_
#define DOGGED_APPS_OUTPUT_APNG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "apps/output/canvas.h"

namespace dogged {

// Frames of an animation, at most.
inline constexpr int64_t kFramesMax = 101;

// Steps from `first` to `last`, first <= last, that an animation shows: the
// first one, every s-th from there, and the last, in order; s is 1, 2 or 5
// times a power of ten, as small as kFramesMax allows.
std::vector<int64_t> FrameSteps(int64_t first, int64_t last);

class Apng {
 public:
  // How many frames will come, at least one. They play for five seconds, each
  // for 50 to 500 ms, and the last one for a second more.
  explicit Apng(int64_t frame_count);

  // Appends a frame; all have the size of the first.
  absl::Status Add(const Canvas& frame);

  // The bytes of the file, once all frames are there.
  std::string Finish();

 private:
  // Appends the header of the next frame: where and how long it is shown.
  void AppendControl(const Canvas& frame);

  const int64_t frame_count_;
  int64_t frames_ = 0;
  uint32_t sequence_ = 0;  // of the next chunk that has a number
  int width_ = 0;
  int height_ = 0;
  std::string out_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_APNG_H_
