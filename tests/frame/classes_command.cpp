// The command of docs/howto/add-a-command.md.
#include <assay/dataset.h>

#include "apps/frame/command.h"
#include "apps/frame/wording.h"
#include "assay/report/table_of.h"
#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

class Classes final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.naming(Concept::data).add("data,--data SPEC", data_, "labelled records");
    flags.add_output("--out FILE.csv", out_, "write the table");
  }

  report::Document run(Context&) override {
    if (data_.empty()) refuse("which data? give --data SPEC");
    const DatasetPtr data = open_dataset(data_);
    if (!data->has_labels()) refuse("{} has no labels; name them in --data", data->describe());
    std::vector<std::size_t> counts(data->class_count());
    for (std::size_t i = 0; i < data->size(); ++i) ++counts.at(static_cast<std::size_t>(data->label(i)));
    report::Document document;
    document.headline = fmt::format("{} records of {} classes", data->size(), counts.size());
    document.tables = {report::table_of("classes", "Classes", report::positions(counts.size()),
                                        {{"class", [&](auto c) { return data->class_names()[c]; }},
                                         {"records", [&](auto c) { return counts[c]; }}})};
    if (!out_.empty()) write_file(out_, report::to_csv(document.tables[0]));
    return document;
  }

 private:
  std::string data_, out_;
};

}  // namespace

CommandInfo classes_command() {
  return {"classes", "how many records each class has", "  assay classes train.npz --out classes.csv",
          make_command<Classes>};
}

}  // namespace assay::frame
