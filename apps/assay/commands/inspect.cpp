// assay inspect: what the units of a network have learned.

#include <memory>

#include <assay/error.h>
#include <assay/inspection.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/query_options.h"
#include "apps/assay/unit_choice.h"
#include "assay/inspection/asked_hypotheses.h"
#include "assay/inspection/statistics/resampling.h"
#include "assay/results/document.h"
#include "assay/results/networks/inspection.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/journal.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"
#include "assay/workbench/query/named_text.h"

namespace assay::app {
namespace {

using inspection::AlignOptions;
using inspection::UnitBehaviour;

class Inspect final : public Command {
 public:
  void declare(Flags& flags) override {
    flags
        .add("--model FILE", models_,
             "network, NAME=FILE or NAME=FILE,epoch=3 with attributes of your own; may be repeated: epochs, "
             "a trained and an untrained one, ...")
        ->allow_extra_args(false);
    data_.declare(flags);
    flags
        .add("--units SPEC", units_,
             "units that are inspected together: layer=lstm, layer=lstm,gate=forget or "
             "layer=fc1,units=0-15+20, of all networks or of model=NAME; may be repeated (default: each "
             "layer with weights)")
        ->allow_extra_args(false);
    flags.add("--behaviour", behaviour_,
              "what is looked at: activations, their change since the symbol before, or the gradient of the "
              "decision",
              CLI::IsMember({"activation", "change", "gradient"}));
    flags
        .add("--hypotheses SPEC,...", hypotheses_,
             "what units may have learned: sql.grammar, label, 'regex[...]', ...; may be repeated (`assay "
             "hypotheses` lists all)")
        ->allow_extra_args(false);
    flags.add("--measure SPEC,...", measures_,
              "how they are compared: pearson,logistic_l1 (`assay measures` lists all)");
    flags.add(
        "--vocabulary FILE", vocabulary_,
        "what tokens mean: FILE.npz:ARRAY of character codes, a text file of one symbol a line, or .json");
    flags.add("--padding SYMBOL", padding_, "symbol or token that fills records up; it is left out");
    flags.add("--align", align_,
              "where rows lie if units and hypothesis have different positions: where the hypothesis has "
              "values, where units have, or one row a record",
              CLI::IsMember({"hypothesis", "units", "record"}));
    flags.add("--reduce", reduce_, "how several positions become one row a record",
              CLI::IsMember({"automatic", "mean", "max", "last"}));
    flags.add("--tolerance", options_.tolerance,
              "half a confidence interval at which a score has converged; 0: what the measure takes",
              CLI::NonNegativeNumber);
    flags.add("--no-early-stop", no_early_stop_, "read all records, whatever has converged");
    flags.add("--block", options_.block,
              "records between two looks at what has converged; the first so many give thresholds and ranks",
              CLI::Range(1, 1 << 24));
    flags.add("--permutations", options_.permutations, "permutations of records, for p values",
              CLI::Range(std::size_t{0}, inspection::most_resamples));
    flags.add("--bootstrap", options_.bootstrap, "replicates of a bootstrap over records, for intervals",
              CLI::Range(std::size_t{0}, inspection::most_resamples));
    flags.add("--confidence", options_.confidence, "of intervals", CLI::Range(0.5, 0.9999));
    flags.add("--top", detail_.top, "best units listed for each hypothesis and measure",
              CLI::Range(1, 100'000));
    flags.add("--verify", verify_,
              "verify so many of the strongest affinities by swapping symbols; needs a vocabulary",
              CLI::Range(0, 1000));
    flags.add("--swaps", how_.swaps, "swaps of each kind, to verify an affinity by", CLI::Range(2, 100'000));
    flags.add("--scores FILE", scores_, "write all scores to FILE.csv");
    shard_.declare(flags);
    flags.add("--state FILE", state_,
              "write what was seen to FILE; an interrupted run goes on from FILE.journal");
    flags.add("--journal-every", options_.journal_seconds, "seconds between two entries of the journal",
              CLI::NonNegativeNumber);
    flags.add("--cache FOLDER", cache_, "folder that keeps behaviours of hypotheses for other runs");
    query_.declare(flags);
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--scores", scores_}, {"--cache", cache_, Output::Kind::folder}};
    if (!state_.empty()) {
      all.push_back({"--state", state_});
      all.push_back({"the journal of --state", state_ + ".journal", Output::Kind::journal});
    }
    return all;
  }

  report::Document run(Context& context) override {
    if (query_.asks()) return ask(context);
    const DatasetPtr data = data_.open();
    const std::vector<inspection::InspectedModel> models = open_models(context, data.get());
    const std::vector<inspection::UnitGroup> groups = choose_groups(models);
    set_options(context);
    const std::vector<inspection::AnnotatorChoice> hypotheses = inspection::annotator_choices(hypotheses_);
    std::string key;
    if (query_.keeps()) {
      key = key_of(models, data, hypotheses);
      if (options_.journal.empty())
        options_.journal = fmt::format("{}.{}.journal", query_.database(), key.substr(0, 8));
    }
    const inspection::Inspection seen =
        inspection::inspect(models, groups, data, hypotheses, options_, context.progress);
    if (query_.keeps()) {
      workbench::Workbench workbench = query_.open();
      fill(workbench, models, data, hypotheses);
      workbench.keep(seen, groups, key);
    }
    if (!options_.journal.empty()) Journal::remove(options_.journal);
    if (!scores_.empty()) write_file(scores_, report::to_csv(results::scores_table(seen)));
    std::string names;
    for (const auto& model : models) names += (names.empty() ? "" : ", ") + model.name;
    report::Document document = results::document_of(seen, names, options_, detail_);
    if (verify_ > 0) {
      how_.seed = context.settings.seed;
      const auto claims = results::strongest_claims(seen, models, groups, verify_, detail_.top);
      results::append(document,
                      results::document_of(inspection::verify(models, groups, data, hypotheses, options_,
                                                              claims, how_, context.progress),
                                           groups));
    }
    if (wants_detail(context)) {
      constexpr std::size_t sample = 256, records = 3;
      const auto close =
          inspection::close_ups(models, groups, data, hypotheses, options_,
                                results::strongest_claims(seen, models, groups, 8, 1), sample, records);
      document.tables.push_back(results::close_up_table(close, *data));
    }
    for (const auto& model : models) {
      document.provenance.emplace_back(models.size() == 1 ? "model" : "model " + model.name,
                                       model.session->graph().name());
      document.provenance.emplace_back(models.size() == 1 ? "model_hash" : "model_hash " + model.name,
                                       model.session->graph().hash());
    }
    results::add_provenance(document, "data", *data);
    return document;
  }

 private:
  // Of all that scores depend on.
  std::string key_of(const std::vector<inspection::InspectedModel>& models, const DatasetPtr& data,
                     const std::vector<inspection::AnnotatorChoice>& hypotheses) const {
    Hasher hash;
    for (const auto& model : models) hash.text(model.name).text(model.session->graph().hash());
    hash.text(data->hash()).text(joined(units_, "\n"));
    for (const auto& choice : hypotheses) {
      const auto annotator = inspection::make_annotator(choice, data, models[0].session->options());
      hash.text(choice.spec().text()).text(annotator->version());
    }
    for (const std::string& text :
         {behaviour_, measures_, vocabulary_, padding_, align_, reduce_, shard_.text(), figures()})
      hash.text(text);
    return hash.hex();
  }
  std::string figures() const {
    return fmt::format("{} {} {} {} {} {} {}", options_.stop_early, options_.tolerance, options_.block,
                       options_.permutations, options_.bootstrap, options_.confidence, options_.seed);
  }

  // A question, about what is given and what the database holds.
  report::Document ask(Context& context) {
    set_options(context);
    workbench::Workbench workbench = query_.open();
    const DatasetPtr data = data_.given() ? data_.open() : nullptr;
    std::vector<inspection::InspectedModel> models;
    if (!models_.empty()) models = open_models(context, data.get());
    fill(workbench, models, data, inspection::annotator_choices(hypotheses_));
    report::Document document = query_.run(workbench, context);
    for (const auto& model : models)
      document.provenance.emplace_back("model_hash " + model.name, model.session->graph().hash());
    if (data) results::add_provenance(document, "data", *data);
    return document;
  }

  void fill(workbench::Workbench& workbench, const std::vector<inspection::InspectedModel>& models,
            const DatasetPtr& data, const std::vector<inspection::AnnotatorChoice>& hypotheses) const {
    workbench.set_options(options_, behaviour());
    for (std::size_t m = 0; m < models.size(); ++m) {
      const workbench::NamedModel text = workbench::parse_model(models_[m]);
      workbench.add_model({text.name, models[m].session, text.file, text.attributes});
    }
    if (data) workbench.add_records(data_.spec(), data);
    workbench.add_hypotheses(hypotheses);
  }

  std::vector<inspection::InspectedModel> open_models(Context& context, const Dataset* data) const {
    if (models_.empty())
      fail(Fault::usage, "which network? give --model FILE (or model = \"FILE\" in assay.toml)");
    std::vector<inspection::InspectedModel> models;
    for (const std::string& text : models_) {
      const workbench::NamedModel model = workbench::parse_model(text);
      models.push_back({model.name, std::make_shared<const Session>(read_network(model.file, context),
                                                                    session_options(context, data))});
    }
    return models;
  }

  UnitBehaviour behaviour() const {
    return behaviour_ == "change"     ? UnitBehaviour::change
           : behaviour_ == "gradient" ? UnitBehaviour::gradient
                                      : UnitBehaviour::activation;
  }

  std::vector<inspection::UnitGroup> choose_groups(
      const std::vector<inspection::InspectedModel>& models) const {
    std::vector<inspection::UnitGroup> groups;
    for (const std::string& text : units_) {
      for (inspection::UnitGroup& group : results::parse_units(text, models))
        groups.push_back(std::move(group));
    }
    if (units_.empty()) groups = results::weighted_layers(models);
    for (inspection::UnitGroup& group : groups) group.behaviour = behaviour();
    return groups;
  }

  static bool wants_detail(const Context& context) {
    return !context.settings.json.empty() || !context.settings.renderings.at("html").empty();
  }

  void set_options(Context& context) {
    options_.measures.clear();
    for (const std::string& spec : split_specs(measures_))
      options_.measures.push_back(inspection::measure_choice(spec));
    options_.stop_early = !no_early_stop_;
    if (!vocabulary_.empty()) options_.vocabulary = inspection::read_vocabulary(vocabulary_, padding_);
    if (vocabulary_.empty() && !padding_.empty())
      fail(Fault::usage, "--padding is a symbol of a vocabulary; give --vocabulary FILE");
    options_.align.rows = align_ == "units"    ? AlignOptions::Rows::units
                          : align_ == "record" ? AlignOptions::Rows::record
                                               : AlignOptions::Rows::hypothesis;
    options_.align.reduce = reduce_ == "mean"   ? AlignOptions::Reduce::mean
                            : reduce_ == "max"  ? AlignOptions::Reduce::max
                            : reduce_ == "last" ? AlignOptions::Reduce::last
                                                : AlignOptions::Reduce::automatic;
    std::tie(options_.shard, options_.shards) = shard_.part(context);
    options_.seed = context.settings.seed;
    options_.batch = context.settings.batch;
    options_.keep_curve = wants_detail(context);
    options_.cache = cache_;
    options_.state = state_;
    if (!state_.empty()) options_.journal = state_ + ".journal";
  }

  QueryOptions query_;
  ShardInput shard_{
      "inspect only this part of the records: 2/8, or auto for the one that the scheduler names, for `assay "
      "combine`"};
  DataInput data_{"data", "records that are inspected"};
  std::vector<std::string> models_, units_, hypotheses_;
  std::string behaviour_ = "activation", measures_ = "pearson", vocabulary_, padding_, align_ = "hypothesis",
              reduce_ = "automatic", scores_, state_, cache_;
  bool no_early_stop_ = false;
  std::size_t verify_ = 0;
  inspection::VerifyOptions how_;
  inspection::InspectOptions options_;
  results::InspectionDetail detail_;
};

}  // namespace

CommandInfo inspect_command() {
  return {"inspect", "which units of a network behave like which hypotheses",
          "  assay inspect --model sql.onnx --data sql.npz,part=test --vocabulary sql.npz:vocab --units "
          "layer=lstm --hypotheses sql.grammar --measure pearson,logistic_l1\n"
          "  assay inspect --model lenet5.onnx --data t10k-images-idx3-ubyte.gz --hypotheses label\n"
          "  assay inspect --model before=epoch1.onnx --model after=epoch9.onnx --data test.npz --units "
          "layer=-2 --hypotheses label --measure logistic_l2 --scores all.csv\n"
          "  assay inspect --model lenet5.onnx --data test.npz --hypotheses label --db study.db --sql "
          "\"SELECT S.uid, S.unit_score INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, "
          "hypotheses H, inputs D WHERE H.name = 'label:3' ORDER BY S.unit_score DESC LIMIT 5\"\n"
          "  assay inspect --db study.db --add importance.json --add cover.json",
          make_command<Inspect>};
}

}  // namespace assay::app
