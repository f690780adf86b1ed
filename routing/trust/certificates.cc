#include "routing/trust/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/trust/key.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Whether our own certificate has expired is looked at so often.
constexpr absl::Duration kExpiryInterval = absl::Seconds(10);
// 112 bits: RSA of 2048, SHA-256 (SSL_CTX_set_security_level of OpenSSL).
constexpr int kSecurityLevel = 2;
// Of own certificates: an end that accepts hears 16 KB of a stranger.
constexpr int64_t kChainBytesMax = 12 << 10;
// Of a name in messages: certificates of strangers are in the log.
constexpr size_t kNameBytesMax = 160;
constexpr absl::string_view kCaKind = "file of CAs";
constexpr absl::string_view kOwnKind = "certificate";
constexpr absl::string_view kKeyKind = "private key";
constexpr absl::string_view kAsk = "ask the CA of the cluster for one";

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using BioPtr = std::unique_ptr<BIO, FreeBio>;

BioPtr ReaderOf(const std::string& text) {
  BioPtr out(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  DOGGED_CHECK(out != nullptr) << "no memory for a file";
  return out;
}

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &bytes));
  return {bytes, size};
}

// "CN = alice, O = site", on one line, without signs that are none.
std::string NameText(const X509_NAME* name) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  constexpr unsigned long kForm =  // NOLINT: OpenSSL's type
      XN_FLAG_ONELINE & ~static_cast<unsigned long>(ASN1_STRFLGS_UTF8_CONVERT);
  if (out == nullptr || X509_NAME_print_ex(out.get(), name, 0, kForm) < 0) {
    return "a name that can't be read";
  }
  std::string text = TextOf(out.get());
  if (text.empty()) return "no name";
  if (text.size() > kNameBytesMax) {
    text = absl::StrCat(text.substr(0, kNameBytesMax), "...");
  }
  return text;
}

std::string SubjectAndIssuer(const X509* certificate) {
  return absl::StrCat(NameText(X509_get_subject_name(certificate)),
                      ", issued by ",
                      NameText(X509_get_issuer_name(certificate)));
}

absl::string_view UsageText(CertificateUse use) {
  return use == CertificateUse::kConnects ? "clientAuth" : "serverAuth";
}

// The trouble with a certificate, in words; empty: none.
std::string TroubleOf(X509_STORE* store, X509* certificate,
                      const stack_st_X509* others, CertificateUse use) {
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  const absl::Cleanup frees = [context] { X509_STORE_CTX_free(context); };
  // OpenSSL's profile for such an end: purpose, trust and times.
  const char* const profile =
      use == CertificateUse::kConnects ? "ssl_client" : "ssl_server";
  if (context == nullptr ||
      X509_STORE_CTX_init(context, store, certificate,
                          const_cast<stack_st_X509*>(others)) != 1 ||
      X509_STORE_CTX_set_default(context, profile) != 1) {
    return "no memory to check it";
  }
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(context),
                                   kSecurityLevel);
  const bool is_valid = X509_verify_cert(context) == 1;
  const int error = X509_STORE_CTX_get_error(context);
  ERR_clear_error();
  const uint32_t wanted =
      use == CertificateUse::kConnects ? XKU_SSL_CLIENT : XKU_SSL_SERVER;
  const bool has_usage =
      (X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) != 0 &&
      (X509_get_extended_key_usage(certificate) & wanted) != 0;
  if (!is_valid && (has_usage || error != X509_V_ERR_INVALID_PURPOSE)) {
    return X509_verify_cert_error_string(error);
  }
  if (has_usage) return "";
  return absl::StrCat("its extendedKeyUsage has no ", UsageText(use));
}

OwnFileRules RulesOf(absl::string_view kind, bool is_secret) {
  return {.kind = kind,
          .if_missing = kAsk,
          .if_empty = kAsk,
          .if_no_file = kAsk,
          .is_secret = is_secret,
          .if_seen = is_secret ? "have the CA issue another certificate"
                               : "compare it with that of the CA"};
}

}  // namespace

void Certificates::Free::operator()(X509* certificate) const {
  X509_free(certificate);
}
void Certificates::Free::operator()(X509_STORE* store) const {
  X509_STORE_free(store);
}
void Certificates::Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

