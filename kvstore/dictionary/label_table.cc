#include "kvstore/dictionary/label_table.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace dogged {

void LabelTable::CheckInvariants(const LabelContext& job) const {
  (void)shard.Select([&](const Label& label, const LabelEntry& entry) {
    const auto name = [&] { return job.relations.TextOf(label); };
    const bool is_bound = entry.IsBound();
    DOGGED_CHECK(is_bound || (!entry.is_home && entry.copies.empty() &&
                              entry.on_disk == OnDisk::kNo))
        << "label " << name() << " is unbound and has a home or copies";
    DOGGED_CHECK(!is_bound || entry.waiters.empty())
        << "label " << name() << " is bound, and "
        << entry.waiters.front().ToString() << " waits for it";
    DOGGED_CHECK(!is_bound || !entry.value.IsSpilled() ||
                 entry.on_disk == OnDisk::kYes)
        << "label " << name() << " is spilled and not on disk";
    DOGGED_CHECK(entry.is_home == (is_bound && places.IsHome(label)))
        << "label " << name() << (entry.is_home ? " counts" : " does not count")
        << " consumers, and its home is " << places.HomeOf(label).ToString();
    DOGGED_CHECK(!entry.is_home || watermarks.WasBound(label) ||
                 watermarks.IsRecomputing(label))
        << "label " << name() << " is bound at home and not marked so";
    DOGGED_CHECK(entry.consumers.left() <=
                 (entry.is_home ? job.relations.ReaderCount(label) : 0))
        << "label " << name() << " waits for " << entry.consumers.left()
        << " consumers";
    for (auto copy = entry.copies.begin(); copy != entry.copies.end(); ++copy) {
      DOGGED_CHECK(*copy != job.self &&
                   std::find(entry.copies.begin(), copy, *copy) == copy)
          << "label " << name() << " counts a copy at " << copy->ToString();
    }
    return false;
  });
}

}  // namespace dogged
