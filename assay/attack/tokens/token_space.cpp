#include "assay/attack/tokens/token_space.h"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/attack/objective.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/engine/elements.h"
#include "assay/model/token_decision.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/text/words.h"

namespace assay::attack {
namespace {

ValueId mask_of(const Graph& graph) {
  const auto found = graph.find_value("attention_mask");
  const bool is_input = found && std::ranges::find(graph.inputs(), *found) != graph.inputs().end();
  return is_input ? *found : no_value;
}

[[noreturn]] void refuse_positions(const SpecOptions& options) {
  fail(Fault::usage,
       "{}: positions={} is neither last20 nor first20 nor a:b, positions from a on and before b",
       options.owner(), options.text("positions"));
}

}  // namespace

TokenPlaces::TokenPlaces(const SpecOptions& options) {
  const std::string& text = options.text("positions");
  if (text.empty()) return;
  std::string_view all = text;
  const std::size_t colon = all.find(':');
  const auto number = [&](std::string_view part, std::int64_t missing) -> std::int64_t {
    if (part.empty()) return missing;
    const auto found = number_of<std::int32_t>(part);
    if (!found) refuse_positions(options);
    return *found;
  };
  if (all.starts_with("last")) {
    begin = -number(all.substr(4), 0);
    if (begin >= 0) refuse_positions(options);
  } else if (all.starts_with("first")) {
    end = number(all.substr(5), 0);
    if (end <= 0) refuse_positions(options);
  } else {
    if (colon == all.npos) refuse_positions(options);
    begin = number(all.substr(0, colon), 0);
    end = number(all.substr(colon + 1), everything);
  }
  if (end == 0 || (end <= begin && (end < 0) == (begin < 0))) refuse_positions(options);
}

bool TokenPlaces::contains(std::int64_t place, std::int64_t count) const {
  const auto from_front = [count](std::int64_t at) { return at < 0 ? at + count : at; };
  return place >= from_front(begin) && place < from_front(end);
}

TokenLimits::TokenLimits(const SpecOptions& options)
    : changes(options.number("changes", 0)),
      tokenizer(options.text("tokenizer")),
      protect(options.words("protect")),
      places(options) {
  if (changes == 0) fail(Fault::usage, "{}: changes=0 would change nothing", options.owner());
  if (changes >= 1 && changes != std::floor(changes))
    fail(Fault::usage, "{}: changes={} is neither a number of tokens nor a share below 1", options.owner(),
         changes);
}

std::vector<SpecOption> TokenLimits::options(const std::string& changes) {
  return {{"changes", changes, "most tokens that change; below 1: share of those that may"},
          {"tokenizer", "",
           "tokenizer.json of the network: tokens stay those of a text (default: that of the data or next to "
           "the network)"},
          {"protect", "", "words that stay, joined by +"},
          {"positions", "",
           "tokens that may change, by their places: last20, first20 or a:b (from a on, without b; below 0 "
           "from the end; those that fill up do not count)"}};
}

std::size_t TokenLimits::budget(std::size_t positions) const {
  const double most = changes < 1 ? std::floor(changes * positions) : changes;
  return std::min(positions, static_cast<std::size_t>(most));
}

std::string TokenLimits::why_no_change(std::size_t positions) const {
  const auto count = static_cast<double>(positions);
  return fmt::format(
      "changes={:g} of {} comes to {:g} tokens, less than one; give changes= a number of tokens, as "
      "changes=1, or a share of {:g} or more",
      changes, so_many(positions, "token that may change", "tokens that may change"), changes * count,
      std::ceil(1e4 / count) / 1e4);
}

TokenSpace::TokenSpace(const AttackedNetwork& network, const TokenLimits& limits)
    : network_(network), limits_(limits), mask_(mask_of(network.session().graph())) {
  if (!limits.protect.empty() && limits.tokenizer.empty())
    fail(Fault::usage, "protect={} names words, so a tokenizer is needed; add tokenizer=FILE to the attack",
         fmt::join(limits.protect, "+"));
  const Graph& graph = network.session().graph();
  const std::vector<NodeId> lookups = table_lookups(graph, network.input());
  if (lookups.empty())
    fail(Fault::unsupported, "network '{}' looks tokens up in no constant table, so they cannot be attacked",
         graph.name());
  const Node& node = graph.node(lookups.front());
  looked_up_ = node.outputs[0];
  Shape rows = network.session().shape(network.input());
  rows.push_back(graph.constant(node.inputs[0]).shape().back());
  if (network.session().shape(looked_up_) != rows)
    fail(Fault::unsupported,
         "{} looks tokens up in the shape {}, so they cannot be attacked; they are attacked where the rows "
         "are [records, tokens, numbers]",
         node.describe(), to_string(network.session().shape(looked_up_)));
  known_ = known_tokens(graph);
  table_ = in_memory(graph.constant(node.inputs[0]), DType::float32);
  if (!limits.tokenizer.empty()) tokenizer_.emplace(std::filesystem::path(limits.tokenizer));
  for (std::int64_t token = 0; token < known_; ++token) {
    if (!tokenizer_ || (tokenizer_->token(token) && !tokenizer_->is_special(token)))
      choices_.push_back(token);
  }
  if (choices_.empty())
    fail(Fault::usage, "tokenizer '{}' has no token that network '{}' knows", limits.tokenizer, graph.name());
  choice_rows_ = array::index_select(table_, 0, array::tensor(choices_)).contiguous();
}

std::vector<TokenRow> TokenSpace::tokens_of(const Array& points) const {
  const Array values = in_memory(points, DType::float32);
  const std::size_t length = points.size(1);
  const double greatest = known_ - 1;
  std::vector<TokenRow> rows(points.size(0), TokenRow(length));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < length; ++i)
      rows[r][i] = std::llround(values.elements<float>()[r * length + i] * greatest);
  return rows;
}

