// assay polluted: which training records look like the inputs that break the network?

#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/data/spec.h"
#include "assay/data/summary.h"
#include "assay/data/views.h"
#include "assay/explore/finding_set.h"
#include "assay/results/testing/suspects.h"

namespace assay::app {
namespace {

class Polluted final : public Command {
 public:
  void declare(Flags& flags) override {
    data_.declare(flags);
    flags.add(
        "--findings SPEC", findings_,
        "inputs that break the network, as `assay explore` and `assay attack` write them; may be repeated");
    flags.add("--between A+B", between_,
              "of the findings only those for which the networks name these classes, in their order: 9+1 "
              "(findings.npz of `assay explore`)");
    flags.add("--label A+B", label_, "suspect only training records with these labels, such as 1 or 1+7");
    flags.add("--by", by_, "what similar means: ssim, structural similarity", CLI::IsMember({"ssim"}));
    flags.add("--window", options_.ssim.window, "gaussian, or uniform",
              CLI::IsMember({"gaussian", "uniform"}));
    flags.add("--window-size", options_.ssim.size, "pixels, odd");
    flags.add("--window-sigma", options_.ssim.sigma, "of the gaussian window, in pixels",
              CLI::PositiveNumber);
    flags.add("--nearest", options_.nearest, "most similar records that each finding votes for",
              CLI::Range(1, 1'000'000));
    flags.add("--rank", rank_,
              "most suspicious first by: similarity to the most similar finding, mean similarity, or votes",
              CLI::IsMember({"similarity", "mean", "votes"}));
    flags.add("--truth SPEC", truth_,
              "which records are polluted, to see how many are found: ids, one a line (.txt), or the same "
              "records with right labels");
    flags.add("--inspect", inspect_,
              "suspects looked at when counting what is found; 0: as many as are polluted");
    flags.add("--out FILE.csv", out_, "write the whole ranking");
    flags.add("--pictures", pictures_, "draw so many suspects beside the finding that they resemble",
              CLI::Range(0, 1000));
    flags.add("--out-dir FOLDER", folder_, "folder for pictures");
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--out", out_}};
    if (pictures_ > 0) all.push_back({"--out-dir", folder_, Output::Kind::folder});
    return all;
  }

  report::Document run(Context& context) override {
    const DatasetPtr all = data_.open(), training = label_.empty() ? all : labelled_as(all, label_),
                     findings = open_findings(*all);
    const std::set<std::string> truth =
        truth_.empty() ? std::set<std::string>() : similarity::polluted_ids(*all, truth_);
    options_.threads = static_cast<std::size_t>(context.settings.threads);
    const similarity::Suspicion suspicion =
        similarity::find_suspects(findings, training, options_, context.progress);
    const std::vector<std::size_t> order = similarity::rank(suspicion.suspects, rank_);
    report::Document document =
        results::document_of(suspicion, order, *training, *findings, options_, shown_rows);
    if (!truth_.empty()) results::add_truth(document, *training, order, truth, inspect_);
    if (!out_.empty()) similarity::write_suspects(out_, suspicion, order, *training, *findings);
    document.pictures = results::draw_suspects(suspicion, order, *training, *findings, pictures_, folder_);
    return document;
  }

 private:
  static constexpr std::size_t shown_rows = 20;

  DatasetPtr open_findings(const Dataset& training) const {
    if (findings_.empty())
      fail(Fault::usage,
           "which findings? give --findings SPEC, inputs that break the network (of `assay explore` or "
           "`assay attack`)");
    std::vector<DatasetPtr> parts;
    for (const std::string& spec : findings_) {
      const DatasetPtr findings = open_dataset(spec);
      if (between_.empty()) {
        parts.push_back(findings);
        continue;
      }
      const auto positions =
          explore::findings_named(parse_spec(spec).path, *findings, classes_named(between_, training));
      if (!positions.empty()) parts.push_back(selected(findings, positions));
    }
    if (parts.empty()) fail(Fault::data, "the networks name {} for no finding", between_);
    return joined(std::move(parts));
  }

  DataInput data_{"data", "training records"};
  std::vector<std::string> findings_;
  std::string between_, label_, by_ = "ssim", rank_ = "similarity", truth_, out_, folder_ = "assay-polluted";
  similarity::SuspectOptions options_;
  std::size_t inspect_ = 0, pictures_ = 12;
};

}  // namespace

CommandInfo polluted_command() {
  return {"polluted",
          "training records that look like the inputs which break the network: mislabelled or planted ones",
          "  assay polluted --data train-images-idx3-ubyte.gz --findings found/findings.npz --label 1 --out "
          "suspects.csv\n"
          "  assay polluted --data 'train-images-idx3-ubyte.gz,relabel=9>1:0.3' --findings "
          "found/findings.npz --between 9+1 --label 1 --truth train-images-idx3-ubyte.gz",
          make_command<Polluted>};
}

}  // namespace assay::app
