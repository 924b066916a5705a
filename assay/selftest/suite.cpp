#include "assay/selftest/suite.h"

#include <nlohmann/json.hpp>
#include <optional>

#include <assay/error.h>
#include "assay/support/text/base64.h"

// The suite's bytes, put into the library by the assembler.
asm(R"(
  .section .rodata
  .global assay_selftest_suite_begin
  .global assay_selftest_suite_end
assay_selftest_suite_begin:
  .incbin ")" ASSAY_SELFTEST_SUITE R"("
assay_selftest_suite_end:
  .byte 0
  .previous
)");
extern "C" const char assay_selftest_suite_begin[], assay_selftest_suite_end[];

namespace assay::selftest {
namespace {

using nlohmann::json;

report::Cell cell_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

Position position_of(const json& at) {
  Position position{at.value("table", ""), {}, at.value("column", "")};
  const json row = at.value("row", json::object());
  for (const auto& [column, value] : row.items()) position.row.emplace_back(column, value.get<std::string>());
  return position;
}

Check check_of(const json& one) {
  return {one.at("name"),
          one.at("functions"),
          position_of(one.value("at", json::object())),
          cell_of(one.at("expected")),
          one.value("tolerance", 0.0),
          one.at("source")};
}

Case case_of(const json& one) {
  Case made{one.at("name"), one.at("page"), one.at("command"), {}, one.value("refused", false), {}};
  for (const auto& [flag, values] : one.at("flags").items())
    made.flags.emplace_back(flag, values.get<std::vector<std::string>>());
  for (const json& check : one.at("checks")) made.checks.push_back(check_of(check));
  return made;
}

std::string bytes_of(const json& file, const std::string& name) {
  if (file.contains("text")) return file.at("text");
  const std::optional<std::string> bytes = bytes_of_base64(file.at("base64").get<std::string>());
  if (!bytes) fail(Fault::data, "file '{}' of the suite is not base64; make the suite again", name);
  return *bytes;
}

}  // namespace

Suite read_suite(std::string_view text, const std::string& name) {
  try {
    const json document = json::parse(text);
    Suite suite;
    for (const auto& [program, version] : document.at("programs").items())
      suite.programs.emplace_back(program, version.get<std::string>());
    for (const auto& [file, content] : document.at("files").items())
      suite.files.emplace(file, bytes_of(content, file));
    for (const json& one : document.at("cases")) suite.cases.push_back(case_of(one));
    suite.not_covered = document.at("not_covered").get<std::map<std::string, std::string>>();
    return suite;
  } catch (const json::exception& error) {
    fail(Fault::data,
         "{} is not a suite of checks: {}; docs/qualification.md says how to get one as an example", name,
         error.what());
  }
}

std::string_view built_in_suite() {
  return {assay_selftest_suite_begin,
          static_cast<std::size_t>(assay_selftest_suite_end - assay_selftest_suite_begin)};
}

}  // namespace assay::selftest
