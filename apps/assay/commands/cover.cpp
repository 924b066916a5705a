// assay cover: importance-driven coverage of a test set.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/idc_tables.h"
#include "apps/assay/inputs.h"
#include "assay/coverage/catalogue.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

class Cover final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app);
    train_.declare(app);
    test_.declare(app);
    check_.declare(app);
    app.add_option("--criterion", criterion_, "coverage criterion (idc)")->capture_default_str();
    app.add_option("--layer", layers_, "subject layer by name or number, may be repeated (default: the layer before the last with weights)")->type_name("NAME");
    app.add_option("-m,--neurons", ms_, "numbers of important neurons, or auto")->type_name("6,8,...")->capture_default_str();
    app.add_option("--share", options_.share, "with auto: share of the relevance that the neurons hold")->check(CLI::Range(0.0, 1.0))->capture_default_str();
    app.add_option("--cap", options_.cap, "with auto: at most so many neurons")->check(CLI::Range(1, 250))->capture_default_str();
    app.add_option("--profile", profile_, "read the profile from FILE, or write it there with --train")->type_name("FILE.json");
    app.add_option("--method", options_.importance.method, "attribution (assay importance --help lists them)")->capture_default_str();
    app.add_flag("--absolute", options_.importance.absolute, "rank neurons by absolute relevance");
    app.add_flag("--normalised", options_.importance.normalised, "divide each record's relevance by its decision value");
    app.add_option("--min-k", options_.clusters.min_k, "fewest clusters tried")->check(CLI::Range(1, 200))->capture_default_str();
    app.add_option("--max-k", options_.clusters.max_k, "most clusters tried")->check(CLI::Range(1, 200))->capture_default_str();
    app.add_flag("--drop-zeros", options_.clusters.drop_zeros, "leave zero activations out of the clustering, as the released code does");
    app.add_option("--round", options_.clusters.round_decimals, "round centroids to so many decimals, as the released code does with 2")->check(CLI::Range(-1, 12))->capture_default_str();
    app.add_option("--reduction", reduction_, "activation of a channel: mean or max of its positions")->check(CLI::IsMember({"mean", "max"}))->capture_default_str();
    app.add_option("--top", top_, "rows of the tables of combinations, per layer and m")->check(CLI::Range(0, 1000))->capture_default_str();
  }

  Document run(Context& context) override {
    find_criterion(criterion_);
    const DatasetPtr test = test_.open();
    const Session session = model_.open(context, test.get());
    Document document;
    check_.run(session, test, context, document);
    const Profile profile = obtain_profile(session, context, document);
    const std::vector<IdcResult> results = measure_idc(session, profile, test, walk_options(context, "measuring coverage"), context.progress);
    document.facts.insert(document.facts.begin(), {"records", "test records", static_cast<std::int64_t>(test->size()), Column::Kind::count});
    document.tables = {coverage_table(results), cluster_table(profile)};
    if (top_ > 0) {
      document.tables.push_back(uncovered_table(results, *test, top_));
      document.tables.push_back(combination_table(results, *test, top_));
    }
    document.definitions = idc_definitions(profile);
    for (const IdcResult& result : results) {
      if (result.idc.non_finite() > 0) {
        document.notices.push_back(fmt::format("{} records have non-finite activations in layer {} and cover nothing", result.idc.non_finite(), result.layer));
      }
    }
    const Coverage first = results.front().idc.result();
    document.headline = fmt::format("{} on {}: IDC {} for the {} most important neurons of {} ({} of {} combinations)", session.graph().name(), test->describe(),
                                    percent(first.fraction), results.front().m, results.front().layer, first.covered, first.coverable);
    add_provenance(document, session, {{"test", test}});
    document.provenance.emplace_back("train", profile.data);
    document.provenance.emplace_back("train_hash", profile.data_hash);
    return document;
  }

 private:
  Profile obtain_profile(const Session& session, Context& context, Document& document) {
    if (!train_.given()) {
      if (profile_.empty()) fail(Fault::usage, "what was the network trained on? give --train SPEC, or --profile FILE of an earlier run");
      const Profile profile = read_profile(profile_);
      require_profile_fits(profile, session);
      return profile;
    }
    options_.ms.clear();
    if (ms_ != "auto") {
      for (const std::int64_t m : parse_integers(ms_, "-m")) options_.ms.push_back(static_cast<std::size_t>(m));
    }
    options_.reduction = reduction_ == "max" ? Reduction::max : Reduction::mean;
    options_.importance.batch = context.settings.batch;
    std::vector<Layer> layers;
    for (const std::string& name : layers_) layers.push_back(session.layer(name));
    if (layers.empty()) layers.push_back(session.penultimate_layer());
    Learned learned = learn_profile(session, train_.open(), layers, options_, context.progress);
    check_.apply(learned.importance.evaluation, session, nullptr, document, "training");
    if (learned.non_finite > 0) document.notices.push_back(fmt::format("{} non-finite activations of training records were left out of the clustering", learned.non_finite));
    if (!profile_.empty()) write_profile(learned.profile, profile_);
    return learned.profile;
  }

  ModelInput model_;
  DataInput train_{"train", "training records, from which the profile is learned"}, test_{"test", "test records whose coverage is measured"};
  AccuracyCheck check_;
  std::string criterion_ = "idc", ms_ = "6,8,10,12", profile_, reduction_ = "mean";
  std::vector<std::string> layers_;
  std::size_t top_ = 5;
  ProfileOptions options_;
};

}  // namespace

CommandInfo cover_command() {
  return {"cover", "how well a test set exercises the neurons that decide",
          "  assay cover --model lenet5.onnx --train train-images-idx3-ubyte.gz --test t10k-images-idx3-ubyte.gz -m 6,8,10,12\n"
          "  assay cover --model net.onnx --train train.npz --test test.npz --layer conv2 --layer fc1 -m auto --profile net.profile.json\n"
          "  assay cover --model net.onnx --profile net.profile.json --test night.tar",
          make_command<Cover>};
}

}  // namespace assay::app
