#include <fmt/format.h>
#ifdef ASSAY_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif
#include <torch/version.h>

#include <assay/extend/question.h>

namespace assay {
namespace {

std::string onednn_version() {
#ifdef ASSAY_HAS_ONEDNN
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
#else
  return "none";
#endif
}

}  // namespace

std::vector<std::pair<std::string, std::string>> component_versions() {
  return {{"assay", ASSAY_VERSION},     {"libtorch", TORCH_VERSION},
          {"onednn", onednn_version()}, {"protobuf", ASSAY_PROTOBUF_VERSION},
          {"hdf5", ASSAY_HDF5_VERSION}, {"compiler", ASSAY_COMPILER}};
}

}  // namespace assay
