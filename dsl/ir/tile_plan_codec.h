// TilePlan as bytes. They may come from anybody: a plan that was decoded never
// goes beyond its arrays when it runs, and its cost is bounded.
#ifndef DOGGED_DSL_IR_TILE_PLAN_CODEC_H_
#define DOGGED_DSL_IR_TILE_PLAN_CODEC_H_

#include "dsl/ir/tile_plan.h"
#include "runtime/base/codec.h"

namespace dogged::dsl {

void EncodeTilePlan(const TilePlan& plan, Encoder& out);
// Fails `in` where a number is none that a compiler gives.
TilePlan DecodeTilePlan(Decoder& in);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_TILE_PLAN_CODEC_H_