Array TokenSpace::points_of(std::span<const TokenRow> rows) const {
  const std::size_t length = rows.empty() ? 0 : rows.front().size();
  const Array points = array::empty({std::ssize(rows), static_cast<std::int64_t>(length)});
  const double greatest = known_ - 1;
  float* to = points.elements<float>();
  for (const TokenRow& row : rows)
    for (const std::int64_t token : row) *to++ = static_cast<float>(token / greatest);
  return points;
}

std::vector<std::size_t> TokenSpace::real_positions(const AttackProblem& problem, std::size_t row,
                                                    const TokenRow& tokens) const {
  const auto mask = problem.held.find(mask_);
  const Array of_rows = mask == problem.held.end() ? Array() : in_memory(mask->second, DType::float32);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool padding = tokenizer_ && tokenizer_->padding() == tokens[i];
    if (!padding && (!of_rows.defined() || of_rows.elements<float>()[row * tokens.size() + i] != 0))
      found.push_back(i);
  }
  return found;
}

std::set<std::size_t> TokenSpace::protected_positions(const TokenRow& tokens) const {
  std::set<std::size_t> found;
  if (limits_.protect.empty()) return found;
  for (const text::Word& word : text::words_of(*tokenizer_, tokens)) {
    if (std::ranges::find(limits_.protect, word.text) == limits_.protect.end()) continue;
    for (std::size_t i = word.begin; i < word.end; ++i) found.insert(i);
  }
  return found;
}

std::vector<std::vector<std::size_t>> TokenSpace::positions(const AttackProblem& problem) const {
  const std::vector<TokenRow> rows = tokens_of(problem.inputs);
  std::vector<std::vector<std::size_t>> all(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_text(rows[r])) {
      problem.end(r, "the text of its tokens gives other tokens");
      continue;
    }
    const std::set<std::size_t> kept = protected_positions(rows[r]);
    const std::vector<std::size_t> real = real_positions(problem, r, rows[r]);
    for (std::size_t place = 0; place < real.size(); ++place) {
      const std::size_t i = real[place];
      const bool may = limits_.places.contains(place, std::ssize(real)),
                 special = tokenizer_ && tokenizer_->is_special(rows[r][i]);
      if (may && !special && !kept.contains(i)) all[r].push_back(i);
    }
    if (all[r].empty()) problem.end(r, "it has no token that may change");
  }
  return all;
}

bool TokenSpace::is_text(const TokenRow& tokens) const {
  if (!tokenizer_) return true;
  TokenRow plain;
  for (const std::int64_t token : tokens)
    if (!tokenizer_->is_special(token) && tokenizer_->padding() != token) plain.push_back(token);
  text::Encoding again = tokenizer_->encode(tokenizer_->decode(plain), {.special = false});
  TokenRow read;
  for (std::size_t i = 0; i < again.size(); ++i)
    if (again.attention[i] != 0) read.push_back(again.ids[i]);
  return read == plain;
}

Array TokenSpace::gradients(const AttackProblem& problem, const Array& points, const Array& rows,
                            const AttackedNetwork::Objective& objective) const {
  for (const std::size_t place : problem.places) {
    ++problem.log->forward[place];
    ++problem.log->backward[place];
  }
  Tensors given = network_.bind(points, problem.held);
  given.emplace(looked_up_, rows.defined() ? rows : rows_of(tokens_of(points)));
  const OutputsOfRows outputs_of_rows(network_, problem);
  const auto ask = [&](std::size_t row, std::span<const float> outputs, std::span<float> gradients) {
    if (row < problem.places.size())
      outputs_of_rows.differentiate(std::span(&objective, 1), row, outputs, gradients);
  };
  const RecordGradients found = network_.session().gradients(
      given, {.read = {network_.decision()}, .numbers = 1, .gradients = ask}, std::span(&looked_up_, 1));
  const Array gradient =
      array::nan_to_num(found.gradients[0].at(looked_up_).to(DType::float32), 0, 0, 0).contiguous();
  const std::vector<bool> sloping = truths_of(gradient.flatten(1).ne(0).any(1));
  for (std::size_t row = 0; row < problem.places.size(); ++row)
    problem.log->sloping[problem.places[row]] += sloping[row];
  return gradient;
}

Array TokenSpace::rows_of(std::span<const TokenRow> tokens) const {
  TokenRow all;
  for (const TokenRow& row : tokens) all.insert(all.end(), row.begin(), row.end());
  const std::int64_t records = std::ssize(tokens), length = records == 0 ? 0 : std::ssize(tokens.front());
  return array::index_select(table_, 0, array::tensor(all)).reshape({records, length, table_.size(1)});
}

std::vector<float> TokenSpace::margins(const AttackProblem& problem, std::span<const TokenRow> rows) const {
  return floats_of(margin(problem, network_.scores(problem, points_of(rows))));
}

}  // namespace assay::attack