absl::StatusOr<std::vector<Certificates::Certificate>> Certificates::ReadChain(
    absl::string_view kind, const std::string& path, bool is_ca,
    FileVersion& version) {
  DOGGED_ASSIGN_OR_RETURN(const std::string text,
                          ReadOwnFile(path, RulesOf(kind, false), version));
  const BioPtr reader = ReaderOf(text);
  std::vector<Certificate> out;
  while (X509* const one =
             PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    out.emplace_back(one);
    if (is_ca && X509_check_ca(one) != 1) {
      return OwnFileTrouble(kind, path,
                            absl::StrCat(SubjectAndIssuer(one),
                                         ", is no CA; name the file of those"));
    }
  }
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  ERR_clear_error();
  if (out.empty() || reason != PEM_R_NO_START_LINE) {
    return OwnFileTrouble(
        kind, path,
        out.empty() ? "has no certificate in PEM (-----BEGIN CERTIFICATE-----)"
                    : "has a certificate that can't be read");
  }
  return out;
}

absl::Status Certificates::ReadKey(const std::string& path,
                                   FileVersion& version) {
  DOGGED_ASSIGN_OR_RETURN(std::string text,
                          ReadOwnFile(path, RulesOf(kKeyKind, true), version));
  const absl::Cleanup wipes = [&text] { Wipe(text); };
  bool is_encrypted = false;
  // Nobody is there to be asked for a passphrase.
  const auto ask = [](char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  key_.reset(PEM_read_bio_PrivateKey(ReaderOf(text).get(), nullptr, ask,
                                     &is_encrypted));
  ERR_clear_error();
  if (is_encrypted) {
    return OwnFileTrouble(kKeyKind, path,
                          "is encrypted, and nobody is asked for a "
                          "passphrase; `openssl pkey` writes it in clear");
  }
  if (key_ == nullptr) {
    return OwnFileTrouble(kKeyKind, path, "has no private key in PEM");
  }
  if (X509_check_private_key(own(), key_.get()) == 1) return CheckTls13();
  ERR_clear_error();
  return OwnFileTrouble(kKeyKind, path,
                        absl::StrCat("is not that of the certificate ", path_,
                                     " (", SubjectAndIssuer(own()), ")"));
}

absl::Status Certificates::CheckTls13() const {
  int64_t bytes = 0;
  for (const Certificate& one : chain_) bytes += i2d_X509(one.get(), nullptr);
  if (bytes > kChainBytesMax) {
    return OwnFileTrouble(
        kOwnKind, path_,
        absl::StrCat("has certificates of ", bytes, " bytes, and others take ",
                     kChainBytesMax,
                     "; leave out those that the file of CAs has"));
  }
  char curve[32] = "";
  const bool has_curve =
      EVP_PKEY_get_group_name(key_.get(), curve, sizeof(curve), nullptr) == 1;
  const absl::string_view group(curve);
  switch (EVP_PKEY_get_base_id(key_.get())) {
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
      return absl::OkStatus();
    case EVP_PKEY_EC:
      if (has_curve && (group == SN_X9_62_prime256v1 || group == SN_secp384r1 ||
                        group == SN_secp521r1)) {
        return absl::OkStatus();
      }
      break;
    default:
      break;
  }
  ERR_clear_error();
  return OwnFileTrouble(
      kOwnKind, path_,
      absl::StrCat("has a key that TLS 1.3 has no use for (",
                   has_curve ? group : "of another kind",
                   "); have the CA issue one for a key of RSA, Ed25519, Ed448, "
                   "P-256, P-384 or P-521"));
}

absl::StatusOr<std::shared_ptr<const Certificates>> Certificates::Read(
    const CertificatePaths& paths, std::vector<FileVersion>& versions) {
  versions.assign(3, FileVersion());
  ERR_clear_error();
  std::shared_ptr<Certificates> out(new Certificates());
  out->path_ = paths.certificate;
  DOGGED_ASSIGN_OR_RETURN(const std::vector<Certificate> trusted,
                          ReadChain(kCaKind, paths.ca, true, versions[0]));
  DOGGED_ASSIGN_OR_RETURN(
      out->chain_, ReadChain(kOwnKind, paths.certificate, false, versions[1]));
  DOGGED_RETURN_IF_ERROR(out->ReadKey(paths.key, versions[2]));
  out->store_.reset(X509_STORE_new());
  DOGGED_CHECK(out->store_ != nullptr) << "no memory for certificates";
  std::vector<std::string> names;
  for (const Certificate& one : trusted) {
    X509_STORE_add_cert(out->store_.get(), one.get());
    names.push_back(NameText(X509_get_subject_name(one.get())));
  }
  // A CA between the site's and the members is trusted for itself.
  X509_STORE_set_flags(out->store_.get(), X509_V_FLAG_PARTIAL_CHAIN);
  out->issuers_ = absl::StrJoin(names, "; ");
  return out;
}

std::vector<X509*> Certificates::between() const {
  std::vector<X509*> out;
  for (size_t i = 1; i < chain_.size(); ++i) out.push_back(chain_[i].get());
  return out;
}

absl::Status Certificates::Check(X509* certificate, const stack_st_X509* others,
                                 CertificateUse use) const {
  const std::string trouble = TroubleOf(store_.get(), certificate, others, use);
  if (trouble.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      SubjectAndIssuer(certificate), ": ", trouble, "; those are taken that ",
      issuers_, " issues for ", UsageText(use)));
}

