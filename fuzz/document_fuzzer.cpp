// Result documents from arbitrary bytes: anything but a document or an Error is a defect, and every renderer
// takes what was read.

#include <cstdint>
#include <string_view>

#include <assay/error.h>
#include <assay/gate.h>
#include <assay/report.h>
#include "seeds.h"

namespace {

std::vector<std::string> seeds() {
  assay::report::Document document;
  document.command = "cover";
  document.headline = "60 %";
  document.facts = {{.id = "records", .title = "records", .value = std::int64_t{5}}};
  document.tables = {assay::report::criteria_table(std::vector<assay::report::Measurement>{
      {.criterion = "kmnc", .covered = "6", .coverable = "10", .value = 0.6}})};
  document.notices = {"a note"};
  document.pictures = {{"digits", "digits.png"}};
  document.definitions = {{"KMNC", "sections", "paper"}};
  document.provenance = {{"seed", std::int64_t{1}}};
  return {assay::report::to_json(document), "{}", "[]"};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    assay::report::Document document =
        assay::report::read_document(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    document.pictures.clear();  // files of this machine are no part of the question
    for (const assay::report::Renderer& renderer : assay::report::renderers()) {
      if (renderer.render) renderer.render(document);
      if (renderer.render_files) renderer.render_files(document);
    }
    assay::report::to_json(document);
    const auto measurements = assay::report::measurements_of(document);
    assay::report::no_worse_than(document, measurements);
  } catch (const assay::Error&) {
  }
  return 0;
}
