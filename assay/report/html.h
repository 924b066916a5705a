#pragma once

#include <span>
#include <string>

#include "assay/report/document.h"

namespace assay {

// One self-contained page that shows the documents; opens from disk and asks nothing of the network (docs/report.md).
std::string to_html(std::span<const Document> documents);
std::string to_html(const Document& document);

}  // namespace assay
