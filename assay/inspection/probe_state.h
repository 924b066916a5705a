#pragma once

// Probes: models that predict hypotheses from all units of a group. They learn in the order of the rows, in
// chunks that do not depend on how rows come in blocks, and are judged on held-out records.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/extend/measure.h>
#include "assay/inspection/statistics/held_out.h"
#include "assay/inspection/units/merged_models.h"

namespace assay::inspection {

struct ProbePlan {
  std::vector<BehaviourKind> kinds;
  ModelSettings settings;
  double held_out = 0.2;
  bool control = false;   // next to each model one of a control task
  bool coded = false;     // rows are coded before they are learned, none is held out
  bool by_class = false;  // the score is a mean over classes
};

class ProbeState : public MeasureState {
 public:
  void calibrate(const Block& block) override;
  void observe(const Block& block) override;
  Scores result() const override;
  std::vector<char> settle() override;
  void freeze(std::span<const char> open) override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& state) override;

 protected:
  ProbeState(const MeasureSetup& setup, ProbePlan plan);

  // State of one model.
  struct Outcome {
    Confusion held_out;
    double bits = 0, squares = 0, coded_rows = 0;  // of rows coded before they were learned; of their bits
  };
  // Value, interval, rows and status of a hypothesis; `control` where the plan has control tasks.
  virtual Score group(const Outcome& outcome, const Outcome* control) const = 0;
  virtual bool scores_units() const { return true; }
  double z() const { return z_; }

 private:
  // Rows and their labels.
  struct Rows {
    std::vector<float> units;   // [rows, units], standardised
    std::vector<float> labels;  // [rows, models]
  };
  void require_whole(const Rows& rows) const;
  // Everything that learning changes.
  struct Learned {
    MergedModels models;
    std::vector<Outcome> outcomes;
    std::uint64_t chunks = 0, rows = 0;
    std::vector<double> model_rows;            // [models] rows that were learned from
    std::vector<std::vector<double>> classes;  // [models][classes] how often each of them occurred
  };
  // Scores at a look.
  struct Look {
    std::uint64_t number = 0;
    MergedModels models;
    std::vector<Outcome> outcomes;
  };

  void prepare();
  std::size_t model_count() const { return hypothesis_of_.size(); }
  std::size_t chunk_size(const Learned& learned) const;
  void append(const Block& block, std::size_t row, Rows& rows);
  float label(const Block& block, std::size_t row, std::size_t model);
  float control_label(std::size_t hypothesis, std::uint32_t symbol);
  void learn(Learned& learned, const Rows& rows) const;
  void count(Learned& learned, const Rows& rows) const;
  void code(Learned& learned, const Rows& rows, const Array& units) const;
  void judge_rows(const Array& logits, std::vector<Outcome>& outcomes) const;
  void evaluate(Learned& learned) const;
  void look();
  void compare(const Look& earlier);
  bool enough_of_each_class(std::size_t hypothesis) const;
  bool judged_enough(const Score& score) const;
  bool code_settled(std::size_t model, const Outcome& earlier) const;
  std::vector<char> open_models() const;
  static nlohmann::json save_outcomes(const std::vector<Outcome>& outcomes);
  static void load_outcomes(const nlohmann::json& from, std::vector<Outcome>& outcomes);
  Score group_score(const Learned& learned, const std::vector<Outcome>& outcomes,
                    std::size_t hypothesis) const;
  Score unit_score(const Learned& learned, const Score& group, std::size_t hypothesis,
                   std::size_t unit) const;

  ProbePlan plan_;
  std::size_t units_;
  std::vector<Hypothesis> hypotheses_;
  double z_, tolerance_;
  std::uint64_t seed_;
  std::vector<double> means_, scales_;             // of units; scale 0: constant
  std::vector<std::size_t> classes_;               // of hypotheses; 0: not applicable
  std::vector<std::vector<double>> distribution_;  // of the classes of each hypothesis
  std::vector<std::size_t> hypothesis_of_;         // of each model
  std::vector<std::size_t> first_model_;           // of each hypothesis that has one
  Learned learned_;
  Rows waiting_, judging_;
  std::vector<char> open_, settled_;  // [hypotheses]
  std::uint64_t looks_ = 0;
  std::vector<Look> earlier_;                                   // the last two that are compared with
  std::map<std::uint32_t, std::vector<float>> control_labels_;  // of each symbol
  bool symbols_missing_ = false;
};

// Options that all of them have, their defaults for the penalty.
std::vector<SpecOption> probe_options(const std::string& penalty);
extern const char* const probe_definition;  // how they learn and converge

}  // namespace assay::inspection
