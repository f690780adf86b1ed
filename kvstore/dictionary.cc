#include "kvstore/dictionary.h"

#include <utility>

namespace dogged {

Dictionary::Dictionary(LabelContext& job, const Ports& ports, Credit credit)
    : labels(job),
      conflicts(job, labels),
      sender(job, labels, conflicts, ports.storage, std::move(credit)),
      retention(job, labels, ports.storage, ports.readers),
      offers(job, labels),
      replication(job, labels,
                  {.conflicts = conflicts,
                   .storage = ports.storage,
                   .sender = sender,
                   .retention = retention,
                   .offers = offers,
                   .readers = ports.readers,
                   .producers = ports.producers}),
      homes(job, labels,
            {.conflicts = conflicts,
             .sender = sender,
             .retention = retention,
             .offers = offers,
             .replication = replication}) {}

}  // namespace dogged
