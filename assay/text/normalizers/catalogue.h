#pragma once

// All normalizers; their catalogue is in catalogue.cpp.

#include "assay/text/parts.h"

namespace assay::text {

PartInfo<Normalizer> bert_normalizer();
PartInfo<Normalizer> byte_level_normalizer();
PartInfo<Normalizer> character_map_normalizer();
PartInfo<Normalizer> lowercase_normalizer();
PartInfo<Normalizer> nfc_normalizer();
PartInfo<Normalizer> nfd_normalizer();
PartInfo<Normalizer> nfkc_normalizer();
PartInfo<Normalizer> nfkd_normalizer();
PartInfo<Normalizer> nmt_normalizer();
PartInfo<Normalizer> normalizer_sequence();
PartInfo<Normalizer> prepend_normalizer();
PartInfo<Normalizer> replace_normalizer();
PartInfo<Normalizer> strip_accents_normalizer();
PartInfo<Normalizer> strip_normalizer();

}  // namespace assay::text
