#include "certs/trust.h"

#include <openssl/x509_vfy.h>

#include <memory>

#include "certs/openssl_handle.h"

namespace truce {
namespace {

using ContextHandle = std::unique_ptr<X509_STORE_CTX, OpenSslFree<&X509_STORE_CTX_free>>;

struct StackFree {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};

}  // namespace

bool BundleTrusts(std::string_view bundle, const CertificatePair& pair) {
  const std::vector<CertificateHandle> authorities = ReadCertificates(bundle);
  const StoreHandle store(X509_STORE_new());
  const ContextHandle context(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), StackFree> chain(sk_X509_new_null());
  if (authorities.empty() || !store || !context || !chain) return false;
  for (const CertificateHandle& authority : authorities) {
    if (X509_STORE_add_cert(store.get(), authority.get()) != 1) return false;
  }
  for (x509_st* certificate : pair.chain()) {
    if (sk_X509_push(chain.get(), certificate) == 0) return false;
  }
  // The loader of certificates reports expiry; a bundle may name the leaf itself.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN);
  if (X509_STORE_CTX_init(context.get(), store.get(), pair.leaf(), chain.get()) != 1) return false;
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER);
  return X509_verify_cert(context.get()) == 1;
}

}  // namespace truce
