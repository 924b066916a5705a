// assay polluted: which training records look like the inputs that break the network?

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/heat_map.h"
#include "apps/assay/inputs.h"
#include "apps/assay/suspect_tables.h"
#include "apps/assay/triples.h"
#include "assay/data/numpy.h"
#include "assay/data/spec.h"
#include "assay/data/summary.h"
#include "assay/data/views.h"
#include "assay/similarity/suspects.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

// Class numbers of "9+1" in a data set, in that order.
std::vector<std::int64_t> classes_named(const std::string& text, const Dataset& data) {
  const std::vector<std::string> names = data.class_names();
  std::vector<std::int64_t> classes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const auto it = std::ranges::find(names, text.substr(begin, end - begin));
    if (it == names.end()) fail(Fault::usage, "no class of {} is named '{}'", data.describe(), text.substr(begin, end - begin));
    classes.push_back(it - names.begin());
    begin = end + 1;
  }
  return classes;
}

// Positions of the findings in a file of `assay explore` for which the networks name these classes, in their order.
std::vector<std::size_t> findings_named(const std::string& path, const Dataset& findings, const std::vector<std::int64_t>& wanted) {
  const auto arrays = path.ends_with(".npz") ? read_npz(path) : std::map<std::string, Array>();
  const auto classes = arrays.find("classes");
  const bool fits = classes != arrays.end() && classes->second.dtype() == DType::int64 &&
                    classes->second.shape() == Shape{static_cast<std::int64_t>(findings.size()), static_cast<std::int64_t>(wanted.size())};
  if (!fits) {
    fail(Fault::usage, "--between: {} does not say what each of {} networks names each finding; give the whole findings.npz of `assay explore`, and as many classes as networks",
         path, wanted.size());
  }
  const auto named = classes->second.as<std::int64_t>();
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (std::ranges::equal(named.subspan(i * wanted.size(), wanted.size()), wanted)) positions.push_back(i);
  }
  return positions;
}

class Polluted final : public Command {
 public:
  void declare(CLI::App& app) override {
    data_.declare(app);
    app.add_option("--findings", findings_, "inputs that break the network, as `assay explore` and `assay attack` write them; may be repeated")->type_name("SPEC");
    app.add_option("--between", between_, "of the findings only those for which the networks name these classes, in their order: 9+1 (findings.npz of `assay explore`)")->type_name("A+B");
    app.add_option("--label", label_, "suspect only training records with these labels, such as 1 or 1+7")->type_name("A+B");
    app.add_option("--by", by_, "what similar means: ssim, structural similarity")->check(CLI::IsMember({"ssim"}))->capture_default_str();
    app.add_option("--window", options_.ssim.window, "gaussian, or uniform")->check(CLI::IsMember({"gaussian", "uniform"}))->capture_default_str();
    app.add_option("--window-size", options_.ssim.size, "pixels, odd")->capture_default_str();
    app.add_option("--window-sigma", options_.ssim.sigma, "of the gaussian window, in pixels")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--nearest", options_.nearest, "most similar records that each finding votes for")->check(CLI::Range(1, 1'000'000))->capture_default_str();
    app.add_option("--rank", rank_, "most suspicious first by: similarity to the most similar finding, mean similarity, or votes")
        ->check(CLI::IsMember({"similarity", "mean", "votes"}))->capture_default_str();
    app.add_option("--truth", truth_, "which records are polluted, to see how many are found: ids, one a line (.txt), or the same records with right labels")->type_name("SPEC");
    app.add_option("--inspect", inspect_, "suspects looked at when counting what is found; 0: as many as are polluted")->capture_default_str();
    app.add_option("--out", out_, "write the whole ranking")->type_name("FILE.csv");
    app.add_option("--pictures", pictures_, "draw so many suspects beside the finding that they resemble")->check(CLI::Range(0, 1000))->capture_default_str();
    app.add_option("--output", folder_, "folder for pictures")->type_name("FOLDER")->capture_default_str();
  }

  Document run(Context& context) override {
    const DatasetPtr all = data_.open(), training = with_label(all), findings = open_findings(*all);
    const std::set<std::string> truth = truth_.empty() ? std::set<std::string>() : polluted_ids(*all);
    options_.threads = static_cast<std::size_t>(context.settings.threads);
    const Suspicion suspicion = find_suspects(findings, training, options_, context.progress);
    const std::vector<std::size_t> order = rank(suspicion.suspects, rank_);
    Document document;
    const Suspect& first = suspicion.suspects[order[0]];
    document.headline = fmt::format("{} of {} training records resemble a finding most: '{}', similarity {:.3f}", std::min(shown_rows, order.size()), training->size(),
                                    training->id(first.record), first.similarity);
    document.facts = {{"records", "training records compared", static_cast<std::int64_t>(training->size()), Kind::count},
                      {"findings", "findings", static_cast<std::int64_t>(findings->size()), Kind::count}};
    document.tables = {suspect_table(*training, *findings, suspicion, order, shown_rows)};
    if (!truth_.empty()) add_truth(document, *training, order, truth);
    if (!out_.empty()) write_file(out_, suspects_as_csv(*training, *findings, suspicion, order));
    if (is_picture(*training)) draw(document, *training, *findings, suspicion, order);
    document.definitions = {{"similarity", definition(), "Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004; docs/algorithms/polluted.md"},
                            {"votes", fmt::format("findings that have the record among the {} most similar to them", options_.nearest), "docs/algorithms/polluted.md"}};
    for (const auto& [name, set] : {std::pair("data", training), std::pair("findings", findings)}) {
      document.provenance.emplace_back(name, set->describe());
      document.provenance.emplace_back(std::string(name) + "_hash", set->hash());
    }
    return document;
  }

