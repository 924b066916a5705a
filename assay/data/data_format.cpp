#include <assay/extend/data_format.h>

namespace assay::inline data {

// One line for each: NAME_format() is defined in the file of that name.
#define ASSAY_FORMATS(X) \
  X(digits)              \
  X(sql)                 \
  X(parentheses)         \
  X(scenes)              \
  X(numpy)               \
  X(idx)                 \
  X(cifar)               \
  X(images)              \
  X(csv)                 \
  X(jsonl)               \
  X(text)

#define DECLARE(name) FormatInfo name##_format();
ASSAY_FORMATS(DECLARE)
#undef DECLARE
#define LIST(name) name##_format(),

Catalogue<FormatInfo>& data_formats() {
  static Catalogue<FormatInfo> all({"data format"}, {ASSAY_FORMATS(LIST)});
  return all;
}
#undef LIST

}  // namespace assay::inline data
