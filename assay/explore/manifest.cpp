#include "assay/explore/manifest.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/support/files/file.h"

namespace assay::explore {

void write_manifest(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                    const std::vector<Finding>& findings, const StoredFindings& stored,
                    const Plausibility* plausibility, const std::filesystem::path& file) {
  const std::vector<std::string> names = names_of(findings, seeds);
  nlohmann::json entries = nlohmann::json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Finding& finding = findings[i];
    nlohmann::json outputs = nlohmann::json::object(), gained = nlohmann::json::object();
    for (std::size_t k = 0; k < networks.size(); ++k) {
      nlohmann::json& own = outputs[networks[k].name] = nlohmann::json::object();
      if (!finding.items) own["outputs"] = finding.outputs[k];
      if (!finding.classes.empty()) own["class"] = finding.classes[k];
      if (finding.gained.size() > k && finding.gained[k]) gained[networks[k].name] = *finding.gained[k];
    }
    nlohmann::json entry{
        {"id", names[i]},
        {"row", i},
        {"seed", seeds.id(finding.seed)},
        {"networks", std::move(outputs)},
        {"gained", std::move(gained)},
        {"iterations", finding.iterations},
        {"pass", finding.pass},
        {"distance", {{"l0", finding.l0}, {"l1", finding.l1}, {"l2", finding.l2}, {"linf", finding.linf}}},
        {"seed_differs", finding.differing}};
    if (!finding.differing) entry["pushed"] = networks[finding.target].name;
    if (seeds.has_labels()) entry["seed_label"] = seeds.label(finding.seed);
    if (finding.majority) entry["label"] = *finding.majority;
    if (finding.items)
      entry["items_differing"] = finding.items->differing;
    else if (finding.median)
      entry["label"] = *finding.median;
    if (plausibility != nullptr) {
      if (std::isfinite(plausibility->surprise[i])) entry["surprise"] = plausibility->surprise[i];
      entry["implausible"] = static_cast<bool>(plausibility->implausible[i]);
    }
    entries.push_back(std::move(entry));
  }
  nlohmann::json names_json = nlohmann::json::array();
  for (const ExploredNetwork& network : networks)
    names_json.push_back({{"name", network.name}, {"hash", network.session->graph().hash()}});
  const nlohmann::json manifest{{"schema", "assay/findings"}, {"version", 1},
                                {"data", stored.data},        {"seeds", seeds.describe()},
                                {"networks", names_json},     {"findings", entries}};
  write_file(file, manifest.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace assay::explore
