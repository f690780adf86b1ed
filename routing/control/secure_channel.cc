#include "routing/control/secure_channel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "routing/control/control_frame.h"
#include "routing/control/refusal.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// The first byte of each record of TLS 1.3 is one of these; a frame in clear
// begins with another.
constexpr char kFirstRecordType = 20;
constexpr char kLastRecordType = 23;
// A handshake needs about 600 bytes each way.
constexpr int64_t kStrangerBytesMax = 16 << 10;
// AES-GCM wants other keys after 2^24.5 records (RFC 8446, 5.5): 380 GB.
constexpr int64_t kBytesOfKeyMax = int64_t{64} << 30;
constexpr absl::string_view kIdentity = "dogged ";
constexpr absl::string_view kLabel = "dogged control port";
constexpr char kSuites[] =
    "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
// ALPN of an end that has a certificate, which any end that knows none ignores;
// with its length before it.
constexpr absl::string_view kHasCertificate =
    "\x12"
    "dogged certificate";
// TLS_AES_128_GCM_SHA256: its hash is the one that goes with the key.
constexpr unsigned char kSuite[] = {0x13, 0x01};

constexpr unsigned char kSessionContext[] = {1};

std::string LastError() {
  const char* const words = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return words == nullptr ? "no reason is given" : words;
}

SSL_SESSION* SessionOf(SSL* tls, const Key& key) {
  SSL_SESSION* const session = SSL_SESSION_new();
  const SSL_CIPHER* const suite = SSL_CIPHER_find(tls, kSuite);
  std::string secret = key.Derive(kLabel, Key::kBytes);
  DOGGED_CHECK(session != nullptr && suite != nullptr &&
               SSL_SESSION_set1_master_key(
                   session,
                   reinterpret_cast<const unsigned char*>(secret.data()),
                   secret.size()) == 1 &&
               SSL_SESSION_set_cipher(session, suite) == 1 &&
               SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
      << LastError();
  Wipe(secret);
  return session;
}

}  // namespace

struct SecureChannel::Callbacks {
  static SecureChannel* Of(SSL* tls) {
    return static_cast<SecureChannel*>(SSL_get_app_data(tls));
  }

  // The other end has said what it offers; nothing else has been looked at.
  static int TakeHello(SSL* tls, int* alert, void*) {
    SecureChannel* const channel = Of(tls);
    const unsigned char* bytes = nullptr;
    size_t size = 0;
    const bool offers_key =
        SSL_client_hello_get0_ext(tls, TLSEXT_TYPE_psk, &bytes, &size) == 1;
    if (SSL_client_hello_get0_ext(
            tls, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes,
            &size) == 1) {
      const absl::string_view protocols(reinterpret_cast<const char*>(bytes),
                                        size);
      channel->offers_certificate_ =
          protocols.substr(std::min<size_t>(2, size)) == kHasCertificate;
    }
    const bool can_use_key = offers_key && channel->ring_ != nullptr;
    const bool can_use_certificate =
        channel->offers_certificate_ && channel->has_certificates();
    if (can_use_key || can_use_certificate) return SSL_CLIENT_HELLO_SUCCESS;
    if (channel->offers_certificate_) {
      channel->refusal_ = Refusal::Reason::kHasNoCertificates;
    } else if (offers_key) {
      channel->refusal_ = Refusal::Reason::kWantsCertificate;
    }
    *alert = SSL_AD_HANDSHAKE_FAILURE;
    return SSL_CLIENT_HELLO_ERROR;
  }

