#include "routing/multicast/two_tree_reassembler.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

void TwoTreeReassembler::Add(absl::Time now, Delivery delivery,
                             std::vector<Delivery>& deliveries) {
  StreamKey key = delivery.stream;
  if (delivery.part == BodyPart::kSecond) --key.number;
  const auto it = held_.find(key);
  if (it == held_.end()) {
    // Nothing is lacking any more; the other half will find this one.
    if (delivery.tag_only) deliveries.push_back(delivery);
    held_[key] = {std::move(delivery), now};
    return;
  }
  Delivery& other = it->second.delivery;
  if (other.part == delivery.part) return;
  const bool was_delivered = other.tag_only;
  if (!was_delivered && !delivery.tag_only) {
    const bool first = other.part == BodyPart::kFirst;
    delivery.body =
        Bytes(absl::StrCat((first ? other.body : delivery.body).view(),
                           (first ? delivery.body : other.body).view()));
  }
  delivery.part = BodyPart::kWhole;
  held_.erase(it);
  if (!was_delivered) deliveries.push_back(std::move(delivery));
}

void TwoTreeReassembler::Expire(absl::Time before) {
  for (auto it = held_.begin(); it != held_.end();) {
    it = it->second.came < before ? held_.erase(it) : std::next(it);
  }
}

}  // namespace dogged
