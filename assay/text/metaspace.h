#pragma once

// The letter that stands for blanks in vocabularies of SentencePiece, and when one is put before a text.

#include "assay/text/settings.h"

namespace assay::text {

struct Metaspace {
  enum class Prepend { first, never, always };

  explicit Metaspace(const Settings& settings);

  char32_t letter = 0x2581;
  Prepend prepend = Prepend::always;
  bool split = true;
};

}  // namespace assay::text