  // Whether it is a member's is noted, and judged by CheckPeer(): an end that
  // accepts goes on, to refuse the other one in words.
  static int TakeCertificate(X509_STORE_CTX* chain, void*) {
    const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
    SecureChannel* const channel =
        Of(static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, index)));
    const bool accepts = channel->side_ == Side::kAccepts;
    channel->certified_ = channel->context_->certificates_->Check(
        X509_STORE_CTX_get0_cert(chain), X509_STORE_CTX_get0_untrusted(chain),
        accepts ? CertificateUse::kConnects : CertificateUse::kAccepts);
    if (channel->certified_.ok() || accepts) return 1;
    X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }

  static int UseSession(SSL* tls, const EVP_MD* digest,
                        const unsigned char** identity, size_t* size,
                        SSL_SESSION** session) {
    const SecureChannel* const channel = Of(tls);
    *session = nullptr;
    if (channel->ring_ == nullptr) return 1;
    if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
    *identity =
        reinterpret_cast<const unsigned char*>(channel->identity_.data());
    *size = channel->identity_.size();
    *session = SessionOf(tls, channel->ring_->used());
    return 1;
  }

  static int FindSession(SSL* tls, const unsigned char* identity, size_t size,
                         SSL_SESSION** session) {
    SecureChannel* const channel = Of(tls);
    absl::string_view id(reinterpret_cast<const char*>(identity), size);
    const bool is_ours = absl::ConsumePrefix(&id, kIdentity);
    const Key* const key = is_ours && channel->ring_ != nullptr
                               ? channel->ring_->Find(id)
                               : nullptr;
    channel->has_named_key_ = true;
    *session = key != nullptr ? SessionOf(tls, *key) : nullptr;
    // Without a session OpenSSL goes on to certificates.
    const bool may_go_on =
        channel->offers_certificate_ && channel->has_certificates();
    return key != nullptr || may_go_on ? 1 : 0;
  }
};

absl::StatusOr<std::shared_ptr<const SecureContext>> SecureContext::Create(
    std::shared_ptr<const Certificates> certificates) {
  std::shared_ptr<SecureContext> out(new SecureContext());
  out->certificates_ = std::move(certificates);
  SSL_CTX* const context = SSL_CTX_new(TLS_method());
  out->context_ = context;
  if (context == nullptr ||
      SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kSuites) != 1 ||
      SSL_CTX_set_num_tickets(context, 0) != 1 ||
      SSL_CTX_set_max_early_data(context, 0) != 1) {
    return absl::InternalError(
        absl::StrCat("OpenSSL gives no TLS 1.3: ", LastError()));
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_NO_COMPRESSION);
  // PSKs go with (EC)DHE alone.
  SSL_CTX_clear_options(
      context, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_psk_use_session_callback(context,
                                       SecureChannel::Callbacks::UseSession);
  SSL_CTX_set_psk_find_session_callback(context,
                                        SecureChannel::Callbacks::FindSession);
  SSL_CTX_set_client_hello_cb(context, SecureChannel::Callbacks::TakeHello,
                              nullptr);
  if (out->certificates_ != nullptr) {
    DOGGED_RETURN_IF_ERROR(out->UseCertificates());
  }
  return out;
}

absl::Status SecureContext::UseCertificates() {
  bool is_used =
      SSL_CTX_use_certificate(context_, certificates_->own()) == 1 &&
      SSL_CTX_use_PrivateKey(context_, certificates_->key()) == 1 &&
      SSL_CTX_set_alpn_protos(
          context_,
          reinterpret_cast<const unsigned char*>(kHasCertificate.data()),
          kHasCertificate.size()) == 0;
  for (X509* const one : certificates_->between()) {
    is_used = is_used && SSL_CTX_add1_chain_cert(context_, one) == 1;
  }
  if (!is_used) {
    return absl::InternalError(
        absl::StrCat("OpenSSL does not take our certificate: ", LastError()));
  }
  SSL_CTX_set_cert_verify_callback(
      context_, SecureChannel::Callbacks::TakeCertificate, nullptr);
  return absl::OkStatus();
}

SecureContext::~SecureContext() { SSL_CTX_free(context_); }

SecureChannel::SecureChannel(std::shared_ptr<const SecureContext> context,
                             Side side, std::shared_ptr<const KeyRing> ring,
                             std::string peer)
    : context_(std::move(context)),
      side_(side),
      ring_(std::move(ring)),
      peer_(std::move(peer)),
      identity_(ring_ == nullptr ? std::string()
                                 : absl::StrCat(kIdentity, ring_->used().id())),
      certified_(absl::PermissionDeniedError("it has shown no certificate")) {
  DOGGED_CHECK(ring_ != nullptr || has_certificates());
  ERR_clear_error();
  SSL* const tls = SSL_new(context_->context_);
  tls_ = tls;
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  DOGGED_CHECK(tls != nullptr && in != nullptr && out != nullptr)
      << LastError();
  // An empty memory is no end.
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(tls, in, out);
  SSL_set_app_data(tls, this);
  if (side_ == Side::kAccepts) {
    SSL_set_accept_state(tls);
    // An end that shows none is refused by CheckPeer(). OpenSSL takes no key
    // beside certificates without a context for sessions.
    if (has_certificates()) {
      SSL_set_verify(tls, SSL_VERIFY_PEER, nullptr);
      DOGGED_CHECK(SSL_set_session_id_context(tls, kSessionContext,
                                              sizeof(kSessionContext)) == 1);
    }
  } else {
    SSL_set_connect_state(tls);
    SSL_set_verify(tls, SSL_VERIFY_PEER, nullptr);
    // Without words of the other end this can't fail.
    DOGGED_CHECK(Shake().ok());
  }
}