std::string Certificates::OwnText() const { return SubjectAndIssuer(own()); }

absl::Status Certificates::CheckOwn(
    absl::Span<const CertificateUse> uses) const {
  stack_st_X509* const others = sk_X509_new_null();
  const absl::Cleanup frees = [others] { sk_X509_free(others); };
  for (X509* const one : between()) sk_X509_push(others, one);
  for (const CertificateUse use : uses) {
    const absl::Status status = Check(own(), others, use);
    if (status.ok()) continue;
    return OwnFileTrouble(kOwnKind, path_,
                          absl::StrCat(status.message(), "; ", kAsk));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CertificateFiles>> CertificateFiles::Open(
    const CertificatePaths& paths, std::vector<CertificateUse> uses) {
  if (paths.ca.empty() || paths.certificate.empty() || paths.key.empty()) {
    return absl::InvalidArgumentError(
        "--ca-file, --cert-file and --cert-key-file go together: the CAs that "
        "are trusted, a certificate of one of them, and its private key");
  }
  std::unique_ptr<CertificateFiles> out(
      new CertificateFiles(paths, std::move(uses)));
  DOGGED_ASSIGN_OR_RETURN(out->certificates_, out->Read());
  return out;
}

absl::StatusOr<std::shared_ptr<const Certificates>> CertificateFiles::Read() {
  DOGGED_ASSIGN_OR_RETURN(auto out, Certificates::Read(paths_, versions_));
  DOGGED_RETURN_IF_ERROR(out->CheckOwn(uses_));
  return out;
}

void CertificateFiles::NoteExpired(absl::Time now) {
  if (now < next_check_) return;
  next_check_ = now + kExpiryInterval;
  const absl::Status fit = certificates_->CheckOwn(uses_);
  if (!fit.ok() && !is_unfit_) {
    Log(LogLevel::kWarning,
        absl::StrCat(fit.message(), "; others refuse it until then"));
  }
  is_unfit_ = !fit.ok();
}

bool CertificateFiles::Refresh(absl::Time now) {
  if (now < next_look_) return false;
  next_look_ = now + kOwnFileInterval;
  NoteExpired(now);
  const std::vector<FileVersion> versions = {FileVersionOf(paths_.ca),
                                             FileVersionOf(paths_.certificate),
                                             FileVersionOf(paths_.key)};
  if (versions == versions_) return false;
  auto read = Read();
  // Files that are changed one after another are looked at until all fit.
  versions_ = versions;
  if (!read.ok()) {
    Log(LogLevel::kWarning,
        absl::StrCat(read.status().message(),
                     "; the certificate that it had goes on being used"));
    return false;
  }
  certificates_ = *std::move(read);
  is_unfit_ = false;
  Log(LogLevel::kInfo,
      absl::StrCat("certificate from now on: ", certificates_->OwnText()));
  return true;
}

}  // namespace dogged
