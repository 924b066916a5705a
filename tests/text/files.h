#pragma once

// Small tokenizers, written as their files are.

#include <assay/error.h>
#include <assay/tokenizer.h>

#include <functional>
#include <string>
#include <vector>

namespace assay::text::testing {

// A file with this model, and further members such as R"("normalizer": {...})".
Tokenizer tokenizer_of(const std::string& model, const std::vector<std::string>& members = {});

// Whole words of a text, all of which are known: what normalizers and pre-tokenizers leave.
std::vector<std::string> pieces(const std::string& text, const std::vector<std::string>& members);

void expect_error(Fault fault, const std::vector<std::string>& words, const std::function<void()>& work);

}  // namespace assay::text::testing
