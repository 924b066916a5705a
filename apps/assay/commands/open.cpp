// assay open: the page of a result, in the browser.

#include <filesystem>
#include <optional>

#include <assay/error.h>
#include <assay/report.h>
#include "apps/assay/command.h"
#include "apps/frame/browser.h"
#include "apps/frame/links.h"
#include "apps/frame/page_server.h"
#include "assay/evidence/opened_pack.h"
#include "assay/report/document_file.h"
#include "assay/support/files/file.h"
#include "assay/support/files/temporary_folder.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

class Open final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::memory});
    flags.naming(Concept::document)
        .add("result FILE", file_,
             "result document written with --json, page (.html), or evidence pack (folder or .zip)");
    flags.add("--print", only_print_, "only print the address of the page");
    const Flags serving = flags.of_the_program();
    serving.add("--serve", serve_,
                "serve the page on this machine (127.0.0.1) until Ctrl-C, to a browser elsewhere");
    serving.add("--port", port_, "of --serve; default: one that the system chooses", CLI::Range(1, 65535));
  }

  bool plugins_of_folder() const override { return false; }
  report::Document run(Context&) override {
    if (file_.empty()) refuse("which result? name a .json that a command wrote, a page or an evidence pack");
    if (serve_ && only_print_) refuse("--serve prints the address as well; leave out --print");
    if (port_ && !serve_) refuse("--port is that of --serve; add --serve, or leave it out");
    const fs::path page = page_of(file_);
    if (serve_) server_.emplace(read_file(page), port_.value_or(0));
    const std::string address = serve_ ? server_->address() : frame::address_of(page);
    const bool handed = !only_print_ && !serve_;
    if (handed) frame::show_in_browser(address);
    report::Document document;
    document.headline = handed ? address + ": handed to the browser" : address;
    document.facts = {{"page", "page", page.string(), report::Column::Kind::text},
                      {"address", "address", address, report::Column::Kind::text}};
    return document;
  }

  std::string printed(const report::Document& document) const override {
    return only_print_ || serve_ ? document.headline + "\n" : "";
  }

  bool stays() const override { return serve_; }
  void result_written() override {
    if (server_) server_->run();
  }

 private:
  // What is there already, or made in a folder that stays: browsers read it when this program has ended.
  static fs::path page_of(const fs::path& file) {
    std::error_code unknown;
    if (fs::is_directory(file, unknown)) return page_of_pack(file, file);
    if (file.extension() == ".html") {
      if (!fs::exists(file, unknown)) fail(Fault::io, "{}: no such file", file.string());
      return file;
    }
    TemporaryFolder folder("open");
    fs::path page;
    if (file.extension() == ".zip") {
      page = page_of_pack(evidence::unpack(file, folder.path()), file);
    } else {
      page = folder.path() / (file.stem().string() + ".html");
      write_file(page, report::to_html(report::read_document_file(file.string())));
    }
    folder.keep();
    return page;
  }

  static fs::path page_of_pack(const fs::path& folder, const fs::path& named) {
    const fs::path page = folder / "REPORT.html";
    if (!fs::exists(page))
      fail(Fault::data, "{} has no REPORT.html, so it is not a pack that `assay evidence` finished",
           named.string());
    return page;
  }

  std::string file_;
  bool only_print_ = false, serve_ = false;
  std::optional<int> port_;
  std::optional<frame::PageServer> server_;
};

}  // namespace

CommandInfo open_command() {
  return {"open", "the page of a result in the browser",
          "  assay open result.json\n"
          "  assay open cover.html\n"
          "  assay open pack.zip --print\n"
          "  assay open result.json --serve --port 8000",
          make_command<Open>, files_group};
}

}  // namespace assay::app
