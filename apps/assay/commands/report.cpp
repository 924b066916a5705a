// assay report: result documents as one page.

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/report.h>
#include "apps/assay/command.h"
#include "assay/report/document_file.h"
#include "assay/support/files/file.h"
#include "assay/support/text/so_many.h"

namespace assay::app {
namespace {

class Report final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.naming(Concept::document).add("results FILE.json", files_, "result documents written with --json");
    flags.add_output("--out FILE.html", out_, "where the page goes");
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context& context) override {
    if (files_.empty()) refuse("which results? name files that commands wrote with --json");
    if (context.settings.renderings.contains("html") && !context.settings.renderings.at("html").empty())
      refuse("--html would show this list of results, not the results; the page goes to --out {}",
             context.settings.renderings.at("html"));
    std::vector<report::Document> documents;
    report::Document summary;
    summary.tables = {{"documents",
                       "In the report",
                       {{"file", "file"}, {"command", "command"}, {"headline", "result"}},
                       {},
                       false}};
    for (const std::string& file : files_) {
      documents.push_back(report::read_document_file(file));
      if (documents.back().command == "report")
        fail(Fault::usage, "{} is a list of results that a report was made of; name the results themselves",
             file);
      summary.tables[0].rows.push_back({file, documents.back().command, documents.back().headline});
    }
    const std::string page = report::to_html(documents);
    write_file(out_, page);
    summary.headline = fmt::format("{}: {}, {:.1f} MB; open it in a browser", out_,
                                   so_many(files_.size(), "result"), static_cast<double>(page.size()) / 1e6);
    return summary;
  }

 private:
  std::vector<std::string> files_;
  std::string out_ = "assay-report.html";
};

}  // namespace

CommandInfo report_command() {
  return {"report", "results as one page that opens in any browser, without network",
          "  assay report result.json\n"
          "  assay report lenet1.json lenet4.json lenet5.json --out lenets.html",
          make_command<Report>, report_group};
}

}  // namespace assay::app
