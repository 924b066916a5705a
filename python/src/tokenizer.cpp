// Tokenizers, and what they make of texts.

#include "python/src/bindings.h"

#include <assay/tokenizer.h>

namespace assay::python {
namespace {

text::Encoding encoded(const text::Tokenizer& tokenizer, const std::string& text,
                       const std::optional<std::string>& second, bool special,
                       std::optional<std::size_t> length) {
  const text::TokenizerOptions options{.special = special, .length = length};
  return unlocked(
      [&] { return second ? tokenizer.encode(text, *second, options) : tokenizer.encode(text, options); });
}

std::vector<std::pair<std::size_t, std::size_t>> offsets_of(const text::Encoding& encoding) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (const auto& [begin, end] : encoding.offsets) all.emplace_back(begin, end);
  return all;
}

}  // namespace

void bind_tokenizer(nb::module_& module) {
  nb::class_<text::Encoding>(module, "Encoding")
      .def_ro("ids", &text::Encoding::ids)
      .def_ro("types", &text::Encoding::types)
      .def_ro("attention", &text::Encoding::attention)
      .def_ro("special", &text::Encoding::special)
      .def_ro("tokens", &text::Encoding::tokens)
      .def_ro("words", &text::Encoding::words)
      .def_prop_ro("offsets", &offsets_of);
  nb::class_<text::Tokenizer>(module, "Tokenizer")
      .def("__init__",
           [](text::Tokenizer* made, const std::string& path) {
             unlocked([&] { new (made) text::Tokenizer(std::filesystem::path(path)); });
           })
      .def("encode", &encoded, nb::arg("text"), nb::arg("second").none(), nb::arg("special"),
           nb::arg("length").none())
      .def("decode", [](const text::Tokenizer& tokenizer, const std::vector<std::int64_t>& ids,
                        bool special) { return tokenizer.decode(ids, special); })
      .def("id", &text::Tokenizer::id)
      .def("token", &text::Tokenizer::token)
      .def_prop_ro("size", &text::Tokenizer::size)
      .def_prop_ro("name", [](const text::Tokenizer& tokenizer) { return tokenizer.name(); });
}

}  // namespace assay::python
