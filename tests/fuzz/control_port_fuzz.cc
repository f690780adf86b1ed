// Aim: no bytes on the control port bring a process down, make it read what is
// not there, open a connection without the key or a certificate, or are heard
// as something that nobody said. Method: libFuzzer, by the first byte: bodies
// of frames, frames, key files, either end of a handshake by key or by
// certificate, and what two ends say in such a handshake, or after it, with
// some bytes changed.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "routing/control/control_frame.h"
#include "routing/control/refusal.h"
#include "routing/control/secure_channel.h"
#include "runtime/agent/loop/control.h"
#include "runtime/agent/loop/file_messages.h"
#include "runtime/base/wire_version.h"
#include "tests/output/temporary_folder.h"
#include "tests/routing/site_authority.h"

namespace dogged {
namespace {

using Side = SecureChannel::Side;

template <typename Body>
void Decode(absl::string_view bytes) {
  const auto body = Body::Decode(bytes);
  if (body.ok() && !Body::Decode(body->Encode().view()).ok()) std::abort();
}

void DecodeBody(uint8_t type, absl::string_view bytes) {
  switch (static_cast<ControlType>(type % 25)) {
    case ControlType::kError:
      (void)DecodeError(bytes);
      return;
    case ControlType::kSubmit:
      return Decode<SubmitRequest>(bytes);
    case ControlType::kStatus:
      return Decode<StatusRequest>(bytes);
    case ControlType::kStatusReply:
      return Decode<StatusReply>(bytes);
    case ControlType::kWant:
    case ControlType::kHeldWanted:
    case ControlType::kHeld:
    case ControlType::kWatch:
      return Decode<WantRequest>(bytes);
    case ControlType::kValues:
      return Decode<ValuesReply>(bytes);
    case ControlType::kConclude:
      return Decode<JobRecord>(bytes);
    case ControlType::kReturned:
      return Decode<ReturnedNotice>(bytes);
    case ControlType::kWrite:
      return Decode<WriteRequest>(bytes);
    case ControlType::kWritten:
      return Decode<WrittenReply>(bytes);
    case ControlType::kChunksWanted:
      return Decode<ChunksWanted>(bytes);
    case ControlType::kChunk:
      (void)ChunkPart::Decode(bytes);
      return;
    case ControlType::kJoin:
    case ControlType::kSnapshot:
    case ControlType::kLifeLine:
    case ControlType::kSubmitted:
    case ControlType::kConcluded:
    case ControlType::kJobWanted:
    case ControlType::kJobValue:
    case ControlType::kAdmit:
    case ControlType::kAdmitted:
      (void)DecodeId<JobId>(bytes);
      return;
  }
  const auto refusal = Refusal::Decode(bytes);
  if (refusal.ok()) (void)refusal->WordsFor("there", nullptr);
  const auto hello = WireHello::Decode(bytes);
  if (!hello.ok()) return;
  if (hello->release.size() > WireHello::kReleaseBytesMax) std::abort();
  if (hello->range.Overlaps(WireHello::Here().range) !=
      CheckWire(*hello, "there").ok()) {
    std::abort();
  }
}

void DecodeHead(absl::string_view bytes) {
  const auto header = FrameHeader::Decode(bytes);
  if (header.ok() && !header->is_partial &&
      header->body_bytes > kControlFrameBytesMax) {
    std::abort();
  }
}

// Both ends prove that they are members by it.
enum class Proof { kKey, kCertificate };

std::shared_ptr<const Certificates> MadeCertificates() {
  const TemporaryFolder folder;
  auto out = SiteAuthority(folder, "Site CA").Member({});
  if (out == nullptr) std::abort();
  return out;
}

// Made once: it costs more than all else.
const std::shared_ptr<const SecureContext>& Context(Proof proof) {
  static const std::shared_ptr<const SecureContext> by_key =
      *SecureContext::Create();
  static const std::shared_ptr<const SecureContext> by_certificate =
      *SecureContext::Create(MadeCertificates());
  return proof == Proof::kKey ? by_key : by_certificate;
}

class Ends {
 public:
  explicit Ends(Proof proof)
      : ring_(proof == Proof::kKey
                  ? std::make_shared<const KeyRing>(
                        *Key::Parse(std::string(2 * Key::kBytes, '1')))
                  : nullptr),
        client_(Context(proof), Side::kConnects, ring_, "there"),
        server_(Context(proof), Side::kAccepts, ring_, "here") {}

  // A stranger's bytes at one end.
  void Hear(Side side, absl::string_view bytes) {
    SecureChannel& end = side == Side::kAccepts ? server_ : client_;
    std::string heard;
    for (size_t at = 0; at < bytes.size(); at += 100) {
      if (!end.Take(bytes.substr(at, 100), heard).ok()) break;
    }
    if (end.is_open() || !heard.empty()) std::abort();
  }
  // Words of each get to the other; `edits` are a place and a difference
  // each, of the one that is to be changed.
  void Talk(absl::string_view edits, bool after_opening) {
    if (after_opening) {
      Carry();
      if (!client_.is_open() || !server_.is_open()) std::abort();
      client_.Seal(kSaid);
    }
    std::string bytes = Take(client_);
    const std::string before = bytes;
    for (size_t i = 0; i + 3 <= edits.size(); i += 3) {
      const size_t at = 256 * static_cast<uint8_t>(edits[i]) +
                        static_cast<uint8_t>(edits[i + 1]);
      bytes[at % bytes.size()] =
          static_cast<char>(bytes[at % bytes.size()] ^ edits[i + 2]);
    }
    std::string heard;
    (void)server_.Take(bytes, heard);
    if (!after_opening) Carry();
    if (heard != (after_opening && bytes == before ? kSaid : "") &&
        (bytes == before || heard != kSaid)) {
      std::abort();
    }
  }

 private:
  static constexpr char kSaid[] = "a frame";

  static std::string Take(SecureChannel& from) {
    std::string out(from.unsent());
    from.NoteSent(out.size());
    return out;
  }
  void Carry() {
    std::string heard;
    for (int i = 0; i < 8; ++i) {
      if (!server_.Take(Take(client_), heard).ok()) break;
      if (!client_.Take(Take(server_), heard).ok()) break;
    }
    if (!heard.empty()) std::abort();
  }

  std::shared_ptr<const KeyRing> ring_;
  SecureChannel client_;
  SecureChannel server_;
};

void Hear(absl::string_view bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<uint8_t>(bytes[0]);
  bytes.remove_prefix(1);
  if (first < 0x80) return DecodeBody(first, bytes);
  const Proof proof = first % 2 == 0 ? Proof::kKey : Proof::kCertificate;
  switch (first / 2 % 6) {
    case 0:
      DecodeHead(bytes);
      return DecodeHead(absl::StrCat(FrameHeader::kMagic, bytes));
    case 1: {
      const auto ring = KeyRing::Parse(bytes);
      if (ring.ok() && !KeyRing::Parse(ring->Encode()).ok()) std::abort();
      return;
    }
    case 2:
      return Ends(proof).Hear(Side::kAccepts, bytes);
    case 3:
      return Ends(proof).Hear(Side::kConnects, bytes);
    case 4:
      return Ends(proof).Talk(bytes, /*after_opening=*/false);
    default:
      return Ends(proof).Talk(bytes, /*after_opening=*/true);
  }
}

}  // namespace
}  // namespace dogged

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dogged::Hear({reinterpret_cast<const char*>(data), size});
  return 0;
}
