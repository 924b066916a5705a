#include "assay/inspection/symbols/annotations.h"

#include <charconv>
#include <limits>

namespace assay::inspection {

std::size_t record_number(const Dataset& dataset, std::size_t index) {
  const std::string id = dataset.id(index);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  return error == std::errc() && end == id.data() + id.size() ? number : index;
}

std::vector<Hypothesis> class_hypotheses(const std::string& name, const std::vector<std::string>& classes) {
  std::vector<Hypothesis> all{{name, BehaviourKind::categorical, classes}};
  for (const std::string& one : classes) all.push_back({name + ":" + one});
  return all;
}

void append_classes(std::vector<float>& values, const std::vector<std::optional<std::size_t>>& codes,
                    std::size_t classes) {
  const float unknown = std::numeric_limits<float>::quiet_NaN();
  for (const auto& code : codes) values.push_back(code ? static_cast<float>(*code) : unknown);
  for (std::size_t c = 0; c < classes; ++c) {
    for (const auto& code : codes) values.push_back(!code ? unknown : *code == c ? 1.0F : 0.0F);
  }
}

}  // namespace assay::inspection
