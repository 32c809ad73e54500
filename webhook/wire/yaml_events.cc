#include "webhook/wire/yaml_events.h"

#include <yaml.h>

#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

std::string_view ToView(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

}  // namespace

// The parser and one pending event, freed in the right order.
struct YamlEvents::Impl {
  explicit Impl(std::string given) : name(std::move(given)) {
    yaml_parser_initialize(&parser);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  }
  ~Impl() {
    Drop();
    yaml_parser_delete(&parser);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Drop() {
    if (pending) yaml_event_delete(&event);
    pending = false;
  }

  static int Read(void* self, unsigned char* buffer, std::size_t size, std::size_t* got) {
    *got = static_cast<Impl*>(self)->source(reinterpret_cast<char*>(buffer), size);
    return 1;
  }

  // Line of the fault, and what it is.
  std::pair<int, std::string> Fault() const {
    if (parser.error == YAML_READER_ERROR) {
      return {static_cast<int>(parser.mark.line) + 1,
              "byte " + std::to_string(parser.problem_offset) + ": " +
                  (parser.problem != nullptr ? parser.problem : "cannot be read")};
    }
    std::string what = parser.problem != nullptr ? parser.problem : "out of memory";
    if (parser.context != nullptr) what.append(" (").append(parser.context).append(")");
    if (what.find("cannot start any token") != std::string::npos) {
      what += "; indent with spaces, and put text with special characters in quotes";
    }
    return {static_cast<int>(parser.problem_mark.line) + 1, std::move(what)};
  }

  std::string name;
  YamlSource source;
  yaml_parser_t parser{};
  yaml_event_t event{};
  bool pending = false;
};

YamlEvents::YamlEvents(std::string_view text, std::string name)
    : impl_(std::make_unique<Impl>(std::move(name))) {
  yaml_parser_set_input_string(&impl_->parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
}

YamlEvents::YamlEvents(YamlSource source, std::string name)
    : impl_(std::make_unique<Impl>(std::move(name))) {
  impl_->source = std::move(source);
  yaml_parser_set_input(&impl_->parser, &Impl::Read, impl_.get());
}

YamlEvents::~YamlEvents() = default;

Result<void> YamlEvents::Next() {
  impl_->Drop();
  if (yaml_parser_parse(&impl_->parser, &impl_->event) == 0) {
    const auto [line, what] = impl_->Fault();
    return Fail(line, what);
  }
  impl_->pending = true;
  return {};
}

YamlEvents::Kind YamlEvents::kind() const {
  switch (impl_->event.type) {
    case YAML_STREAM_START_EVENT: return Kind::kStreamStart;
    case YAML_NO_EVENT:
    case YAML_STREAM_END_EVENT: return Kind::kStreamEnd;
    case YAML_DOCUMENT_START_EVENT: return Kind::kDocumentStart;
    case YAML_DOCUMENT_END_EVENT: return Kind::kDocumentEnd;
    case YAML_SCALAR_EVENT: return Kind::kScalar;
    case YAML_SEQUENCE_START_EVENT: return Kind::kSequenceStart;
    case YAML_SEQUENCE_END_EVENT: return Kind::kSequenceEnd;
    case YAML_MAPPING_START_EVENT: return Kind::kMappingStart;
    case YAML_MAPPING_END_EVENT: return Kind::kMappingEnd;
    case YAML_ALIAS_EVENT: return Kind::kAlias;
  }
  return Kind::kStreamEnd;
}

YamlLocation YamlEvents::Location() const {
  return {static_cast<int>(impl_->event.start_mark.line) + 1,
          static_cast<int>(impl_->event.start_mark.column) + 1};
}

std::string_view YamlEvents::scalar() const {
  if (kind() != Kind::kScalar) return {};
  const auto& data = impl_->event.data.scalar;
  return {reinterpret_cast<const char*>(data.value), data.length};
}

bool YamlEvents::plain() const {
  return kind() == Kind::kScalar && impl_->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

std::string_view YamlEvents::anchor() const {
  switch (kind()) {
    case Kind::kScalar: return ToView(impl_->event.data.scalar.anchor);
    case Kind::kSequenceStart: return ToView(impl_->event.data.sequence_start.anchor);
    case Kind::kMappingStart: return ToView(impl_->event.data.mapping_start.anchor);
    case Kind::kAlias: return ToView(impl_->event.data.alias.anchor);
    case Kind::kStreamStart:
    case Kind::kStreamEnd:
    case Kind::kDocumentStart:
    case Kind::kDocumentEnd:
    case Kind::kSequenceEnd:
    case Kind::kMappingEnd: break;
  }
  return {};
}

std::string_view YamlEvents::tag() const {
  switch (kind()) {
    case Kind::kScalar: return ToView(impl_->event.data.scalar.tag);
    case Kind::kSequenceStart: return ToView(impl_->event.data.sequence_start.tag);
    case Kind::kMappingStart: return ToView(impl_->event.data.mapping_start.tag);
    case Kind::kStreamStart:
    case Kind::kStreamEnd:
    case Kind::kDocumentStart:
    case Kind::kDocumentEnd:
    case Kind::kSequenceEnd:
    case Kind::kMappingEnd:
    case Kind::kAlias: break;
  }
  return {};
}

Error YamlEvents::Fail(int line, std::string_view what) const {
  std::string message = impl_->name;
  message.append(":").append(std::to_string(line)).append(": ").append(what);
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

}  // namespace truce
