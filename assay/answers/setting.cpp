#include "assay/answers/setting.h"

#include "assay/support/files/outputs.h"

namespace assay::answers {

SessionOptions Setting::session_for(const Dataset* data) const {
  SessionOptions options = session;
  if (data != nullptr) set_record_shapes(options, data->facts());
  return options;
}

void check_replaced(const std::filesystem::path& path, std::string_view what, const Setting& setting,
                    const std::function<bool()>& belongs) {
  if (!setting.replace) assay::check_replaced(path, what, belongs);
}

}  // namespace assay::answers
