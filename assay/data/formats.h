#pragma once

#include "assay/data/source.h"

namespace assay {

// One function per format, defined in the file of that name.
FormatInfo cifar_format();
FormatInfo csv_format();
FormatInfo digits_format();
FormatInfo idx_format();
FormatInfo images_format();
FormatInfo numpy_format();
FormatInfo text_format();

}  // namespace assay
