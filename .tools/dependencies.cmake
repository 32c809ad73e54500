# Third-party libraries, each as one imported target truce::<name> (or OpenSSL::*, Threads::Threads,
# GTest::*). Imported targets are SYSTEM: their headers are exempt from Truce's warnings.

include(GoogleTest)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(GTest REQUIRED)
find_package(simdjson REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED CONFIG)
find_package(fmt 9 REQUIRED CONFIG)
find_package(spdlog 1.10 REQUIRED CONFIG)
find_package(CLI11 2.1 REQUIRED CONFIG)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)

add_library(truce::simdjson ALIAS simdjson::simdjson)
add_library(truce::json ALIAS nlohmann_json::nlohmann_json)
add_library(truce::fmt ALIAS fmt::fmt)
add_library(truce::spdlog ALIAS spdlog::spdlog)
add_library(truce::cli11 ALIAS CLI11::CLI11)
add_library(truce::yaml ALIAS PkgConfig::yaml)
add_library(truce::re2 ALIAS PkgConfig::re2)
