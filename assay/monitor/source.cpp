// A monitor as C++ source.

#include <fmt/format.h>

#include <cmath>

#include <assay/monitor.h>

namespace assay::monitor {
namespace {

std::string numbers_of(const char* name, std::span<const float> numbers) {
  constexpr std::size_t in_a_line = 8;
  std::string text = fmt::format("inline constexpr float {}[{}] = {{", name, numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{:.9e}f,", i % in_a_line == 0 ? "\n    " : " ", numbers[i]);
  return text + "\n};\n";
}

const char* body_of(Score score) {
  switch (score) {
    case Score::max_logit:
      return "inline float score(const float* scores) {\n"
             "  float top = scores[0];\n"
             "  for (int c = 1; c < classes; ++c) top = scores[c] > top ? scores[c] : top;\n"
             "  return -top;\n"
             "}\n\n"
             "inline bool alarm(const float* scores) { return !(score(scores) <= threshold); }\n";
    case Score::energy:
      return "inline float score(const float* scores) {\n"
             "  float top = scores[0], sum = 0;\n"
             "  for (int c = 1; c < classes; ++c) top = scores[c] > top ? scores[c] : top;\n"
             "  for (int c = 0; c < classes; ++c) sum += std::exp(scores[c] - top);\n"
             "  return -(std::log(sum) + top);\n"
             "}\n\n"
             "inline bool alarm(const float* scores) { return !(score(scores) <= threshold); }\n";
    case Score::mdsa:
      return "// `activations`: of the layer, the mean over the positions of each neuron.\n"
             "inline float score(const float* scores, const float* activations) {\n"
             "  int named = 0;\n"
             "  for (int c = 1; c < classes; ++c) named = scores[c] > scores[named] ? c : named;\n"
             "  float sum = 0;\n"
             "  for (int b = 0; b < features; ++b) {\n"
             "    float white = 0;\n"
             "    for (int a = 0; a < features; ++a)\n"
             "      white += (activations[a] - means[named * features + a]) * whitening[a * features + b];\n"
             "    sum += white * white;\n"
             "  }\n"
             "  return std::sqrt(sum);\n"
             "}\n\n"
             "inline bool alarm(const float* scores, const float* activations) {\n"
             "  return !(score(scores, activations) <= threshold);\n"
             "}\n";
  }
  return "";
}

}  // namespace

std::string to_source(const Monitor& monitor, const std::string& name) {
  std::string text = fmt::format(
      "#pragma once\n\n// Monitor by {}: an alarm is a record unlike those that the threshold was set with "
      "({} records, {:g} "
      "of them\n// allowed as false alarms). `scores`: of the {} classes, before a softmax.\n\n#include "
      "<cmath>\n\n"
      "namespace {} {{\n\ninline constexpr int classes = {};\ninline constexpr float threshold = {:.9e}f;\n",
      to_string(monitor.options.score), monitor.calibration_records, monitor.options.false_alarms,
      monitor.classes, name, monitor.classes, static_cast<float>(monitor.threshold));
  if (monitor.options.score == Score::mdsa)
    text += fmt::format("inline constexpr int features = {};\n", monitor.features) +
            numbers_of("means", monitor.means) + numbers_of("whitening", monitor.whitening);
  return text + "\n" + body_of(monitor.options.score) + fmt::format("\n}}  // namespace {}\n", name);
}

}  // namespace assay::monitor
