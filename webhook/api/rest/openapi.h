// The description of the REST API.
#ifndef TRUCE_WEBHOOK_API_REST_OPENAPI_H_
#define TRUCE_WEBHOOK_API_REST_OPENAPI_H_

#include <string_view>

namespace truce {

// schema/openapi.yaml, as built in.
std::string_view OpenApiText();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_OPENAPI_H_
