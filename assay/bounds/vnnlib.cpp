// VNN-LIB, a subset of SMT-LIB: what has to be true of a counterexample.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include <assay/bounds.h>
#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/text/parse.h"

namespace assay::bounds {
namespace {

constexpr std::size_t most_cases = 100'000, most_depth = 200, most_variables = 100'000'000;

// A word, or a list in brackets.
struct Expression {
  std::string_view word;
  std::vector<Expression> parts;
  std::size_t line = 1;
  bool is_list() const { return word.empty(); }
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool at_end() {
    skip();
    return rest_.empty();
  }
  Expression next(std::size_t depth = 0) {
    skip();
    if (rest_.empty()) refuse(line_, "it ends within brackets");
    if (depth > most_depth) refuse(line_, "its brackets are nested too deeply");
    Expression found{.word = {}, .parts = {}, .line = line_};
    if (rest_.front() == ')') refuse(line_, "a bracket is closed that is not open");
    if (rest_.front() != '(') {
      const std::size_t end = std::min(rest_.find_first_of("(); \t\r\n"), rest_.size());
      found.word = rest_.substr(0, end);
      rest_.remove_prefix(end);
      return found;
    }
    rest_.remove_prefix(1);
    while (!at_end() && rest_.front() != ')') found.parts.push_back(next(depth + 1));
    if (rest_.empty()) refuse(found.line, "a bracket is not closed");
    rest_.remove_prefix(1);
    return found;
  }
  [[noreturn]] void refuse(std::size_t line, std::string_view fault) const {
    fail(Fault::data,
         "{}, line {}: {}; of VNN-LIB 1 are read: (declare-const X_0 Real), (declare-fun X_0 () Real), "
         "(assert ...), and, or, <=, >=, +, -, *",
         name_, line, fault);
  }