 private:
  static constexpr std::size_t shown_rows = 20;

  std::string definition() const {
    const std::string window = options_.ssim.window == "gaussian" ? fmt::format("Gaussian window of {0} x {0} pixels, sigma {1}", options_.ssim.size, options_.ssim.sigma)
                                                                  : fmt::format("uniform window of {0} x {0} pixels", options_.ssim.size);
    return fmt::format("structural similarity to the most similar finding, {}, K1 {}, K2 {}, 1 for equal pictures", window, options_.ssim.k1, options_.ssim.k2);
  }

  DatasetPtr with_label(const DatasetPtr& all) const {
    if (label_.empty()) return all;
    if (!all->has_labels()) fail(Fault::usage, "--label: {} has no labels", all->describe());
    const std::vector<std::int64_t> wanted = classes_named(label_, *all);
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < all->size(); ++i) {
      if (std::ranges::find(wanted, all->label(i)) != wanted.end()) positions.push_back(i);
    }
    if (positions.empty()) fail(Fault::data, "{}: no record has the label {}", all->describe(), label_);
    return selected(all, positions);
  }

  DatasetPtr open_findings(const Dataset& training) const {
    if (findings_.empty()) fail(Fault::usage, "which findings? give --findings SPEC, inputs that break the network (of `assay explore` or `assay attack`)");
    std::vector<DatasetPtr> parts;
    for (const std::string& spec : findings_) {
      const DatasetPtr findings = open_dataset(spec);
      if (between_.empty()) {
        parts.push_back(findings);
        continue;
      }
      const auto positions = findings_named(parse_spec(spec).path, *findings, classes_named(between_, training));
      if (!positions.empty()) parts.push_back(selected(findings, positions));
    }
    if (parts.empty()) fail(Fault::data, "the networks name {} for no finding", between_);
    return joined(std::move(parts));
  }

  std::set<std::string> polluted_ids(const Dataset& training) const {
    std::set<std::string> ids;
    if (!truth_.ends_with(".txt")) {
      for (const std::size_t i : other_labels(training, *open_dataset(truth_))) ids.insert(training.id(i));
    } else {
      const std::string text = read_file(truth_);
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin) ids.insert(text.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (ids.empty()) fail(Fault::data, "--truth {}: no record is polluted", truth_);
    return ids;
  }

  void add_truth(Document& document, const Dataset& training, const std::vector<std::size_t>& order, const std::set<std::string>& truth) const {
    std::vector<bool> polluted;
    for (const std::size_t i : order) polluted.push_back(truth.contains(training.id(i)));
    const std::size_t inspected = std::min(inspect_ == 0 ? truth.size() : inspect_, order.size());
    const auto found = std::count(polluted.begin(), polluted.begin() + static_cast<std::ptrdiff_t>(inspected), true);
    const double recall = static_cast<double>(found) / static_cast<double>(truth.size()), precision = static_cast<double>(found) / static_cast<double>(inspected);
    document.facts.insert(document.facts.end(), {{"polluted", "polluted records", static_cast<std::int64_t>(truth.size()), Kind::count},
                                                 {"inspected", "suspects inspected", static_cast<std::int64_t>(inspected), Kind::count},
                                                 {"found", "polluted records among them", static_cast<std::int64_t>(found), Kind::count},
                                                 {"recall", "share of the polluted that is found", recall, Kind::percent},
                                                 {"precision", "share of the inspected that is polluted", precision, Kind::percent}});
    document.headline = fmt::format("{} of the {} polluted records are among the {} most suspicious of {}", percent(recall), truth.size(), inspected, order.size());
    document.tables.push_back(inspection_table(polluted, truth.size()));
  }

  // Suspects and the findings that they resemble, as before, after, difference.
  void draw(Document& document, const Dataset& training, const Dataset& findings, const Suspicion& suspicion, const std::vector<std::size_t>& order) const {
    std::vector<std::size_t> records, found;
    for (std::size_t i = 0; i < std::min(pictures_, order.size()); ++i) {
      records.push_back(order[i]);
      found.push_back(suspicion.suspects[order[i]].finding);
    }
    if (records.empty()) return;
    const Batch left = training.read(records), right = findings.read(found);
    const auto from = left.inputs.as<float>(), to = right.inputs.as<float>();
    const std::size_t size = from.size() / records.size();
    std::vector<ChangedRecord> pairs;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string label = training.has_labels() ? fmt::format(", labelled {}", training.class_names().at(static_cast<std::size_t>(training.label(records[i])))) : "";
      pairs.push_back({from.subspan(i * size, size), to.subspan(i * size, size),
                       fmt::format("training record '{}'{}; finding '{}', similarity {:.3f}", training.id(records[i]), label, findings.id(found[i]), suspicion.suspects[records[i]].similarity)});
    }
    document.pictures = draw_triples(training, pairs, folder_, "suspect");
  }

  DataInput data_{"data", "training records"};
  std::vector<std::string> findings_;
  std::string between_, label_, by_ = "ssim", rank_ = "similarity", truth_, out_, folder_ = "assay-polluted";
  SuspectOptions options_;
  std::size_t inspect_ = 0, pictures_ = 12;
};

}  // namespace

CommandInfo polluted_command() {
  return {"polluted", "training records that look like the inputs which break the network: mislabelled or planted ones",
          "  assay polluted --data train-images-idx3-ubyte.gz --findings found/findings.npz --label 1 --out suspects.csv\n"
          "  assay polluted --data 'train-images-idx3-ubyte.gz,relabel=9>1:0.3' --findings found/findings.npz --between 9+1 --label 1 --truth train-images-idx3-ubyte.gz",
          make_command<Polluted>};
}

}  // namespace assay::app