SecureChannel::~SecureChannel() { SSL_free(tls_); }

absl::Status SecureChannel::Take(absl::string_view bytes, std::string& plain) {
  if (bytes.empty()) return absl::OkStatus();
  if (!std::exchange(has_begun_, true) || !clear_.empty()) {
    const bool is_record = clear_.empty() && bytes[0] >= kFirstRecordType &&
                           bytes[0] <= kLastRecordType;
    if (!is_record) return TakeClear(bytes);
  }
  ERR_clear_error();
  SSL* const tls = tls_;
  size_t written = 0;
  if (BIO_write_ex(SSL_get_rbio(tls), bytes.data(), bytes.size(), &written) !=
          1 ||
      written != bytes.size()) {
    return absl::ResourceExhaustedError("no memory for received bytes");
  }
  if (!is_open_) {
    if (const absl::Status shaken = Shake(); !shaken.ok()) return shaken;
    if (!is_open_) {
      // A member's first words may come with the end of its handshake.
      taken_ += std::ssize(bytes);
      if (taken_ > kStrangerBytesMax && side_ == Side::kAccepts) {
        return absl::InvalidArgumentError("more bytes than a handshake has");
      }
      return absl::OkStatus();
    }
  }
  constexpr size_t kRecordBytes = 16 << 10;
  while (true) {
    const size_t before = plain.size();
    plain.resize(before + kRecordBytes);
    size_t size = 0;
    const int result =
        SSL_read_ex(tls, plain.data() + before, kRecordBytes, &size);
    plain.resize(before + size);
    if (result == 1) continue;
    const int error = SSL_get_error(tls, result);
    MoveOut();  // answers to changes of keys
    if (error == SSL_ERROR_WANT_READ) return absl::OkStatus();
    return absl::InvalidArgumentError(
        error == SSL_ERROR_ZERO_RETURN
            ? std::string("connection closed")
            : absl::StrCat("bytes that are not as they were sent: ",
                           LastError()));
  }
}

absl::Status SecureChannel::Shake() {
  SSL* const tls = tls_;
  const int result = SSL_do_handshake(tls);
  if (result == 1) {
    MoveOut();
    const absl::Status member = CheckPeer();
    is_open_ = member.ok();
    return member;
  }
  if (SSL_get_error(tls, result) == SSL_ERROR_WANT_READ) {
    MoveOut();
    return absl::OkStatus();
  }
  return Failed(LastError());
}

absl::Status SecureChannel::CheckPeer() {
  if (SSL_version(tls_) != TLS1_3_VERSION) {
    return absl::InvalidArgumentError("another version of TLS");
  }
  // By a key: the other end has it, or there is no way here.
  if (SSL_session_reused(tls_) == 1) return absl::OkStatus();
  const bool has_certificate =
      has_certificates() && SSL_get0_peer_certificate(tls_) != nullptr;
  if (has_certificate && certified_.ok()) return absl::OkStatus();
  const std::string words = has_certificate
                                ? std::string(certified_.message())
                                : "neither a key nor a certificate was shown";
  if (side_ == Side::kAccepts) {
    const std::string frame =
        Refusal{.reason = Refusal::Reason::kOtherCertificate,
                .ids = {},
                .words = words}
            .EncodeFrame();
    size_t written = 0;
    SSL_write_ex(tls_, frame.data(), frame.size(), &written);
    MoveOut();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("its certificate is not that of a member: ", words));
}

std::string SecureChannel::OwnText() const {
  return ring_ == nullptr
             ? "a certificate"
             : absl::StrCat("our key, ", ring_->used().id(),
                            has_certificates() ? ", or a certificate" : "");
}

