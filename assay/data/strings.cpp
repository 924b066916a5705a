// Procedural strings: statements of a subset of SQL drawn from a probabilistic grammar, and nested
// parentheses. Records are windows of characters with the next character as label
// (docs/algorithms/strings.md). Record i depends on the seed and i alone.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/extend/random.h>
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

// NAME: WEIGHT TEXT | WEIGHT TEXT ..., where <name> stands for a rule. The same language as the grammar in
// docs/algorithms/strings.md.
constexpr std::string_view sql_rules = R"(
query: 1 SELECT <distinct><columns> FROM <tables><where><group><order><limit>;
distinct: 8 | 1 DISTINCT 
columns: 1 * | 3 <column> | 3 <column>, <column> | 2 <column>, <column>, <column>
column: 5 <name> | 2 <table>.<name> | 2 <aggregate>
aggregate: 1 COUNT(*) | 3 <function>(<name>)
function: 1 COUNT | 1 SUM | 1 AVG | 1 MIN | 1 MAX
tables: 4 <table> | 1 <table> JOIN <table> ON <key> = <key> | 1 (<subquery>)
subquery: 1 SELECT <name> FROM <table><where>
key: 1 <table>.<name>
where: 2 | 3  WHERE <condition>
condition: 4 <predicate> | 2 <predicate> AND <predicate> | 1 <predicate> OR <predicate> | 1 NOT <predicate> | 1 (<condition>)
predicate: 4 <name> <comparison> <value> | 1 <name> LIKE <string> | 1 <name> BETWEEN <number> AND <number> | 1 <name> IN (<list>) | 1 <name> IS <null>
comparison: 3 = | 1 < | 1 > | 1 <= | 1 >= | 1 <>
null: 1 NULL | 1 NOT NULL
list: 1 <value> | 1 <value>, <value> | 1 <value>, <value>, <value>
value: 3 <number> | 2 <string>
group: 5 | 1  GROUP BY <name><having>
having: 2 | 1  HAVING <aggregate> > <number>
order: 4 | 1  ORDER BY <name><direction>
direction: 2 | 1  ASC | 1  DESC
limit: 4 | 1  LIMIT <number>
number: 2 <digit> | 2 <digit><digit> | 1 <digit><digit><digit> | 1 <digit>.<digit>
digit: 1 0 | 1 1 | 1 2 | 1 3 | 1 4 | 1 5 | 1 6 | 1 7 | 1 8 | 1 9
string: 1 '<word>'
word: 1 red | 1 blue | 1 north | 1 south | 1 open | 1 closed | 1 low | 1 high | 1 daily
table: 1 users | 1 orders | 1 items | 1 events | 1 sales | 1 cities
name: 1 id | 2 name | 1 age | 2 price | 1 total | 1 date | 1 city | 1 status | 1 score | 1 owner
)";

// The digit in front of each place is how many parentheses are open there, as in Sellam et al.
constexpr std::string_view parentheses_rules = R"(
text: 1 <d0>
d0: 1 0<p0> | 1 0<d0>
p0: 1 (<d1>)0 | 2 (<d1>)0<p0>
d1: 2 1 | 1 1<d1> | 2 1(<d2>)1
d2: 2 2 | 1 2<d2> | 2 2(<d3>)2
d3: 2 3 | 1 3<d3> | 2 3(<d4>)3
d4: 2 4 | 1 4<d4>
)";

class Sampler {
 public:
  explicit Sampler(std::string_view rules) {
    while (!rules.empty()) {
      const std::string_view line = rules.substr(0, rules.find('\n'));
      rules.remove_prefix(std::min(line.size() + 1, rules.size()));
      if (const std::size_t colon = line.find(": "); colon != std::string_view::npos) add(line, colon);
    }
  }

  std::string draw(Rng& rng) const {
    std::string text;
    expand(start_, rng, text);
    return text;
  }

 private:
  struct Alternative {
    double weight;
    std::string_view text;
  };

  void add(std::string_view line, std::size_t colon) {
    const std::string_view name = line.substr(0, colon);
    if (rules_.empty()) start_ = name;
    std::string_view rest = line.substr(colon + 2);
    while (true) {
      const std::size_t bar = rest.find(" | ");
      const std::string_view alternative = rest.substr(0, bar);
      rules_[name].push_back({static_cast<double>(alternative.front() - '0'),
                              alternative.substr(std::min<std::size_t>(2, alternative.size()))});
      if (bar == std::string_view::npos) return;
      rest.remove_prefix(bar + 3);
    }
  }

