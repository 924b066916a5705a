#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include <assay/groups.h>
#include "assay/data/characteristics.h"
#include "assay/support/files/toml_file.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::groups {
namespace {

class DomainReader {
 public:
  explicit DomainReader(const std::filesystem::path& file) : file_(file), root_(read_toml(file)) {}

  Domain read() {
    Domain domain{.file = file_.string()};
    for (const auto& [key, node] : root_) {
      const std::string name(key.str());
      if (name == "strength")
        domain.strength = whole(node, 1);
      else if (name == "excluded")
        continue;  // whose names are those of the tables
      else
        domain.axes.push_back(axis(name, node));
    }
    if (domain.axes.empty())
      fail(Fault::usage,
           "{}: no characteristic is declared; write a table such as [weather] with values = "
           "[\"clear\", \"fog\"]",
           file_.string());
    order(domain);
    if (!root_.contains("strength")) domain.strength = std::min<std::size_t>(2, domain.axes.size());
    if (domain.strength > domain.axes.size())
      fail(Fault::usage, "{}: strength = {} combines more characteristics than the {} that are declared",
           file_.string(), domain.strength, domain.axes.size());
    if (const toml::node* const node = root_.get("excluded")) domain.excluded = excluded(*node, domain);
    return domain;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const toml::node& node, fmt::format_string<Parts...> text,
                           Parts&&... parts) const {
    fail(Fault::usage, "{}: {}", place_in(file_, node), fmt::format(text, std::forward<Parts>(parts)...));
  }

  // As they are written: TOML's tables are in the order of the alphabet.
  void order(Domain& domain) const {
    std::ranges::stable_sort(domain.axes, {}, [&](const DomainAxis& axis) {
      return root_.get(axis.characteristic)->source().begin.line;
    });
  }

  double number(const toml::node& node, double least) const {
    const auto value = node.value<double>();
    if (!value || !(*value >= least)) refuse(node, "a number of at least {} is needed", least);
    return *value;
  }

  std::int64_t whole(const toml::node& node, std::int64_t least) const {
    const auto value = node.value<std::int64_t>();
    if (!value || *value < least) refuse(node, "a whole number of at least {} is needed", least);
    return *value;
  }

  DomainAxis axis(const std::string& name, const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr)
      refuse(node, "'{}' is neither strength, excluded, nor a table of a characteristic", name);
    static const std::vector<std::string> known = {"values", "ends", "shares", "tolerance", "least"};
    for (const auto& [key, value] : *table) {
      if (std::ranges::find(known, std::string(key.str())) == known.end())
        refuse(value, "there is no '{}'{}; a characteristic has {}", std::string(key.str()),
               did_you_mean(key.str(), known), joined(known));
    }
    DomainAxis axis{.characteristic = name};
    for (std::string& value : values(*table)) axis.values.push_back({std::move(value), {}});
    if (const toml::node* const shares = table->get("shares")) take_shares(*shares, axis);
    if (const toml::node* const tolerance = table->get("tolerance")) axis.tolerance = number(*tolerance, 0);
    if (const toml::node* const least = table->get("least")) axis.least = whole(*least, 0);
    if (table->contains("tolerance") && !table->contains("shares"))
      refuse(*table->get("tolerance"), "tolerance is about shares, and there are none; add shares = {{...}}");
    return axis;
  }

  // values = ["clear", "fog"], or ends = [0, 18, 65] of the ranges between them.
  std::vector<std::string> values(const toml::table& table) const {
    const toml::node *const values = table.get("values"), *const ends = table.get("ends");
    if ((values == nullptr) == (ends == nullptr))
      refuse(table, "either values = [\"clear\", \"fog\"] or ends = [0, 18, 65] is needed");
    std::vector<std::string> found;
    if (values != nullptr) {
      found = texts_of(file_, *values);
    } else {
      const std::vector<std::string> texts = texts_of(file_, *ends);
      for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
        const auto low = number_of<double>(texts[i]), high = number_of<double>(texts[i + 1]);
        if (!low || !high || !(*low < *high)) refuse(*ends, "ends are ascending numbers such as [0, 18, 65]");
        found.push_back(range_between(*low, *high));
      }
    }
    const std::set<std::string> different(found.begin(), found.end());
    if (found.empty() || different.size() < found.size())
      refuse(table, "there are no values, or two are the same");
    return found;
  }

  void take_shares(const toml::node& node, DomainAxis& axis) const {
    const toml::table* const shares = node.as_table();
    if (shares == nullptr) refuse(node, "shares are by value: shares = {{clear = 0.9, fog = 0.1}}");
    double sum = 0;
    for (const auto& [key, share] : *shares) {
      const auto value = std::ranges::find(axis.values, std::string(key.str()), &DomainValue::value);
      if (value == axis.values.end()) refuse(share, "'{}' is not among the values", std::string(key.str()));
      value->share = number(share, 0);
      sum += *value->share;
    }
    constexpr double rounding = 1e-6;
    const bool all = shares->size() == axis.values.size();
    if (sum > 1 + rounding || (all && sum < 1 - rounding))
      refuse(node, "the shares add up to {:.6g}, not to 1", sum);
  }

  // [[excluded]] weather = "snow", season = "summer"
  std::vector<std::vector<std::pair<std::string, std::string>>> excluded(const toml::node& node,
                                                                         const Domain& domain) const {
    const toml::array* const list = node.as_array();
    if (list == nullptr)
      refuse(node, "write [[excluded]] tables such as weather = \"snow\", season = \"summer\"");
    std::vector<std::vector<std::pair<std::string, std::string>>> all;
    for (const toml::node& entry : *list) {
      const toml::table* const table = entry.as_table();
      if (table == nullptr || table->size() < 2)
        refuse(entry, "an excluded combination has two values at least");
      all.emplace_back();
      for (const auto& [key, value] : *table) {
        all.back().emplace_back(key.str(), text_of(file_, value));
        require_known(value, all.back().back(), domain);
      }
    }
    return all;
  }

  void require_known(const toml::node& node, const std::pair<std::string, std::string>& one,
                     const Domain& domain) const {
    const auto axis = std::ranges::find(domain.axes, one.first, &DomainAxis::characteristic);
    if (axis == domain.axes.end()) refuse(node, "no characteristic '{}' is declared", one.first);
    if (std::ranges::find(axis->values, one.second, &DomainValue::value) == axis->values.end())
      refuse(node, "'{}' is not among the values of '{}'", one.second, one.first);
  }

  std::filesystem::path file_;
  toml::table root_;
};

}  // namespace

Domain read_domain(const std::filesystem::path& file) { return DomainReader(file).read(); }

}  // namespace assay::groups
