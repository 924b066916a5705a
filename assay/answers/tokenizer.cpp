#include "assay/answers/tokenizer.h"

#include <filesystem>
#include <system_error>

#include "assay/data/spec.h"
#include "assay/model/folder.h"
#include "assay/support/text/parse.h"

namespace assay::answers {

std::string tokenizer_for(const std::string& data_spec, const std::string& network) {
  for (const std::string& part : joined_specs(data_spec)) {
    if (const DataSpec spec = parse_spec(part); spec.has("tokenizer")) return spec.text("tokenizer");
  }
  const auto folder = folder_of_network(network);
  std::error_code code;
  return folder && std::filesystem::exists(*folder / "tokenizer.json", code) ? folder->string()
                                                                             : std::string();
}

}  // namespace assay::answers