  void expand(std::string_view name, Rng& rng, std::string& text) const {
    const std::vector<Alternative>& alternatives = rules_.at(name);
    double total = 0;
    for (const Alternative& alternative : alternatives) total += alternative.weight;
    double place = rng.uniform() * total;
    std::size_t chosen = 0;
    while (chosen + 1 < alternatives.size() && place >= alternatives[chosen].weight)
      place -= alternatives[chosen++].weight;
    std::string_view rest = alternatives[chosen].text;
    while (!rest.empty()) {
      const std::size_t close = rest.find('>');
      const std::string_view inside = rest.front() == '<' && close != std::string_view::npos
                                          ? rest.substr(1, close - 1)
                                          : std::string_view();
      if (rules_.contains(inside)) {
        expand(inside, rng, text);
        rest.remove_prefix(close + 1);
      } else {
        text += rest.front();
        rest.remove_prefix(1);
      }
    }
  }

  std::map<std::string_view, std::vector<Alternative>> rules_;
  std::string_view start_;
};

// Tokens: 0 fills windows up at their beginning, others are printable ASCII characters from the space on.
constexpr std::int64_t padding = 0;
std::int64_t token_of(char c) { return c - ' ' + 1; }

class StringSource final : public Source {
 public:
  StringSource(std::string name, std::string_view rules, const DataSpec& spec)
      : name_(std::move(name)), sampler_(rules), seed_(spec.integer("seed", 1)) {
    const std::string_view path = spec.path;
    const std::string_view text = path.starts_with(name_ + ":") ? path.substr(name_.size() + 1) : path;
    count_ = number_of<std::size_t>(text).value_or(0);
    if (count_ < 1 || count_ > 100'000'000) {
      fail(Fault::usage, "data '{}': a count between 1 and 100000000 is needed, as in {}:1000", spec.path,
           name_);
    }
    window_ = spec.integer("window", 30);
    if (window_ < 1 || window_ > 10'000)
      fail(Fault::usage, "data '{}': window={} is not between 1 and 10000", spec.path, window_);
  }

  std::size_t size() const override { return count_; }
  Shape shape() const override { return {window_}; }
  DType dtype() const override { return DType::int64; }
  std::string format() const override { return "procedural " + name_; }

  std::optional<std::int64_t> label(std::size_t index) const override {
    const auto [text, end] = window(index);
    return token_of(text[end]);
  }
  std::vector<std::string> class_names() const override {
    std::vector<std::string> names{"padding"};
    for (char c = ' '; c <= '~'; ++c) names.emplace_back(1, c);
    return names;
  }

  void read(std::size_t index, void* out) const override {
    const auto [text, end] = window(index);
    auto* const tokens = static_cast<std::int64_t*>(out);
    for (std::int64_t k = 0; k < window_; ++k) {
      const std::int64_t position = static_cast<std::int64_t>(end) - window_ + k;
      tokens[k] = position < 0 ? padding : token_of(text[position]);
    }
  }

 private:
  struct Window {
    std::string text;
    std::size_t end;  // the characters before it are the record, the one there is the label
  };
  Window window(std::size_t index) const {
    Rng rng(seed_, {index});
    std::string text = sampler_.draw(rng);
    const std::size_t end = 1 + rng.below(text.size() - 1);
    return {std::move(text), end};
  }

  std::string name_;
  Sampler sampler_;
  std::uint64_t seed_;
  std::size_t count_ = 0;
  std::int64_t window_ = 0;
};

FormatInfo procedural(const std::string& name, std::string_view rules, const std::string& summary) {
  return {name,
          name + ":COUNT[,seed=S][,window=30]: " + summary,
          {"window"},
          [name](const std::filesystem::path& path, std::string_view) {
            return path.string().starts_with(name + ":");
          },
          [name, rules](const DataSpec& spec) -> std::unique_ptr<Source> {
            return std::make_unique<StringSource>(name, rules, spec);
          }};
}

}  // namespace

FormatInfo sql_format() {
  return procedural("sql", sql_rules,
                    "characters of statements of a subset of SQL, with the next one as label");
}

FormatInfo parentheses_format() {
  return procedural("parentheses", parentheses_rules,
                    "characters of nested parentheses with their depth, with the next one as label");
}

}  // namespace assay::inline data
