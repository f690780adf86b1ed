#include "dsl/kernels/tile_carry.h"

#include <algorithm>
#include <utility>

namespace dogged::dsl {

Box TileCarry::Planes(const Part& part, int64_t from, int64_t to) {
  Box out = part.box;
  out.lower[0] = std::max(out.lower[0], from + 1);
  out.upper[0] = std::min(out.upper[0], to);
  return out;
}

void TileCarry::Copy(const Part& part, int64_t last_time_step, bool to_value,
                     const Box& box) const {
  const TileField& field = plan_.fields[part.field];
  const int64_t element_bytes = ElementBytes(field.element);
  for (int64_t i = 0; i < field.carried; ++i) {
    char* const data =
        const_cast<char*>(static_cast<const char*>(part.value->data()) +
                          i * part.box.Count() * element_bytes);
    const Window in_value = DenseWindow(data, part.box);
    const Window& window =
        fields_[part.field].At(last_time_step - field.carried + 1 + i);
    if (to_value) {
      CopyBox(window, in_value, box, element_bytes);
    } else {
      CopyBox(in_value, window, box, element_bytes);
    }
  }
}

void TileCarry::ListReads(int64_t time_step) {
  read_time_step_ = time_step;
  size_t input = 0;
  for (const TileField& field : plan_.fields) {
    input += field.is_static && !field.is_gathered ? 1 : 0;
  }
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    if (field.is_static || field.carried == 0) continue;
    std::vector<Part>& parts = plan_.IsAhead(field) ? coefficients_ : reads_;
    parts.push_back({.field = f,
                     .box = plan_.Core(field, tile_),
                     .value = &call_.inputs[input++]});
    for (const IndexVector& delta : program_.directions) {
      Value& strip = call_.inputs[input++];
      IndexVector from = tile_;
      for (int d = 0; d < delta.size(); ++d) from[d] -= delta[d];
      if (!plan_.IsTile(from)) continue;
      parts.push_back({.field = f,
                       .box = plan_.Strip(field, from, delta),
                       .value = &strip});
    }
  }
}

void TileCarry::ReadCoefficients() {
  for (const Part& part : coefficients_) {
    Copy(part, read_time_step_, /*to_value=*/false, part.box);
  }
}

void TileCarry::Read(int64_t last) {
  if (last <= read_to_) return;
  if (last < INT64_MAX - kPlanesAtOnce) last += kPlanesAtOnce;
  for (const Part& part : reads_) {
    Copy(part, read_time_step_, /*to_value=*/false,
         Planes(part, read_to_, last));
  }
  read_to_ = last;
}

void TileCarry::ListGiven(int64_t time_step,
                          const std::vector<bool>& as_computed) {
  given_time_step_ = time_step;
  size_t output = 0;
  const auto add = [&](size_t f, Box box, std::vector<Part>& parts) {
    parts.push_back(
        {.field = f, .box = std::move(box), .value = &call_.outputs[output++]});
  };
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    if (field.is_static || field.carried == 0) continue;
    const bool is_computed_there = as_computed[f];
    add(f, plan_.Core(field, tile_), is_computed_there ? cores_ : copies_);
    if (is_computed_there) {
      const Part& core = cores_.back();
      fields_[f].given = DenseWindow(core.value->mutable_data(), core.box);
      fields_[f].given_time_step = time_step;
    }
    for (const IndexVector& delta : program_.directions) {
      add(f, plan_.Strip(field, tile_, delta),
          is_computed_there ? strips_ : copies_);
    }
  }
}

void TileCarry::Give(int64_t last) {
  if (last <= given_to_ + kPlanesAtOnce && last != INT64_MAX) return;
  for (const Part& core : cores_) {
    const int64_t first = std::max(core.box.lower[0], given_to_ + 1);
    const int64_t count = std::min(core.box.upper[0], last) - first + 1;
    const int64_t plane = core.box.Count() / core.box.Extents()[0];
    if (count <= 0) continue;
    core.value->UnifyNans((first - core.box.lower[0]) * plane, count * plane);
  }
  for (const Part& strip : strips_) {
    Copy(strip, given_time_step_, /*to_value=*/true,
         Planes(strip, given_to_, last));
  }
  given_to_ = last;
}

void TileCarry::GiveAll() {
  Give(INT64_MAX);
  for (const Part& part : copies_) {
    Copy(part, given_time_step_, /*to_value=*/true, part.box);
    part.value->UnifyNans();
  }
}

}  // namespace dogged::dsl
