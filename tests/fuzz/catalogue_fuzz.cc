// Any bytes as a type file: an error or a catalogue, never a crash; alone and as overrides.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"
#include "registry/catalogue/explain.h"

namespace {

// A catalogue that came out must answer for what it holds.
void Use(const truce::Catalogue& catalogue) {
  for (const truce::TypeSpec& spec : catalogue.types()) {
    if (catalogue.FindType(spec.name) != &spec) std::abort();
    if (truce::Explain(spec).empty()) std::abort();
    for (const truce::KindSpec& kind : spec.kinds) {
      const truce::KindEntry* const entry = catalogue.FindKind(kind.group, kind.kind);
      if (entry == nullptr || entry->type != &spec) std::abort();
    }
    for (const truce::KeyPart& part : spec.parts) {
      static_cast<void>(truce::Normalise(part.normalisers, "arn:aws:s3:::Some/Name."));
    }
  }
}

const truce::Catalogue& Base() {
  static const truce::Catalogue kBase =
      truce::Catalogue::Parse(
          "type\tkinds\tscope\tcertainty\tparts\n"
          "s3/Bucket\t@upjet\tpartition\tresearched\tname=@external-name\n"
          "s3/BucketPolicy\t@upjet\tparent@partition\tresearched\tbucket,ref:s3/Bucket\n",
          "base.tsv")
          .value();
  return kBase;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto catalogue = truce::Catalogue::Parse(text, "fuzz.tsv"); catalogue.ok()) {
    Use(catalogue.value());
  }
  if (const auto changed = Base().WithOverrides(text, "fuzz.tsv"); changed.ok()) {
    Use(changed.value());
  }
  return 0;
}
