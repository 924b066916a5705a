#include "assay/evidence/argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include <assay/gate.h>
#include "assay/evidence/requirements.h"

namespace assay::evidence {
namespace {

using Kind = ArgumentNode::Kind;
using State = FilledItem::State;

// A contradiction is worse than a gap.
State worse(State a, State b) {
  if (a == State::contradicted || b == State::contradicted) return State::contradicted;
  return a == State::open || b == State::open ? State::open : State::evidenced;
}

class ArgumentBuilder {
 public:
  ArgumentBuilder(const PackContents& contents, std::span<const Outcome> outcomes)
      : contents_(contents), outcomes_(outcomes) {}

  Argument build() {
    argument_.title = contents_.study.title;
    const std::size_t top = add(Kind::goal, "The network satisfies its requirements in its context");
    add_context(top);
    const std::string strategy = add_below(top, Kind::strategy, "Argument over the stages of AMLAS");
    const Template& amlas = templates().find("amlas");
    const std::vector<FilledItem> filled = fill(amlas, contents_, outcomes_);
    State whole = State::evidenced;
    for (std::size_t begin = 0; begin < filled.size();) {
      std::size_t end = begin;
      while (end < filled.size() && amlas.items[end].group == amlas.items[begin].group) ++end;
      whole = worse(whole, add_stage(strategy, amlas, filled, begin, end));
      begin = end;
    }
    argument_.nodes[top].state = whole;
    return std::move(argument_);
  }

 private:
  // G1, S1, C1, A1, Sn1.
  std::size_t add(Kind kind, std::string text, State state = State::evidenced) {
    static const std::map<Kind, const char*> letters{{Kind::goal, "G"},
                                                     {Kind::strategy, "S"},
                                                     {Kind::context, "C"},
                                                     {Kind::assumption, "A"},
                                                     {Kind::solution, "Sn"}};
    argument_.nodes.push_back(
        {kind, letters.at(kind) + std::to_string(++counts_[kind]), std::move(text), state});
    return argument_.nodes.size() - 1;
  }

  std::string link(const std::string& from, std::size_t to) {
    const ArgumentNode& node = argument_.nodes[to];
    argument_.links.push_back({from, node.id, node.kind == Kind::context || node.kind == Kind::assumption});
    return node.id;
  }

  std::string add_below(std::size_t from, Kind kind, std::string text) {
    const std::string id = argument_.nodes[from].id;
    return link(id, add(kind, std::move(text)));
  }

  void add_context(std::size_t top) {
    for (const InputFile& input : contents_.inputs) {
      if (input.role == "network" || input.role == "test data")
        add_below(top, Kind::context,
                  fmt::format("{}: {}, SHA-256 {}", input.role, input.path, input.sha256));
    }
    add_below(top, Kind::assumption, "Test records are drawn as those of operation will be");
  }

  // The goal of a stage, with its items and, where requirements are its subject, these.
  State add_stage(const std::string& strategy, const Template& amlas, const std::vector<FilledItem>& filled,
                  std::size_t begin, std::size_t end) {
    const std::size_t stage = add(Kind::goal, amlas.items[begin].group);
    const std::string id = link(strategy, stage);
    State state = State::evidenced;
    bool has_requirements = false;
    for (std::size_t i = begin; i < end; ++i) {
      const Item& item = amlas.items[i];
      state = worse(state, filled[i].state);
      add_goal(id, item.clause + " " + item.asks, filled[i].state, filled[i].evidence);
      has_requirements = has_requirements || item.clause == "[H]";
    }
    if (has_requirements) state = worse(state, add_requirements(id));
    argument_.nodes[stage].state = state;
    return state;
  }

  void add_goal(const std::string& above, std::string text, State state,
                const std::vector<std::string>& evidence) {
    const std::string id = link(above, add(Kind::goal, std::move(text), state));
    if (state == State::open) return;
    for (const std::string& one : evidence) link(id, add(Kind::solution, one));
  }

  State add_requirements(const std::string& above) {
    State state = State::evidenced;
    for (std::size_t r = 0; r < contents_.study.requirements.size(); ++r) {
      const Requirement& requirement = contents_.study.requirements[r];
      std::vector<std::string> evidence;
      bool measured = true;
      for (const Outcome& outcome : outcomes_) {
        if (outcome.requirement != r) continue;
        measured = measured && !outcome.file.empty();
        evidence.push_back(report::described(outcome.gate) + " (" + outcome.file + ")");
      }
      const State own = !measured              ? State::open
                        : is_met(r, outcomes_) ? State::evidenced
                                               : State::contradicted;
      add_goal(above, requirement.id + " " + requirement.text, own, evidence);
      state = worse(state, own);
    }
    return state;
  }

  const PackContents& contents_;
  std::span<const Outcome> outcomes_;
  Argument argument_;
  std::map<Kind, int> counts_;
};

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::goal:
      return "goal";
    case Kind::strategy:
      return "strategy";
    case Kind::context:
      return "context";
    case Kind::assumption:
      return "assumption";
    case Kind::solution:
      break;
  }
  return "solution";
}

}  // namespace

Argument argument_of(const PackContents& contents, std::span<const Outcome> outcomes) {
  return ArgumentBuilder(contents, outcomes).build();
}

std::string to_json(const Argument& argument) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"schema", "assay/argument"}, {"version", 1},           {"notation", "GSN Community Standard 3"},
      {"title", argument.title},    {"nodes", Json::array()}, {"links", Json::array()}};
  for (const ArgumentNode& node : argument.nodes) {
    Json one = {{"id", node.id}, {"kind", name_of(node.kind)}, {"text", node.text}};
    if (node.kind == Kind::goal) {
      one["state"] = to_string(node.state);
      one["undeveloped"] = node.state == State::open;
    }
    json["nodes"].push_back(std::move(one));
  }
  for (const ArgumentLink& link : argument.links)
    json["links"].push_back({{"from", link.from},
                             {"to", link.to},
                             {"kind", link.in_context_of ? "in context of" : "supported by"}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::evidence
