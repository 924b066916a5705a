// Probes in states of inspections: what goes on exactly where a part of the records ended.

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/inspection/probe_state.h"
#include "assay/inspection/statistics/packed.h"

namespace assay::inspection {

using Json = nlohmann::json;

Json ProbeState::save_outcomes(const std::vector<Outcome>& outcomes) {
  Json all = Json::array();
  for (const Outcome& outcome : outcomes)
    all.push_back({pack_array(outcome.held_out.counts),
                   pack_array(std::vector{outcome.bits, outcome.squares, outcome.coded_rows})});
  return all;
}

void ProbeState::load_outcomes(const Json& from, std::vector<Outcome>& outcomes) {
  for (std::size_t m = 0; m < outcomes.size(); ++m) {
    unpack_same(from.at(m).at(0), outcomes[m].held_out.counts);
    std::vector<double> coded(3);
    unpack_same(from.at(m).at(1), coded);
    outcomes[m].bits = coded[0], outcomes[m].squares = coded[1], outcomes[m].coded_rows = coded[2];
  }
}

Json ProbeState::save() const {
  Json json = {{"means", pack_array(means_)},
               {"scales", pack_array(scales_)},
               {"classes", classes_},
               {"distribution", Json::array()},
               {"open", std::string(open_.begin(), open_.end())},
               {"models", learned_.models.save()},
               {"chunks", learned_.chunks},
               {"rows", learned_.rows},
               {"model_rows", pack_array(learned_.model_rows)},
               {"outcomes", save_outcomes(learned_.outcomes)},
               {"occurred", Json::array()},
               {"waiting", {pack_array(waiting_.units), pack_array(waiting_.labels)}},
               {"judging", {pack_array(judging_.units), pack_array(judging_.labels)}},
               {"settled", std::string(settled_.begin(), settled_.end())},
               {"looks", looks_},
               {"earlier", Json::array()},
               {"symbols_missing", symbols_missing_}};
  for (const std::vector<double>& shares : distribution_) json["distribution"].push_back(pack_array(shares));
  for (const std::vector<double>& counts : learned_.classes) json["occurred"].push_back(pack_array(counts));
  for (const Look& look : earlier_)
    json["earlier"].push_back({look.number, look.models.save(), save_outcomes(look.outcomes)});
  return json;
}

// Throws std::runtime_error for rows that are not whole, or of a class that there is not.
void ProbeState::require_whole(const Rows& rows) const {
  const std::size_t count = units_ == 0 ? 0 : rows.units.size() / units_;
  if (rows.units.size() != count * units_ || rows.labels.size() != count * model_count())
    throw std::runtime_error("rows of a probe are not whole");
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const std::size_t model = i % model_count();
    const float label = rows.labels[i];
    if (open_[hypothesis_of_[model]] == 0 || std::isnan(label)) continue;
    const auto classes = static_cast<float>(learned_.classes[model].size());
    if (!(label >= 0 && label < classes && label == std::floor(label)))
      throw std::runtime_error("a row of a probe has a class that there is not");
  }
}

void ProbeState::load(const Json& json) {
  unpack_same(json.at("means"), means_);
  unpack_same(json.at("scales"), scales_);
  const auto classes = json.at("classes").get<std::vector<std::size_t>>();
  const auto open = json.at("open").get<std::string>();
  const auto settled = json.at("settled").get<std::string>();
  if (classes.size() != classes_.size() || open.size() != open_.size() || settled.size() != open.size())
    throw std::runtime_error("the state is of other hypotheses");
  classes_ = classes;
  open_.assign(open.begin(), open.end());
  settled_.assign(settled.begin(), settled.end());
  prepare();
  for (std::size_t h = 0; h < open_.size(); ++h) {
    unpack_array(json.at("distribution").at(h), distribution_[h]);
  }
  learned_.models.load(json.at("models"));
  json.at("chunks").get_to(learned_.chunks);
  json.at("rows").get_to(learned_.rows);
  unpack_same(json.at("model_rows"), learned_.model_rows);
  load_outcomes(json.at("outcomes"), learned_.outcomes);
  for (std::size_t m = 0; m < model_count(); ++m) unpack_same(json.at("occurred").at(m), learned_.classes[m]);
  json.at("looks").get_to(looks_);
  for (const Json& look : json.at("earlier")) {
    earlier_.push_back({look.at(0).get<std::uint64_t>(), learned_.models, learned_.outcomes});
    earlier_.back().models.load(look.at(1));
    load_outcomes(look.at(2), earlier_.back().outcomes);
  }
  unpack_array(json.at("waiting").at(0), waiting_.units);
  unpack_array(json.at("waiting").at(1), waiting_.labels);
  unpack_array(json.at("judging").at(0), judging_.units);
  unpack_array(json.at("judging").at(1), judging_.labels);
  require_whole(waiting_);
  require_whole(judging_);
  json.at("symbols_missing").get_to(symbols_missing_);
}

}  // namespace assay::inspection
