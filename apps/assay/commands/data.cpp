// assay data: what a data set contains.

#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/groups.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/data/files/records_file.h"
#include "assay/results/data.h"
#include "assay/results/domain.h"

namespace assay::app {
namespace {

std::string format_help() {
  std::string text = "Formats:\n";
  for (const FormatInfo& format : data_formats())
    text += fmt::format("  {:8} {}\n", format.name, format.summary);
  return text;
}

class Data final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    data_.declare(flags, true);
    flags.add_output("--sheet FILE.png", sheet_, "write a contact sheet of pictures, one class a row");
    flags.add_output("--write FILE.npz", write_,
                     "write the records, as a network would see them, as x and y");
    flags.naming(Concept::data)
        .add("--labels-of SPEC", labels_of_,
             "the same records under another spec: counts those that have another label there");
    flags.add_output("--ids FILE.txt", ids_, "write the ids of those, one a line");
    train_.declare(flags);
    flags.naming(Concept::input)
        .add("--domain FILE.toml", domain_,
             "hold the records against a declared operational domain: values, shares, combinations");
    gates_.declare(flags);
    flags.describe("A SPEC is PATH[,key=value...][slice], see docs/data.md.\n" + format_help());
  }

  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    check_conditions(*data);
    report::Document document = results::document_of(summarise(data, context.progress), *data);
    if (!labels_of_.empty())
      compare_labels(*data, document);
    else if (!ids_.empty())
      refuse("--ids writes what --labels-of finds; also give --labels-of");
    hold_against(*data, document);
    if (!sheet_.empty()) {
      write_png(sheet_, contact_sheet(*data, 16, 8, context.settings.seed));
      document.pictures.push_back({"contact sheet", sheet_});
    }
    if (!write_.empty()) {
      std::vector<std::size_t> all(data->size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      write_records(write_, *data, all);
    }
    return document;
  }

 private:
  void compare_labels(const Dataset& data, report::Document& document) const {
    const std::vector<std::size_t> records = other_labels(data, *open_dataset(labels_of_));
    document.facts.push_back(results::relabelled_fact(records, labels_of_));
    if (!ids_.empty()) write_ids(ids_, data, records);
  }

  void check_conditions(const Dataset& data) const {
    const report::Conditions& conditions = gates_.conditions();
    if (!train_.given() && domain_.empty())
      report::check_no_figures(conditions,
                               "figures are those of a comparison with training records or a domain");
    report::check(conditions, std::vector<std::string>{"shift", "absent-values", "domain-coverage",
                                                       "domain-outside", "domain-few", "domain-shares"});
    report::check_baseline(conditions, "", data.hash());
  }

  // Characteristics against those of the training data and of the domain.
  void hold_against(const Dataset& data, report::Document& document) const {
    if (data.characteristics().empty() && (train_.given() || !domain_.empty()))
      refuse("--train and --domain compare characteristics; name them in --data, with meta=COLUMN+COLUMN");
    results::add_characteristics(document, data);
    std::vector<report::Measurement> measured;
    const auto add = [&](const std::vector<report::Measurement>& more) {
      measured.insert(measured.end(), more.begin(), more.end());
    };
    if (train_.given()) {
      const groups::Distribution found = groups::distribution_of(data, *train_.open());
      results::add_distribution(document, found);
      add(results::measurements_of(found));
    }
    if (!domain_.empty()) {
      const groups::Domain domain = groups::read_domain(domain_);
      const groups::DomainCoverage found = groups::covered(domain, data);
      results::add_domain(document, domain, found);
      add(results::measurements_of(found));
    }
    if (!measured.empty()) {
      document.tables.push_back(report::criteria_table(measured));
      document.tables.back().title = "Figures for gates";
      document.tables.back().detail = true;
    }
    report::apply(gates_.conditions(), document, measured);
  }

  DataInput data_{"data", "the data set"};
  DataInput train_{"train", "hold shares of characteristics against those of these training records",
                   Concept::training_data};
  GateOptions gates_;
  std::string sheet_, write_, labels_of_, ids_, domain_;
};

}  // namespace

CommandInfo data_command() {
  return {"data",
          "what a data set holds: counts, shapes, range, class balance and duplicates",
          "  assay data t10k-images-idx3-ubyte.gz\n"
          "  assay data digits:1000,seed=7 --sheet digits.png\n"
          "  assay data 'images.tar,targets=steering.csv[:500]' --write part.npz\n"
          "  assay data test.csv,label=y,meta=weather+road --train train.csv,label=y,meta=weather+road "
          "--domain odd.toml",
          make_command<Data>,
          begin_group,
          true};
}

}  // namespace assay::app
