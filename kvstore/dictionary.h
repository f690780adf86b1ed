// Dictionary: one agent's part in the dictionary of one job, all of a label's
// life. It wires the components, each of which stands in a file of its own and
// uses only those above it. docs/ARCHITECTURE.md, "The life of a label".
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_H_
#define DOGGED_KVSTORE_DICTIONARY_H_

#include "kvstore/dictionary/conflict_check.h"
#include "kvstore/dictionary/label_context.h"
#include "kvstore/dictionary/label_readers.h"
#include "kvstore/dictionary/label_table.h"
#include "kvstore/dictionary/retention.h"
#include "kvstore/replication/credit.h"
#include "kvstore/replication/home_change.h"
#include "kvstore/replication/label_producers.h"
#include "kvstore/replication/replication.h"
#include "kvstore/replication/value_sender.h"
#include "kvstore/storage/disk_offers.h"
#include "kvstore/storage/stored_values.h"

namespace dogged {

struct Dictionary {
  // The ports, which outlive this and are not called before they are there.
  struct Ports {
    StoredValues& storage;
    LabelReaders& readers;
    LabelProducers& producers;
  };
  Dictionary(LabelContext& job, const Ports& ports, Credit credit);
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  LabelTable labels;
  ConflictCheck conflicts;
  ValueSender sender;
  Retention retention;
  DiskOffers offers;
  Replication replication;
  HomeChange homes;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_H_
