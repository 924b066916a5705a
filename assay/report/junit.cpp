#include <fmt/format.h>

#include <algorithm>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/report/escape.h"

namespace assay::report {
namespace {

const Cell* provenance(const Document& document, std::string_view key) {
  for (const auto& [found, value] : document.provenance) {
    if (found == key) return &value;
  }
  return nullptr;
}

// xs:dateTime without a zone, which some schemas for JUnit ask for.
std::string timestamp(const Document& document) {
  const Cell* finished = provenance(document, "finished");
  const auto* text = finished == nullptr ? nullptr : std::get_if<std::string>(finished);
  return text == nullptr ? "1970-01-01T00:00:00" : text->substr(0, text->find('Z'));
}

double seconds(const Document& document) {
  const Cell* found = provenance(document, "seconds");
  const auto* value = found == nullptr ? nullptr : std::get_if<double>(found);
  return value == nullptr ? 0 : *value;
}

std::string test_case(const Document& document, const std::string& criterion, const std::string& name,
                      const std::string& failure) {
  const std::string head =
      fmt::format(R"(    <testcase classname="assay.{}.{}" name="{}" time="0")",
                  xml_escaped(document.command), xml_escaped(criterion), xml_escaped(name));
  if (failure.empty()) return head + "/>\n";
  const std::string text = xml_escaped(failure);
  return head + fmt::format(
                    ">\n      <failure type=\"gate\" message=\"{0}\">{0}</failure>\n    </testcase>\n", text);
}

std::string measured_case(const Document& document, const Measurement& m) {
  std::string name = m.criterion + "[layer=" + m.layer;
  if (!m.class_name.empty()) name += ",class=" + m.class_name;
  if (!m.context.empty()) name += ",context=" + m.context;
  name += m.coverable.empty() ? fmt::format("]: {}", m.value)
                              : fmt::format("]: {} of {}", m.covered, m.coverable);
  return test_case(document, m.criterion, name, "");
}

}  // namespace

std::string to_junit(const Document& document) {
  std::string cases;
  std::size_t tests = document.gates.size();
  for (const Gate& gate : document.gates) {
    cases += test_case(document, gate.criterion, gate.text, gate.passed ? "" : described(gate));
  }
  if (document.gates.empty()) {
    const std::vector<Measurement> measurements = measurements_of(document);
    for (const Measurement& m : measurements) cases += measured_case(document, m);
    tests = measurements.size();
  }
  const auto failures = std::count_if(document.gates.begin(), document.gates.end(),
                                      [](const Gate& gate) { return !gate.passed; });
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite id=\"0\" package=\"assay\" name=\"assay {}\" timestamp=\"{}\" hostname=\"localhost\" "
      "tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n    <properties/>\n{}    <system-out>{}</system-out>\n "
      "   <system-err/>\n"
      "  </testsuite>\n</testsuites>\n",
      xml_escaped(document.command), xml_escaped(timestamp(document)), tests, failures, seconds(document),
      cases, xml_escaped(document.headline));
}

}  // namespace assay::report
