// A monitor as C++ source.

#include <fmt/format.h>

#include <cmath>

#include <assay/monitor.h>

namespace assay::monitor {
namespace {

std::string literal(float one) { return fmt::format("{:.9e}f", one); }
std::string literal(std::int64_t one) { return fmt::format("{}", one); }

template <typename T>
std::string numbers_of(const char* type, const char* name, std::span<const T> numbers) {
  constexpr std::size_t in_a_line = 8;
  std::string text = fmt::format("inline constexpr {} {}[{}] = {{", type, name, numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i % in_a_line == 0 ? "\n    " : " ") + literal(numbers[i]) + ",";
  return text + "\n};\n";
}

// What the score of activations compares them with.
std::string learned_numbers(const Monitor& monitor) {
  if (monitor.layer.empty()) return {};
  const auto floats = [](const char* name, const std::vector<float>& numbers) {
    return numbers_of<float>("float", name, numbers);
  };
  const std::string features = fmt::format("inline constexpr int features = {};\n", monitor.features);
  if (monitor.options.score == Score::mdsa)
    return features + floats("means", monitor.means) + floats("whitening", monitor.whitening);
  return features + fmt::format("inline constexpr int count = {};\n", monitor.reference_classes.size()) +
         numbers_of<std::int64_t>("int", "reference_classes", monitor.reference_classes) +
         floats("references", monitor.references) + floats("apart", monitor.apart);
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
    case Score::dsa:
      return "// `activations`: of the layer, the mean over the positions of each neuron.\n"
             "inline float score(const float* scores, const float* activations) {\n"
             "  int named = 0, nearest = -1;\n"
             "  for (int c = 1; c < classes; ++c) named = scores[c] > scores[named] ? c : named;\n"
             "  float least = 0;\n"
             "  for (int r = 0; r < count; ++r) {\n"
             "    if (reference_classes[r] != named) continue;\n"
             "    float sum = 0;\n"
             "    for (int f = 0; f < features; ++f) {\n"
             "      const float away = activations[f] - references[r * features + f];\n"
             "      sum += away * away;\n"
             "    }\n"
             "    if (nearest >= 0 && sum >= least) continue;\n"
             "    nearest = r;\n"
             "    least = sum;\n"
             "  }\n"
             "  return nearest < 0 ? HUGE_VALF : std::sqrt(least) / apart[nearest];\n"
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
      "of them\n// allowed as false alarms). `scores`: of the {} classes, before a softmax{}.\n\n#include "
      "<cmath>\n\n"
      "namespace {} {{\n\ninline constexpr int classes = {};\ninline constexpr float threshold = {:.9e}f;\n",
      to_string(monitor.options.score), monitor.calibration_records, monitor.options.false_alarms,
      monitor.classes,
      monitor.classes == 2 ? "; of a network with one score z (before a sigmoid): -z / 2 and z / 2" : "",
      name, monitor.classes, static_cast<float>(monitor.threshold));
  return text + learned_numbers(monitor) + "\n" + body_of(monitor.options.score) +
         fmt::format("\n}}  // namespace {}\n", name);
}

}  // namespace assay::monitor
