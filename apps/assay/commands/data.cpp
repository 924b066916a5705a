// assay data: what a data set contains.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/data/numpy.h"
#include "assay/data/source.h"
#include "assay/data/summary.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay::app {
namespace {

Table class_table(const Dataset& data, const DataSummary& summary) {
  Table table{"classes", "Classes",
              {{"class", "class"}, {"records", "records", Column::Kind::count}, {"share", "share", Column::Kind::percent}}, {}};
  const auto names = data.class_names();
  for (std::size_t c = 0; c < names.size(); ++c) {
    table.rows.push_back({names[c], static_cast<std::int64_t>(summary.class_records[c]),
                          static_cast<double>(summary.class_records[c]) / static_cast<double>(data.size())});
  }
  return table;
}

Table target_table(const DataSummary& summary) {
  using Kind = Column::Kind;
  Table table{"targets", "Targets", {{"target", "target", Kind::count}, {"low", "least", Kind::number, 4}, {"mean", "mean", Kind::number, 4}, {"high", "greatest", Kind::number, 4}}, {}};
  for (std::size_t t = 0; t < summary.target_mean.size(); ++t) {
    table.rows.push_back({static_cast<std::int64_t>(t), summary.target_low[t], summary.target_mean[t], summary.target_high[t]});
  }
  return table;
}

std::string format_help() {
  std::string text = "Formats:\n";
  for (const FormatInfo& format : data_formats()) text += fmt::format("  {:8} {}\n", format.name, format.summary);
  return text;
}

class Data final : public Command {
 public:
  void declare(CLI::App& app) override {
    data_.declare(app, true);
    app.add_option("--sheet", sheet_, "write a contact sheet of pictures, one class a row")->type_name("FILE.png");
    app.add_option("--write", write_, "write the records, as a network would see them, as x and y")->type_name("FILE.npz");
    app.add_option("--labels-of", labels_of_, "the same records under another spec: counts those that are labelled otherwise there")->type_name("SPEC");
    app.add_option("--ids", ids_, "write the ids of those, one a line")->type_name("FILE.txt");
    app.description(app.get_description() + "\n\nA SPEC is PATH[,key=value...][slice], see docs/data.md.\n" + format_help());
  }

  Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const DataSummary summary = summarise(data, context.progress);
    Document document;
    document.headline = data->describe();
    using Kind = Column::Kind;
    document.facts = {{"records", "records", static_cast<std::int64_t>(data->size()), Kind::count},
                      {"shape", "shape of a record", to_string(data->record_shape())},
                      {"type", "element type", to_string(data->dtype())},
                      {"low", "least element", summary.low, Kind::number, 4},
                      {"high", "greatest element", summary.high, Kind::number, 4},
                      {"mean", "mean", summary.mean, Kind::number, 4},
                      {"deviation", "standard deviation", summary.deviation, Kind::number, 4},
                      {"duplicates", "duplicate records", static_cast<std::int64_t>(summary.duplicates), Kind::count},
                      {"conflicting", "of them with another label", static_cast<std::int64_t>(summary.conflicting), Kind::count}};
    if (const auto range = data->valid_range()) {
      document.facts.push_back({"range", "valid range", fmt::format("{} to {}", fmt::join(range->low, "/"), fmt::join(range->high, "/"))});
    }
    if (data->has_labels()) document.tables.push_back(class_table(*data, summary));
    if (data->target_width() > 0) document.tables.push_back(target_table(summary));
    for (const auto& [record, earlier] : summary.examples) {
      document.notices.push_back(fmt::format("record '{}' repeats '{}'", data->id(record), data->id(earlier)));
    }
    if (!labels_of_.empty()) compare_labels(*data, document);
    else if (!ids_.empty()) fail(Fault::usage, "--ids writes what --labels-of finds; give that, too");
    if (!sheet_.empty()) {
      write_png(sheet_, contact_sheet(*data, 16, 8, context.settings.seed));
      document.pictures.push_back({"contact sheet", sheet_});
    }
    if (!write_.empty()) write(*data);
    document.provenance.emplace_back("data", data->describe());
    document.provenance.emplace_back("data_hash", data->hash());
    return document;
  }

 private:
  void compare_labels(const Dataset& data, Document& document) const {
    const std::vector<std::size_t> records = other_labels(data, *open_dataset(labels_of_));
    document.facts.push_back({"labelled_otherwise", "labelled otherwise in " + labels_of_, static_cast<std::int64_t>(records.size()), Column::Kind::count});
    if (ids_.empty()) return;
    std::string text;
    for (const std::size_t record : records) text += data.id(record) + "\n";
    write_file(ids_, text);
  }

  void write(const Dataset& data) const {
    std::vector<std::size_t> all(data.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const Batch batch = data.read(all);
    std::map<std::string, Array> arrays{{"x", batch.inputs}};
    if (data.has_labels()) arrays.emplace("y", Array::of<std::int64_t>({static_cast<std::int64_t>(batch.labels.size())}, batch.labels));
    else if (data.target_width() > 0) arrays.emplace("y", batch.targets);
    write_npz(write_, arrays);
  }

  DataInput data_{"data", "the data set"};
  std::string sheet_, write_, labels_of_, ids_;
};

}  // namespace

CommandInfo data_command() {
  return {"data", "counts, shapes, range, class balance and duplicates of a data set",
          "  assay data t10k-images-idx3-ubyte.gz\n"
          "  assay data digits:1000,seed=7 --sheet digits.png\n"
          "  assay data 'images.tar,targets=steering.csv[:500]' --write part.npz",
          make_command<Data>};
}

}  // namespace assay::app
