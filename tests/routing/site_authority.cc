#include "tests/routing/site_authority.h"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <vector>

#include "absl/cleanup/cleanup.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

std::string TakeText(BIO* bio) {
  char* bytes = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &bytes));
  std::string out(bytes, size);
  BIO_free(bio);
  return out;
}

void AddExtension(X509* certificate, X509V3_CTX* context, int kind,
                  const std::string& value) {
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, context, kind, value.c_str());
  EXPECT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

EVP_PKEY* MakeKey(const SiteAuthority::Wish& wish) {
  return wish.curve.empty()
             ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA",
                                 static_cast<size_t>(wish.rsa_bits))
             : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", wish.curve.c_str());
}

}  // namespace

void SiteAuthority::Free::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}
void SiteAuthority::Free::operator()(X509* certificate) const {
  X509_free(certificate);
}

SiteAuthority::SiteAuthority(const TemporaryFolder& folder,
                             const std::string& name)
    : folder_(folder), name_(name), key_(MakeKey({})) {
  const Wish own{.name = name, .usages = ""};
  certificate_ = Make(own, key_.get(), /*is_ca=*/true);
  WriteFiles(name, certificate_.get(), key_.get());
}

SiteAuthority::Certificate SiteAuthority::Make(const Wish& wish, EVP_PKEY* key,
                                               bool is_ca) const {
  Certificate out(X509_new());
  X509* const made = out.get();
  X509_set_version(made, X509_VERSION_3);
  static int64_t serial = 1;
  ASN1_INTEGER_set_int64(X509_get_serialNumber(made), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made), absl::ToInt64Seconds(wish.from));
  X509_gmtime_adj(X509_getm_notAfter(made), absl::ToInt64Seconds(wish.until));
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(wish.name.c_str()), -1, -1, 0);
  X509* const issuer = is_ca ? made : certificate_.get();
  X509_set_issuer_name(made, X509_get_subject_name(issuer));
  X509_set_pubkey(made, key);
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  AddExtension(made, &context, NID_basic_constraints,
               is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wish.usages.empty()) {
    AddExtension(made, &context, NID_ext_key_usage, wish.usages);
  }
  EXPECT_GT(X509_sign(made, key_.get(), wish.digest), 0);
  return out;
}

void SiteAuthority::WriteFiles(const std::string& name, X509* certificate,
                               EVP_PKEY* key) const {
  BIO* const shown = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(shown, certificate);
  const std::string public_path = folder_.Write(name + ".pem", TakeText(shown));
  BIO* const hidden = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(hidden, key, nullptr, nullptr, 0, nullptr, nullptr);
  const std::string private_path =
      folder_.Write(name + ".key", TakeText(hidden));
  EXPECT_EQ(chmod(public_path.c_str(), 0644), 0);
  EXPECT_EQ(chmod(private_path.c_str(), 0600), 0);
}

CertificatePaths SiteAuthority::Issue(const Wish& wish) const {
  const PrivateKey key(MakeKey(wish));
  const Certificate made = Make(wish, key.get(), /*is_ca=*/false);
  WriteFiles(wish.name, made.get(), key.get());
  return {.ca = ca_path(),
          .certificate = folder_ / (wish.name + ".pem"),
          .key = folder_ / (wish.name + ".key")};
}

std::shared_ptr<const Certificates> SiteAuthority::Member(
    const Wish& wish) const {
  std::vector<FileVersion> versions;
  auto out = Certificates::Read(Issue(wish), versions);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *std::move(out) : nullptr;
}

std::string ForgedKey(const std::string& certificate) {
  BIO* const reader = BIO_new_file(certificate.c_str(), "r");
  X509* const read = PEM_read_bio_X509(reader, nullptr, nullptr, nullptr);
  BIO_free(reader);
  unsigned char point[256];
  size_t size = 0;
  EVP_PKEY_get_octet_string_param(X509_get0_pubkey(read),
                                  OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point),
                                  &size);
  X509_free(read);
  BIGNUM* const secret = BN_new();
  BN_set_word(secret, 12345);
  OSSL_PARAM_BLD* const builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME,
                                  "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point,
                                   size);
  OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, secret);
  OSSL_PARAM* const params = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX* const context =
      EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context);
  EXPECT_EQ(EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, params), 1);
  const absl::Cleanup frees = [&] {
    EVP_PKEY_free(key);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    BN_free(secret);
  };
  BIO* const out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  return TakeText(out);
}

}  // namespace dogged
