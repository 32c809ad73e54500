#include "certs/certificate_store.h"

#include <mutex>
#include <utility>

#include "registry/base/file.h"
#include "registry/base/guarded.h"
#include "registry/base/worker.h"

namespace truce {
namespace {

// A look at a mounted Secret may fall between the two files of an update; it is taken once more
// before it counts as bad.
constexpr int kReadsMax = 2;

// The contents of all files, to tell whether anything changed.
struct Contents {
  std::string certificate;
  std::string key;
  std::string client_ca;

  bool operator==(const Contents&) const = default;
};

std::string Describe(const CertificateSnapshot& snapshot) {
  std::string text = "serving certificate " + snapshot.pair->fingerprint().substr(0, 16) +
                     ", valid until " + FormatTimestamp(snapshot.pair->not_after()) + ", for";
  for (const std::string& name : snapshot.pair->names()) text += " " + name;
  return text;
}

// A missing file is a mistake in the configuration.
Error AsConfigured(Error error) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kInvalidArgument;
  return error;
}

}  // namespace

struct CertificateStore::Impl {
  Impl(CertificateStoreOptions given, const Clock& given_clock)
      : options(std::move(given)), clock(given_clock) {
    certificate_file = options.certificate_file;
    key_file = options.key_file;
  }

  Result<void> Renew() {
    if (!options.self_signed.has_value()) return {};
    TRUCE_ASSIGN_OR_RETURN(const CertificateFiles files,
                           EnsureSelfSigned(*options.self_signed, clock.Now()));
    certificate_file = files.certificate;
    key_file = files.key;
    if (files.replaced_authority) {
      Tell(
          CertificateEvent::Kind::kNewAuthority,
          "a new authority was made, since the one that was there is damaged or ends soon; whoever "
          "trusts that one, as the webhook configuration's caBundle, must be given \"" +
              files.authority.string() + "\"");
    }
    return {};
  }

  Result<Contents> ReadAll() const {
    Contents contents;
    const auto read = [](const std::filesystem::path& path, std::string& into) -> Result<void> {
      auto text = ReadSmallFile(path);
      if (!text.ok()) return AsConfigured(std::move(text).error());
      into = std::move(text).value();
      return {};
    };
    TRUCE_RETURN_IF_ERROR(read(certificate_file, contents.certificate));
    TRUCE_RETURN_IF_ERROR(read(key_file, contents.key));
    if (!options.client_ca_file.empty()) {
      TRUCE_RETURN_IF_ERROR(read(options.client_ca_file, contents.client_ca));
    }
    return contents;
  }

  Result<CertificateSnapshot> Check(const Contents& contents) const {
    CertificateSnapshot snapshot;
    const std::string origin =
        "certificate \"" + certificate_file.string() + "\" with key \"" + key_file.string() + "\"";
    TRUCE_ASSIGN_OR_RETURN(snapshot.pair, CertificatePair::Parse(contents.certificate, contents.key,
                                                                 origin, clock.Now()));
    if (!options.client_ca_file.empty()) {
      TRUCE_ASSIGN_OR_RETURN(
          snapshot.client,
          ClientAuthority::Parse(contents.client_ca, options.client_names,
                                 "client CA \"" + options.client_ca_file.string() + "\""));
    }
    return snapshot;
  }

  // Reads until the files hold still and are good, or say twice the same bad thing.
  Result<CertificateSnapshot> Load(Contents& contents) const {
    for (int reads = 1;; ++reads) {
      TRUCE_ASSIGN_OR_RETURN(contents, ReadAll());
      auto snapshot = Check(contents);
      if (snapshot.ok() || reads == kReadsMax) return snapshot;
    }
  }

  void Tell(CertificateEvent::Kind kind, std::string message) const {
    if (options.on_event) options.on_event({kind, std::move(message)});
  }

  // Reports a failure the first time that it is met in this form.
  Error Reject(Error error) {
    if (error.message != last_rejected) {
      last_rejected = error.message;
      Tell(CertificateEvent::Kind::kRejected, error.message + "; the one in use stays");
    }
    return error;
  }

  Result<void> Poll() {
    const std::lock_guard<std::mutex> lock(poll_mutex);
    if (auto renewed = Renew(); !renewed.ok()) return Reject(std::move(renewed).error());
    auto read = ReadAll();
    if (read.ok() && read.value() == in_use) {
      last_rejected.clear();
      return {};
    }
    Contents contents;
    auto snapshot = Load(contents);
    if (!snapshot.ok()) return Reject(std::move(snapshot).error());
    last_rejected.clear();
    in_use = std::move(contents);
    const std::string description = Describe(snapshot.value());
    current.With([&](CertificateSnapshot& now) { now = std::move(snapshot).value(); });
    Tell(CertificateEvent::Kind::kSwapped, description);
    return {};
  }

  const CertificateStoreOptions options;
  const Clock& clock;
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;

  std::mutex poll_mutex;  // one poll at a time; guards in_use and last_rejected
  Contents in_use;
  std::string last_rejected;  // message of the last failure told

  Guarded<CertificateSnapshot> current;
  Worker poller{[this]() -> Worker::Rest {
    static_cast<void>(Poll().ok());  // failures were told; the certificates in use stay
    return {In(options.poll_interval)};
  }};
};

CertificateStore::CertificateStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

CertificateStore::~CertificateStore() = default;

Result<std::unique_ptr<CertificateStore>> CertificateStore::Open(CertificateStoreOptions options,
                                                                 const Clock& clock) {
  auto impl = std::make_unique<Impl>(std::move(options), clock);
  TRUCE_RETURN_IF_ERROR(impl->Renew());
  TRUCE_ASSIGN_OR_RETURN(CertificateSnapshot snapshot, impl->Load(impl->in_use));
  impl->current.With([&](CertificateSnapshot& now) { now = std::move(snapshot); });
  if (impl->options.poll_interval.count() > 0) impl->poller.Start();
  return std::unique_ptr<CertificateStore>(new CertificateStore(std::move(impl)));
}

CertificateSnapshot CertificateStore::Current() const {
  return impl_->current.With([](const CertificateSnapshot& now) { return now; });
}

Result<void> CertificateStore::Poll() { return impl_->Poll(); }

}  // namespace truce
