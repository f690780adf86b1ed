// CollectedResults: the results of a client's job: which are missing, which
// were asked of the contact, and which have come. Agents of this host lend
// results, which are read where they lie; the oldest are copied, and given
// back, as they take too much. Results that are here as bytes and beyond a
// bound lie in a file.
//
// Used by one thread. Copying throws std::bad_alloc where memory is short.
#ifndef DOGGED_APPS_DOGGED_CLIENT_COLLECTED_RESULTS_H_
#define DOGGED_APPS_DOGGED_CLIENT_COLLECTED_RESULTS_H_

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "apps/dogged/client/result_file.h"
#include "routing/memory/arena.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/rounds.h"

namespace dogged {

class CollectedResults {
 public:
  // Results of more than `bytes_max` go to a file in one of `folders`.
  CollectedResults(int64_t bytes_max, std::vector<std::string> folders)
      : bytes_max_(bytes_max), file_(std::move(folders)) {}
  CollectedResults(const CollectedResults&) = delete;
  CollectedResults& operator=(const CollectedResults&) = delete;

  // The results that `rounds`, which has ended, demands are missing.
  void List(const Rounds& rounds);
  // Only these of them are.
  void List(const std::vector<Label>& labels);
  bool HasMissing() const { return !missing_.empty(); }
  // None if it has not come. Errors: as ResultFile::Read().
  absl::StatusOr<Value> Find(const Label& label) const;
  int64_t found_count() const { return std::ssize(found_); }

  // --- asking
  // Another contact: nothing was asked of it.
  void AskAnew();
  // A loan could not be read: bytes are wanted.
  bool HasUnread() const { return !unread_.empty(); }
  std::vector<Label> TakeUnread() { return std::exchange(unread_, {}); }
  // The next labels to ask for, within the bound on what is asked at a time.
  std::vector<Label> TakeToAsk();

  // --- what comes
  void Take(const ValuesReply& reply);
  // Bytes and number of results that are read where they lie.
  int64_t lent_bytes() const { return lent_bytes_; }
  int64_t lent_count() const { return lent_count_; }  // ever
  // Copies the oldest of them until the rest is `bytes`, or all. Results that
  // were not what they were any more are missing again.
  void CopyBeyond(int64_t bytes);
  void CopyAll();
  // The number of the newest loan that is given back, with all before.
  uint64_t returned_loan() const {
    return lent_.empty() ? last_loan_ : lent_.front().number - 1;
  }
  // The contact is lost, which has numbered its loans: copies them.
  void ForgetContact();
  // Drops the results, and says how much there was.
  absl::Status NoRoom();
  int64_t file_bytes() const { return file_.bytes(); }

 private:
  // A result that is not copied yet.
  struct Lent {
    Label label;
    uint64_t number = 0;  // of the loan
  };

  // A result that is here as bytes: in memory, or in the file.
  void Keep(const Label& label, const Value& value);
  // Takes note of what was lent, if it can be read.
  void Borrow(const LentValue& lent);
  void CopyOldest();
  void AskForAllMissing();

  // How many results may be asked for at a time.
  int64_t AskedMax() const;

  const int64_t bytes_max_;
  absl::flat_hash_set<Label> missing_;
  std::vector<Label> to_ask_;                // of the missing, not yet asked
  int64_t asked_count_ = 0;                  // asked and not answered
  std::vector<Label> unread_;                // to be sent as bytes
  absl::flat_hash_map<Label, Value> found_;  // Spilled(): in the file
  int64_t found_bytes_ = 0;                  // of those in memory of our own
  int64_t came_count_ = 0;                   // results, ever
  int64_t came_bytes_ = 0;
  ResultFile file_;
  absl::Status file_trouble_;  // why results that should be there are not
  // By address; null: it can't be read.
  std::map<std::string, std::shared_ptr<PeerArena>> arenas_;
  std::deque<Lent> lent_;   // of found_, oldest first
  int64_t lent_bytes_ = 0;  // of `lent_`
  uint64_t last_loan_ = 0;  // of this contact
  int64_t lent_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_COLLECTED_RESULTS_H_