absl::Status SecureChannel::Failed(const std::string& words) {
  if (side_ == Side::kConnects) {
    const bool has_shown = has_certificates() && !certified_.ok() &&
                           SSL_get_verify_result(tls_) != X509_V_OK;
    if (has_shown) {
      return absl::PermissionDeniedError(
          absl::StrCat(peer_,
                       " has a certificate that is not that of an "
                       "agent: ",
                       certified_.message()));
    }
    return absl::PermissionDeniedError(
        absl::StrCat(peer_, " does not prove that it has ", OwnText(),
                     ": is it an agent of this cluster? (", words, ")"));
  }
  if (refusal_.has_value()) {
    Refuse(Refusal::Of(*refusal_, ring_.get()).EncodeFrame());
    return absl::PermissionDeniedError(
        *refusal_ == Refusal::Reason::kHasNoCertificates
            ? absl::StrCat("it came with a certificate; ours are keys, ",
                           ring_->Ids())
            : "it came with a key, and certificates alone are taken");
  }
  // A browser, perhaps. Where certificates are taken, a key that is not known
  // is no failure.
  const bool may_go_on = offers_certificate_ && has_certificates();
  if (!has_named_key_ || may_go_on) {
    return absl::InvalidArgumentError(
        absl::StrCat("no handshake of dogged: ", words));
  }
  Refuse(Refusal::Of(Refusal::Reason::kOtherKey, ring_.get()).EncodeFrame());
  return absl::PermissionDeniedError(
      absl::StrCat("it has another key; ours are ", ring_->Ids()));
}

absl::Status SecureChannel::TakeClear(absl::string_view bytes) {
  absl::StrAppend(&clear_, bytes.substr(0, Refusal::kFrameBytesMax));
  const absl::StatusOr<FrameHeader> header = FrameHeader::Decode(clear_);
  if (!header.ok()) return header.status();
  if (side_ == Side::kAccepts) {
    const auto reason = ring_ == nullptr ? Refusal::Reason::kWantsCertificate
                                         : Refusal::Reason::kWantsKey;
    Refuse(Refusal::Of(reason, ring_.get()).EncodeFrame());
    return absl::PermissionDeniedError(
        absl::StrCat("it came without a key; ours are ",
                     ring_ == nullptr ? "certificates" : ring_->Ids()));
  }
  const int64_t size = kFrameHeaderBytes + header->body_bytes;
  if (!header->is_partial && size > Refusal::kFrameBytesMax) {
    return absl::InvalidArgumentError("a long frame in clear");
  }
  if (header->is_partial || std::ssize(clear_) < size) return absl::OkStatus();
  const absl::string_view body =
      absl::string_view(clear_).substr(kFrameHeaderBytes, header->body_bytes);
  const absl::StatusOr<Refusal> refusal = Refusal::DecodeClear(body);
  if (header->type != kRefusalType || !header->Check(body).ok() ||
      !refusal.ok()) {
    return absl::InvalidArgumentError("a frame in clear that is no refusal");
  }
  return absl::PermissionDeniedError(refusal->WordsFor(peer_, ring_.get()));
}

void SecureChannel::Refuse(absl::string_view frame) {
  // In place of OpenSSL's alert, which an end without TLS would not know.
  unsent_ = std::string(frame);
  sent_ = 0;
}

void SecureChannel::Seal(absl::string_view plain) {
  DOGGED_CHECK(is_open_);
  ERR_clear_error();
  SSL* const tls = tls_;
  if (sealed_ >= kBytesOfKeyMax) {
    sealed_ = 0;
    DOGGED_CHECK(SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
  }
  sealed_ += std::ssize(plain);
  // To memory, which takes all.
  size_t written = 0;
  DOGGED_CHECK(plain.empty() ||
               SSL_write_ex(tls, plain.data(), plain.size(), &written) == 1)
      << LastError();
  MoveOut();
}

void SecureChannel::MoveOut() {
  BIO* const out = SSL_get_wbio(tls_);
  const size_t pending = BIO_ctrl_pending(out);
  if (pending == 0) return;
  const size_t before = unsent_.size();
  unsent_.resize(before + pending);
  size_t size = 0;
  BIO_read_ex(out, unsent_.data() + before, pending, &size);
  unsent_.resize(before + size);
}

void SecureChannel::NoteSent(size_t bytes) {
  sent_ += bytes;
  if (sent_ < unsent_.size()) return;
  unsent_.clear();
  sent_ = 0;
}

std::string SecureChannel::Export(absl::string_view label, size_t bytes) const {
  std::string out(bytes, '\0');
  DOGGED_CHECK(is_open_ &&
               SSL_export_keying_material(
                   tls_, reinterpret_cast<unsigned char*>(out.data()),
                   out.size(), label.data(), label.size(), nullptr, 0, 0) == 1);
  return out;
}

}  // namespace dogged
