#include "webhook/serve/shared/view_exchange.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "registry/ownership/facts.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kView[] = "view";
constexpr char kMark[] = "view.mark";

}  // namespace

Result<void> ViewPublisher::Tell(Store& store, const ToldView& told, Deadline deadline) {
  const Deadline now = std::chrono::steady_clock::now();
  std::string text = ToText(told);
  const bool is_changed = written_ != text;
  if (!is_changed && now < mark_due_) return {};
  // What a write that fails leaves is not known.
  written_.reset();
  if (is_changed) ++texts_;
  const std::string mark = Dump(Json{{"text", server_ + "." + std::to_string(texts_)},
                                     {"sign", server_ + "." + std::to_string(++marks_)}});
  TRUCE_RETURN_IF_ERROR(Administer(store, Timestamp(), deadline, [&](Administration& books) {
    if (is_changed) books.PutSetting(kView, text);
    books.PutSetting(kMark, mark);
  }));
  written_ = std::move(text);
  mark_due_ = now + kMarkEvery;
  return {};
}

Result<bool> ViewReader::Read(const Store& store, Deadline now, Deadline deadline) {
  std::string mark;
  std::string id;
  std::string text;
  const auto read = [&](const Facts& facts) {
    mark = facts.Setting(kMark).value_or("");
    id = TextIn(ParseJson(mark), "text");
    text.clear();
    // The mark costs little, the rest may not.
    if (!id.empty() && id != text_id_) text = facts.Setting(kView).value_or("");
  };
  TRUCE_RETURN_IF_ERROR(store.Read(read, deadline));
  const bool is_first = !mark_.has_value();
  if (mark_ != mark) {
    mark_ = mark;
    if (!is_first) sign_ = now;
  }
  // Nobody has shown a sign since this server began to read.
  if (sign_ == Deadline{} || id.empty()) return false;
  bool is_news = false;
  if (id != text_id_) {
    std::optional<ToldView> told = ToldViewFromText(text);
    if (!told) return Error{ErrorCode::kDataLoss, "what the server that watches tells is no view"};
    told->view.is_told = true;
    told->view.life = life_;
    latest_ = std::move(told);
    text_id_ = id;
    is_news = true;
  }
  life_->Extend(std::min(now + kConfirmed, sign_ + kSign));
  return is_news;
}

}  // namespace truce
