#include "assay/results/networks/trained_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "assay/results/document.h"
#include "assay/results/label_warnings.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

report::Table left_alone_table(const Graph& graph, const std::vector<training::Untrained>& untrained) {
  return table_of("untrained", "Float constants that are not trained", untrained,
                  {{"constant", [&](auto& one) { return graph.value(one.value).name; }},
                   {"shape", [&](auto& one) { return to_string(graph.constant(one.value).shape()); }},
                   {"reason", &training::Untrained::reason}});
}

Message left_alone_notice(const Graph& graph, const std::vector<training::Untrained>& untrained) {
  std::map<std::string, std::vector<std::string>> by_reason;
  bool can_be_trained = false;
  for (const training::Untrained& one : untrained) {
    by_reason[one.reason].push_back(graph.value(one.value).name);
    can_be_trained |= one.can_be_trained;
  }
  std::vector<std::string> kinds;
  for (const auto& [reason, names] : by_reason)
    kinds.push_back(fmt::format("{} ({})", first_of(names), reason));
  const About to_train{"to train one as well, name it or say all",
                       "{also-train=NAME} trains one as well, {also-train=all} all that a gradient reaches"};
  return message("float constants that are not trained: {}{}", joined(kinds, "; "),
                 can_be_trained ? message("; {}", to_train) : "");
}

}  // namespace

void add_trained_constants(report::Document& document, const Graph& graph, const training::Recipe& recipe,
                           const training::ConstantChoice& choice) {
  const training::TrainedConstants constants = training::trained_constants(graph, choice);
  std::int64_t trained = 0;
  std::vector<std::string> operands;
  for (const training::Weight& weight : constants.weights) {
    if (weight.trainable()) trained += graph.constant(weight.value).count();
    if (weight.role == training::Role::operand) operands.push_back(graph.value(weight.value).name);
  }
  document.facts.push_back({"trained", "trained weights", trained, Kind::count});
  if (!operands.empty() && recipe.initialiser != "keep")
    document.notices.push_back(fmt::format(
        "weights that no initialiser draws began as they are in the network: {}", first_of(operands)));
  if (!constants.bodies.empty())
    document.notices.push_back(
        fmt::format("weights in branches and loops are not trained: {}", first_of(constants.bodies)));
  if (constants.untrained.empty()) return;
  document.notices.push_back(left_alone_notice(graph, constants.untrained));
  document.tables.push_back(left_alone_table(graph, constants.untrained));
}

std::vector<report::Warning> last_batch_warnings(const Graph& graph, std::size_t records, std::size_t batch) {
  const bool normalises =
      std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == "BatchNormalization"; });
  if (!normalises || batch < 2 || records % batch != 1) return {};
  return {{"batch-of-one",
           fmt::format("{} training records in batches of {} leave a last batch of one, whose batch "
                       "normalisation is 0 where there is one position, and moves the running statistics",
                       records, batch),
           "choose another size of batches, or leave one record out"}};
}

}  // namespace assay::results
