// fill_store DATA_DIR COUNT: makes a registry of COUNT ownerships, as a Truce that has watched a
// cluster for long would hold it.
//
// Every object is identified and seen by the product's own code and written through SqliteStore, so
// rows, texts and indexes are what it writes; only the cluster is made up, and many sights share
// one transaction. Prints, one a line, objects spread over the whole registry for the load to ask
// for:
// "<object name> <uid> <bucket name>".
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"
#include "registry/store/catalogue_change.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/json_document.h"

namespace truce {
namespace {

constexpr std::size_t kBatch = 5000;       // objects in one call of the store
constexpr std::size_t kPrintedMax = 1000;  // objects printed
constexpr std::string_view kCluster = "local";

// A registry without anything: no two objects made here meet.
class NothingKnown final : public Facts {
 public:
  std::vector<ResourceName> Spelt(const KeyText& /*name*/) const override { return {}; }
  std::vector<ResourceName> NamesOf(const ResourceId& /*id*/) const override { return {}; }
  std::optional<Owner> OwnerOf(const ResourceId& /*id*/) const override { return std::nullopt; }
  std::vector<Row> RowsOf(const ResourceId& /*id*/) const override { return {}; }
  std::vector<Row> RowsOfUid(const Uid& /*uid*/) const override { return {}; }
  std::optional<Object> ObjectByUid(const Uid& /*uid*/) const override { return std::nullopt; }
  std::optional<Object> ObjectBySlot(const Slot& /*slot*/) const override { return std::nullopt; }
  std::vector<Object> ChildrenOf(const Slot& /*slot*/) const override { return {}; }
  std::size_t CountReserved(const ReservedRange& /*range*/, const std::set<GroupKind>& /*left_out*/,
                            std::size_t /*limit*/) const override {
    return 0;
  }
  std::uint64_t CountOwned(const OwnedRange& /*range*/) const override { return 0; }
  std::vector<Owner> OwnersOfShape(std::string_view /*shape*/,
                                   std::size_t /*limit*/) const override {
    return {};
  }
  std::vector<Owner> OwnersIn(OwnerList /*list*/, const KeyText& /*after*/,
                              std::size_t /*limit*/) const override {
    return {};
  }
  std::vector<Agreement> AgreementsOf(const ResourceId& /*id*/) const override { return {}; }
  std::optional<Agreement> AgreementById(const PublicId& /*id*/) const override { return {}; }
  std::vector<Agreement> AgreementsAfter(AgreementKind /*kind*/, const PublicId& /*after*/,
                                         std::size_t /*limit*/) const override {
    return {};
  }
  std::vector<TableRow> TableRows(const Table& /*table*/,
                                  const TableRow& /*prefix*/) const override {
    return {};
  }
  std::optional<std::string> Setting(std::string_view /*name*/) const override {
    return std::nullopt;
  }
};

// A bijection of 64-bit numbers (the finaliser of SplitMix64): neighbours end up far apart.
std::uint64_t Scatter(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

std::string Hex(std::uint64_t value, std::size_t digits) {
  std::string out(digits, '0');
  for (auto it = out.rbegin(); it != out.rend(); ++it, value >>= 4) {
    *it = "0123456789abcdef"[value & 15U];
  }
  return out;
}

// Replaces each "$name" of `text`.
std::string Fill(std::string_view text,
                 const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = text.find('$');
    out += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
    for (const auto& [name, value] : values) {
      if (!text.starts_with(name)) continue;
      out += value;
      text.remove_prefix(name.size());
      break;
    }
  }
  return out;
}

constexpr std::string_view kBucket =
    R"({)"
    R"("apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket",)"
    R"("metadata":{"name":"$object","uid":"$uid","resourceVersion":"$version",)"
    R"("creationTimestamp":"2026-05-04T08:15:30Z",)"
    R"("annotations":{"crossplane.io/external-name":"$bucket","truce.dev/contact":"#$service"},)"
    R"("labels":{"app.kubernetes.io/part-of":"$service"},)"
    R"("finalizers":["finalizer.managedresource.crossplane.io"]},)"
    R"("spec":{"deletionPolicy":"Delete","managementPolicies":["*"],)"
    R"("forProvider":{"region":"eu-central-1"},"providerConfigRef":{"name":"prod"}},)"
    R"("status":{"atProvider":{"arn":"arn:aws:s3:::$bucket","id":"$bucket"},)"
    R"("conditions":[{"type":"Ready","status":"True","reason":"Available"},)"
    R"({"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}})";

constexpr std::string_view kQueue =
    R"({)"
    R"("apiVersion":"sqs.aws.m.upbound.io/v1beta1","kind":"Queue",)"
    R"("metadata":{"name":"$object","namespace":"$service","uid":"$uid","resourceVersion":"$version",)"
    R"("creationTimestamp":"2026-05-04T08:15:30Z",)"
    R"("labels":{"app.kubernetes.io/part-of":"$service"},)"
    R"("finalizers":["finalizer.managedresource.crossplane.io"]},)"
    R"("spec":{"managementPolicies":["*"],"forProvider":{"region":"eu-central-1","name":"$object"},)"
    R"("providerConfigRef":{"kind":"ClusterProviderConfig","name":"prod"}},)"
    R"("status":{"atProvider":{"arn":"arn:aws:sqs:eu-central-1:123456789012:$object",)"
    R"("id":"https://sqs.eu-central-1.amazonaws.com/123456789012/$object"},)"
    R"("conditions":[{"type":"Ready","status":"True","reason":"Available"},)"
    R"({"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}})";

