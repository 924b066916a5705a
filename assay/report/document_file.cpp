#include "assay/report/document_file.h"

#include "assay/support/files/input_file.h"

namespace assay::report {

Document read_document_file(const std::string& file) {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  return read_document(read_stream(file, largest), file);
}

}  // namespace assay::report