 private:
  void skip() {
    while (!rest_.empty()) {
      if (rest_.front() == ';') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (std::isspace(byte_of(rest_.front())) != 0) {
        line_ += rest_.front() == '\n';
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  std::string_view rest_;
  const std::string& name_;
  std::size_t line_ = 1;
};

// A linear function of inputs and outputs.
struct Linear {
  std::vector<std::pair<std::size_t, double>> inputs, outputs;
  double constant = 0;
  std::size_t line = 1;  // of a condition

  void add(const Linear& other, double factor) {
    for (const auto& [i, one] : other.inputs) inputs.emplace_back(i, factor * one);
    for (const auto& [i, one] : other.outputs) outputs.emplace_back(i, factor * one);
    constant += factor * other.constant;
  }
  bool is_constant() const { return inputs.empty() && outputs.empty(); }
};

// Alternatives, each a list of functions that are at most 0.
using Alternatives = std::vector<std::vector<Linear>>;

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : reader_(text, name) {}

  Query parse() {
    Alternatives all{{}};
    while (!reader_.at_end()) {
      const Expression one = reader_.next();
      if (!one.is_list()) reader_.refuse(one.line, fmt::format("'{}' stands outside of brackets", one.word));
      const std::string_view what = head(one);
      if (what == "declare-const" || what == "declare-fun")
        declare(one);
      else if (what == "assert" && one.parts.size() == 2)
        all = both(std::move(all), condition(one.parts[1]), one.line);
      else if (what != "set-logic" && what != "check-sat" && what != "get-model" && what != "exit")
        reader_.refuse(one.line, fmt::format("'{}' is not known", what));
    }
    return query(all);
  }

 private:
  std::string_view head(const Expression& list) const {
    if (list.parts.empty()) reader_.refuse(list.line, "brackets hold nothing");
    return list.parts[0].word;
  }

  void declare(const Expression& one) {
    const bool is_function = one.parts[0].word == "declare-fun";
    if (one.parts.size() != (is_function ? 4U : 3U) || one.parts.back().word != "Real")
      reader_.refuse(one.line, is_function ? "'declare-fun' is not as in (declare-fun X_0 () Real)"
                                           : "'declare-const' is not as in (declare-const X_0 Real)");
    if (is_function && (!one.parts[2].is_list() || !one.parts[2].parts.empty()))
      reader_.refuse(one.line, fmt::format("'declare-fun' gives {} parameters, and only constants are known",
                                           one.parts[1].word));
    const auto [input, index] = variable(one.parts[1]);
    std::size_t& count = input ? query_.inputs : query_.outputs;
    if (index != count)
      reader_.refuse(one.line, fmt::format("{} is declared where {}_{} is next", one.parts[1].word,
                                           input ? 'X' : 'Y', count));
    ++count;
  }

  // Whether X_i or Y_i, and i.
  std::pair<bool, std::size_t> variable(const Expression& one) const {
    const auto index = one.word.size() > 2 ? number_of<std::size_t>(one.word.substr(2)) : std::nullopt;
    if ((!one.word.starts_with("X_") && !one.word.starts_with("Y_")) || !index || *index >= most_variables)
      reader_.refuse(one.line, fmt::format("'{}' is not a variable X_0, Y_0, ...", one.word));
    return {one.word[0] == 'X', *index};
  }

  Alternatives condition(const Expression& one) const {
    if (!one.is_list()) reader_.refuse(one.line, fmt::format("'{}' is not a condition", one.word));
    const std::string_view what = head(one);
    if (what == "and") {
      Alternatives all{{}};
      for (std::size_t i = 1; i < one.parts.size(); ++i)
        all = both(std::move(all), condition(one.parts[i]), one.line);
      return all;
    }
    if (what == "or") {
      Alternatives all;
      for (std::size_t i = 1; i < one.parts.size(); ++i)
        for (std::vector<Linear>& alternative : condition(one.parts[i]))
          all.push_back(std::move(alternative));
      return all;
    }
    if ((what != "<=" && what != ">=") || one.parts.size() != 3)
      reader_.refuse(one.line, fmt::format("'{}' is not a condition of two terms", what));
    Linear difference = term(one.parts[1]);
    difference.add(term(one.parts[2]), -1);
    difference.line = one.line;
    if (what == "<=") return {{difference}};
    Linear negated;
    negated.add(difference, -1);
    negated.line = one.line;
    return {{negated}};
  }

  Alternatives both(Alternatives a, const Alternatives& b, std::size_t line) const {
    if (a.size() * b.size() > most_cases)
      reader_.refuse(line, fmt::format("it has more than {} cases", most_cases));
    if (a.size() == 1 && b.size() == 1) {
      a[0].insert(a[0].end(), b[0].begin(), b[0].end());
      return a;
    }
    Alternatives all;
    for (const auto& one : a)
      for (const auto& other : b) {
        all.push_back(one);
        all.back().insert(all.back().end(), other.begin(), other.end());
      }
    return all;
  }

  Linear term(const Expression& one) const {
    if (!one.is_list()) return atom(one);
    const std::string_view what = head(one);
    Linear sum;
    if (what == "*") return product(one);
    if ((what != "+" && what != "-") || one.parts.size() < 2)
      reader_.refuse(one.line, fmt::format("'{}' is not a linear term", what));
    for (std::size_t i = 1; i < one.parts.size(); ++i)
      sum.add(term(one.parts[i]), what == "-" && (i > 1 || one.parts.size() == 2) ? -1 : 1);
    return sum;
  }

  Linear product(const Expression& one) const {
    Linear made;
    made.constant = 1;
    for (std::size_t i = 1; i < one.parts.size(); ++i) {
      const Linear next = term(one.parts[i]);
      if (!made.is_constant() && !next.is_constant())
        reader_.refuse(one.line, "a product of variables is not linear");
      Linear scaled;
      scaled.add(made.is_constant() ? next : made, made.is_constant() ? made.constant : next.constant);
      made = std::move(scaled);
    }
    return made;
  }

  Linear atom(const Expression& one) const {
    Linear made;
    if (const auto number = number_of<double>(one.word)) {
      made.constant = *number;
      return made;
    }
    const auto [input, index] = variable(one);
    if (index >= (input ? query_.inputs : query_.outputs))
      reader_.refuse(one.line, fmt::format("{} is not declared", one.word));
    (input ? made.inputs : made.outputs).emplace_back(index, 1.0);
    return made;
  }

  Query query(const Alternatives& all) {
    if (query_.inputs == 0 || query_.outputs == 0)
      reader_.refuse(1, "no inputs X_0, ... or no outputs Y_0, ... are declared");
    if (all.size() * query_.inputs > most_variables)
      reader_.refuse(1, fmt::format("its cases have more than {} intervals together", most_variables));
    for (const std::vector<Linear>& conditions : all) query_.cases.push_back(case_of(conditions));
    // An interval that nothing is in has no counterexample.
    query_.empty_cases = std::erase_if(query_.cases, [](const Case& one) {
      for (std::size_t i = 0; i < one.box.low.size(); ++i)
        if (one.box.low[i] > one.box.high[i]) return true;
      return false;
    });
    return std::move(query_);
  }

  Case case_of(const std::vector<Linear>& conditions) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Case made{
        .box = {std::vector<double>(query_.inputs, -infinity), std::vector<double>(query_.inputs, infinity)},
        .constraints = {}};
    for (const Linear& one : conditions) {
      if (one.inputs.empty() || !one.outputs.empty()) {
        if (!one.inputs.empty()) reader_.refuse(one.line, "a condition relates inputs and outputs");
        made.constraints.push_back({.terms = one.outputs, .limit = -one.constant});
        continue;
      }
      if (one.inputs.size() != 1 || one.inputs[0].second == 0)
        reader_.refuse(one.line, "a condition on inputs is more than a number that bounds one of them");
      const auto [i, factor] = one.inputs[0];
      const double bound = -one.constant / factor;
      if (factor > 0)
        made.box.high[i] = std::min(made.box.high[i], bound);
      else
        made.box.low[i] = std::max(made.box.low[i], bound);
    }
    for (std::size_t i = 0; i < query_.inputs; ++i)
      if (std::isinf(made.box.low[i]) || std::isinf(made.box.high[i]))
        reader_.refuse(1, fmt::format("X_{} has no bounds on both sides", i));
    return made;
  }

  Reader reader_;
  Query query_;
};

std::string term_text(const Constraint& constraint) {
  std::string sum;
  for (const auto& [output, factor] : constraint.terms)
    sum += factor == 1 ? fmt::format(" Y_{}", output) : fmt::format(" (* {} Y_{})", factor, output);
  return constraint.terms.size() == 1 ? sum.substr(1) : fmt::format("(+{})", sum);
}

// As tools of the competition read it: two outputs compared, or one with a number.
std::string constraint_text(const Constraint& constraint) {
  const auto& terms = constraint.terms;
  if (terms.size() == 2 && constraint.limit == 0 && terms[0].second == 1 && terms[1].second == -1)
    return fmt::format("(<= Y_{} Y_{})", terms[0].first, terms[1].first);
  if (terms.size() == 1 && terms[0].second == -1)
    return fmt::format("(>= Y_{} {})", terms[0].first, -constraint.limit + 0.0);
  return fmt::format("(<= {} {})", term_text(constraint), constraint.limit);
}

std::string bounds_text(std::size_t i, const Box& box) {
  return fmt::format("(<= X_{0} {1}) (>= X_{0} {2})", i, box.high[i], box.low[i]);
}

}  // namespace

Query parse_vnnlib(const std::string& text, const std::string& name) { return Parser(text, name).parse(); }

std::string to_vnnlib(const Query& query, const std::string& comment) {
  std::string text;
  for (const std::string& line : parts_of(comment, "\n")) text += "; " + line + "\n";
  for (std::size_t i = 0; i < query.inputs; ++i) text += fmt::format("(declare-const X_{} Real)\n", i);
  for (std::size_t i = 0; i < query.outputs; ++i) text += fmt::format("(declare-const Y_{} Real)\n", i);
  const bool one_box = std::ranges::all_of(query.cases, [&](const Case& one) {
    return one.box.low == query.cases[0].box.low && one.box.high == query.cases[0].box.high;
  });
  if (one_box && !query.cases.empty()) {
    for (std::size_t i = 0; i < query.inputs; ++i)
      text += fmt::format("(assert (<= X_{0} {1}))\n(assert (>= X_{0} {2}))\n", i, query.cases[0].box.high[i],
                          query.cases[0].box.low[i]);
  }
  text += "(assert (or\n";
  for (const Case& one : query.cases) {
    text += "  (and";
    for (std::size_t i = 0; !one_box && i < query.inputs; ++i) text += " " + bounds_text(i, one.box);
    for (const Constraint& constraint : one.constraints) text += " " + constraint_text(constraint);
    text += ")\n";
  }
  return text + "))\n";
}

}  // namespace assay::bounds
