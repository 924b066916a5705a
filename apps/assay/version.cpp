#include "apps/assay/version.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>
#include <torch/version.h>

namespace assay::app {

std::vector<std::pair<std::string, std::string>> component_versions() {
  const dnnl_version_t* dnnl = dnnl_version();
  return {{"assay", ASSAY_VERSION},
          {"libtorch", TORCH_VERSION},
          {"onednn", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)}};
}

}  // namespace assay::app