// Three of four objects are buckets, cluster-scoped, the fourth is a queue in its team's namespace:
// with an account in its name, and a party of another form.
struct Made {
  GroupKind kind;
  std::string object;
  std::string uid;
  std::string bucket;  // empty: a queue
  Document document;
};

// Object `number` of `count`. Names and uids are spread evenly and ascend with the number: so the
// indexes are filled from left to right, which is many times faster than all over the place.
Made Make(std::uint64_t number, std::uint64_t count) {
  constexpr std::uint64_t kServices = 900;
  const std::uint64_t place = (number << 32) / count;
  const std::uint64_t noise = Scatter(number);
  const std::string service = "service-" + std::to_string(100 + number * kServices / count);
  const std::string label = Hex(place, 8) + Hex(noise, 4);
  Made made;
  made.uid = Hex(place, 8) + "-" + Hex(noise >> 16, 4) + "-4" + Hex(noise >> 32, 3) + "-9" +
             Hex(noise >> 44, 3) + "-" + Hex(Scatter(noise), 12);
  const bool is_queue = number % 4 == 3;
  made.object = service + (is_queue ? "-prod-queue-" : "-prod-artifacts-") + label;
  if (!is_queue) made.bucket = service + "-prod-bucket-" + label;
  made.kind = is_queue ? GroupKind{"sqs.aws.m.upbound.io", "Queue"}
                       : GroupKind{"s3.aws.upbound.io", "Bucket"};
  made.document = DocumentFromJson(
      Fill(is_queue ? kQueue : kBucket, {{"object", made.object},
                                         {"uid", made.uid},
                                         {"version", std::to_string(1000 + number)},
                                         {"bucket", made.bucket},
                                         {"service", service}}));
  return made;
}

class Filler {
 public:
  Filler(SqliteStore& store, std::uint64_t count) : store_(store), count_(count) {
    rules_.cluster = kCluster;
    rules_.catalogue = &Catalogue::BuiltIn();
  }

  Result<void> Run() {
    // As a server of this version leaves it: its next start has no names to look through.
    const auto followed = RespellForCatalogue(
        store_,
        {SpellingOf(*rules_.catalogue), rules_.catalogue->version(), parties_, ids_, clock_.Now()});
    if (!followed.ok()) return followed.error();
    const std::uint64_t step = count_ < kPrintedMax ? 1 : count_ / kPrintedMax;
    for (std::uint64_t number = 0; number < count_; ++number) {
      const Made made = Make(number, count_);
      Add(made);
      if (number % step == 0 && !made.bucket.empty()) {
        std::printf("%s %s %s\n", made.object.c_str(), made.uid.c_str(), made.bucket.c_str());
      }
      if (changes_.put_owners.size() >= kBatch) TRUCE_RETURN_IF_ERROR(Flush());
    }
    TRUCE_RETURN_IF_ERROR(Flush());
    return WaitForWriting();
  }

 private:
  void Add(const Made& made) {
    const ObjectFacts facts = Identify(made.document.root(), made.kind, rules_);
    Ledger ledger(nothing_, clock_.Now(), ids_, parties_);
    See(facts, false, ledger);
    Changes changes = ledger.Take();
    Append(changes.put_rows, changes_.put_rows);
    Append(changes.put_owners, changes_.put_owners);
    Append(changes.put_objects, changes_.put_objects);
    Append(changes.put_names, changes_.put_names);
    Append(changes.audit, changes_.audit);
  }

  template <typename T>
  static void Append(std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  // The former batch is being written while this one was made.
  Result<void> Flush() {
    TRUCE_RETURN_IF_ERROR(WaitForWriting());
    writing_ = std::async(std::launch::async, [this, changes = std::exchange(changes_, {})] {
      const auto decide = [&changes](const Facts& /*facts*/) { return changes; };
      return store_.Apply({}, decide, std::chrono::steady_clock::now() + std::chrono::minutes(5));
    });
    return {};
  }

  Result<void> WaitForWriting() { return writing_.valid() ? writing_.get() : Result<void>(); }

  SqliteStore& store_;
  const std::uint64_t count_;
  const SystemClock clock_{};
  const NothingKnown nothing_{};
  const PartyRules parties_{};
  IdentityRules rules_;
  Changes changes_;
  std::future<Result<void>> writing_;
  std::uint64_t last_id_ = 0;
  const IdSource ids_ = [this] {
    // In the order of their making, as those of the product.
    constexpr std::uint64_t kStep = 0x2000;
    ++last_id_;
    std::uint64_t number = kStep * last_id_ + Scatter(last_id_) % kStep;
    PublicId id{std::string(13, '2')};
    for (auto digit = id.text.rbegin(); digit != id.text.rend(); ++digit, number >>= 5) {
      *digit = "234567abcdefghijklmnopqrstuvwxyz"[number & 31U];
    }
    return id;
  };
};

int Main(const std::string& data_dir, std::string_view count_text) {
  std::uint64_t count = 0;
  const char* end = count_text.data() + count_text.size();
  const auto parsed = std::from_chars(count_text.data(), end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    std::fputs("usage: fill_store DATA_DIR COUNT\n", stderr);
    return 2;
  }
  SqliteOptions options;
  options.data_dir = data_dir;
  options.full_check = false;
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options);
  Result<void> filled = store.ok() ? Result<void>() : Result<void>(store.error());
  if (filled.ok()) filled = Filler(*store.value(), count).Run();
  if (filled.ok()) return 0;
  std::fprintf(stderr, "fill_store: %s\n", filled.error().message.c_str());
  return 1;
}

}  // namespace
}  // namespace truce

int main(int argc, char** argv) {
  if (argc != 3) return truce::Main("", "");
  return truce::Main(argv[1], argv[2]);
}
