#include "runtime/job/context/job_stats.h"

#include <algorithm>

namespace dogged {

void JobStats::Encode(Encoder& out) const {
  for (int64_t v :
       {tasks_executed,    tasks_duplicated,     tasks_done,
        results_bound,     results_durable,      results_durable_bytes,
        reads_local,       reads_remote,         bytes_read_local,
        bytes_read_remote, messages_sent,        bytes_sent,
        bytes_resent,      publications,         publication_messages,
        publication_bytes, input_bytes_received, input_bytes_supplied,
        input_bytes_read,  copy_bytes,           at_risk_ms}) {
    out.PutSigned(v);
  }
  out.PutDouble(flops);
}

JobStats JobStats::Decode(Decoder& in) {
  JobStats out;
  for (int64_t* v : {&out.tasks_executed,
                     &out.tasks_duplicated,
                     &out.tasks_done,
                     &out.results_bound,
                     &out.results_durable,
                     &out.results_durable_bytes,
                     &out.reads_local,
                     &out.reads_remote,
                     &out.bytes_read_local,
                     &out.bytes_read_remote,
                     &out.messages_sent,
                     &out.bytes_sent,
                     &out.bytes_resent,
                     &out.publications,
                     &out.publication_messages,
                     &out.publication_bytes,
                     &out.input_bytes_received,
                     &out.input_bytes_supplied,
                     &out.input_bytes_read,
                     &out.copy_bytes,
                     &out.at_risk_ms}) {
    *v = in.GetSigned();
  }
  out.flops = in.GetDouble();
  return out;
}

void JobStats::EncodeLater(Encoder& out) const { out.PutSigned(bytes_moved); }

void JobStats::DecodeLater(Decoder& in) {
  if (in.remaining() > 0) bytes_moved = in.GetSigned();
}

JobStats& JobStats::operator+=(const JobStats& other) {
  tasks_executed += other.tasks_executed;
  tasks_duplicated += other.tasks_duplicated;
  tasks_done += other.tasks_done;
  results_bound += other.results_bound;
  results_durable += other.results_durable;
  results_durable_bytes += other.results_durable_bytes;
  reads_local += other.reads_local;
  reads_remote += other.reads_remote;
  bytes_read_local += other.bytes_read_local;
  bytes_read_remote += other.bytes_read_remote;
  messages_sent += other.messages_sent;
  bytes_sent += other.bytes_sent;
  bytes_resent += other.bytes_resent;
  bytes_moved += other.bytes_moved;
  publications += other.publications;
  publication_messages += other.publication_messages;
  publication_bytes += other.publication_bytes;
  input_bytes_received += other.input_bytes_received;
  input_bytes_supplied += other.input_bytes_supplied;
  input_bytes_read += other.input_bytes_read;
  copy_bytes += other.copy_bytes;
  at_risk_ms = std::max(at_risk_ms, other.at_risk_ms);
  flops += other.flops;
  return *this;
}

}  // namespace dogged
