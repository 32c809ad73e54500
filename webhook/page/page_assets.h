// The files of the page, as built in.
#ifndef TRUCE_WEBHOOK_PAGE_PAGE_ASSETS_H_
#define TRUCE_WEBHOOK_PAGE_PAGE_ASSETS_H_

#include <span>
#include <string_view>

namespace truce {

struct PageAsset {
  std::string_view name;   // "app.js"
  std::string_view tag;    // changes with the content
  std::string_view plain;  // the content
  std::string_view small;  // the content by gzip
};

// All of webhook/page/assets, and preact.js, the library that they use.
std::span<const PageAsset> PageAssets();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PAGE_PAGE_ASSETS_H_
