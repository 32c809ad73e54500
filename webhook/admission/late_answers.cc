#include "webhook/admission/late_answers.h"

#include <optional>
#include <utility>

namespace truce {

// Of one answer; ends with the continuation that would have given it.
class LateAnswers::Seat final {
 public:
  Seat(std::shared_ptr<Guarded<Book>> book, std::uint64_t number)
      : book_(std::move(book)), number_(number) {}
  ~Seat() {
    // Its contents end outside the lock.
    Kept gone;
    book_->With([&](Book& book) {
      const auto found = book.kept.find(number_);
      if (found == book.kept.end()) return;
      gone = std::move(found->second);
      book.kept.erase(found);
    });
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

 private:
  const std::shared_ptr<Guarded<Book>> book_;
  const std::uint64_t number_;
};

bool LateAnswers::Keep(const AdmissionAnswer& answer, Deadline time, const AnswerLater& later) {
  const auto shared = std::make_shared<const AdmissionAnswer>(answer);
  const std::optional<std::uint64_t> number =
      book_->With([&](Book& book) -> std::optional<std::uint64_t> {
        if (book.ended || book.kept.size() >= kLateAnswersMax) return std::nullopt;
        book.kept.emplace(++book.ever, Kept{shared, nullptr});
        return book.ever;
      });
  if (!number) return false;
  const auto seat = std::make_shared<Seat>(book_, *number);
  Resume resume = later(
      time, [shared, seat] { return *shared; }, AnswerWait::kNothing);
  const bool ended = book_->With([&](Book& book) {
    const auto found = book.kept.find(*number);
    if (!book.ended && found != book.kept.end()) found->second.resume = resume;
    return book.ended;
  });
  if (ended) resume([shared] { return *shared; });
  return true;
}

void LateAnswers::EndAll() {
  std::map<std::uint64_t, Kept> kept;
  book_->With([&](Book& book) {
    book.ended = true;
    kept.swap(book.kept);
  });
  for (auto& [number, one] : kept) {
    if (one.resume) one.resume([answer = one.answer] { return *answer; });
  }
}

std::size_t LateAnswers::kept_now() const {
  return book_->With([](const Book& book) { return book.kept.size(); });
}

std::uint64_t LateAnswers::kept_ever() const {
  return book_->With([](const Book& book) { return book.ever; });
}

}  // namespace truce
