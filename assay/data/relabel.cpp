#include "assay/data/relabel.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

struct Rule {
  std::int64_t from = 0, to = 0;
  double share = 1;
};

std::int64_t class_of(const std::string& name, const std::vector<std::string>& names,
                      const std::string& rule) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end())
    fail(Fault::usage, "data option relabel={}: no class is named '{}'{}", rule, name,
         did_you_mean(name, names));
  return it - names.begin();
}

Rule parse(const std::string& text, const std::vector<std::string>& names) {
  const std::size_t arrow = text.find('>');
  if (arrow == std::string::npos)
    fail(Fault::usage, "data option relabel={}: FROM>TO:SHARE such as 9>1:0.3", text);
  std::string to = text.substr(arrow + 1);
  Rule rule;
  const std::size_t colon = to.rfind(':');
  if (colon != std::string::npos) {
    rule.share = number_of<double>(std::string_view(to).substr(colon + 1)).value_or(-1);
    if (!(rule.share >= 0 && rule.share <= 1))
      fail(Fault::usage, "data option relabel={}: the share is a number from 0 to 1", text);
    to.resize(colon);
  }
  rule.from = class_of(text.substr(0, arrow), names, text);
  rule.to = class_of(to, names, text);
  return rule;
}

}  // namespace

void relabel(std::vector<std::int64_t>& labels, const std::vector<std::string>& names,
             const std::vector<std::string>& rules, std::uint64_t seed) {
  const std::vector<std::int64_t> before = labels;
  std::set<std::int64_t> done;
  for (const std::string& text : rules) {
    const Rule rule = parse(text, names);
    if (!done.insert(rule.from).second)
      fail(Fault::usage, "data option relabel: class '{}' is relabelled twice", names[rule.from]);
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == rule.from) members.push_back(i);
    }
    const auto count = static_cast<std::size_t>(std::llround(rule.share * members.size()));
    Rng rng(seed, {static_cast<std::uint64_t>(rule.from), static_cast<std::uint64_t>(rule.to)});
    for (const std::size_t m : rng.sample(members.size(), count)) labels[members[m]] = rule.to;
  }
}

}  // namespace assay::inline data
