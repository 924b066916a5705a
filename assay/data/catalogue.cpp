#include "assay/data/formats.h"

namespace assay {

std::span<const FormatInfo> data_formats() {
  // In the order in which they are tried.
  static const FormatInfo all[] = {digits_format(), numpy_format(), idx_format(), cifar_format(), images_format(), csv_format(), text_format()};
  return all;
}

}  // namespace assay
