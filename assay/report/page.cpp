#include "assay/report/page.h"

// The page's bytes, put into the library by the assembler.
asm(R"(
  .section .rodata
  .global assay_report_page_begin
  .global assay_report_page_end
assay_report_page_begin:
  .incbin ")" ASSAY_REPORT_PAGE R"("
assay_report_page_end:
  .byte 0
  .previous
)");
extern "C" const char assay_report_page_begin[], assay_report_page_end[];

namespace assay::report {

std::string_view report_page() {
  return {assay_report_page_begin, static_cast<std::size_t>(assay_report_page_end - assay_report_page_begin)};
}

}  // namespace assay::report
