#include "assay/engine/preparation/folder_notices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <vector>

#include <assay/tokenizer.h>
#include "assay/data/tokenized.h"
#include "assay/support/text/so_many.h"
#include "assay/text/folder_tokens.h"

namespace assay::inline engine {
namespace {

namespace fs = std::filesystem;

std::string said_of(std::int64_t token, const text::Tokenizer& tokenizer, const char* what) {
  const auto text = tokenizer.token(token);
  return fmt::format("token {}{} {}", token, text ? fmt::format(" ('{}')", *text) : "", what);
}

bool has_no_token(const Array& attention, std::size_t row) {
  const std::size_t length = attention.shape().back();
  return std::ranges::count(attention.as<std::int64_t>().subspan(row * length, length), 0) ==
         static_cast<std::ptrdiff_t>(length);
}

}  // namespace

void tell_empty_texts(const Dataset& data, Progress& progress) {
  constexpr std::size_t at_a_time = 1024;
  if (tokenizer_of(data) == nullptr) return;
  std::size_t empty = 0;
  std::string first;
  for (std::size_t begin = 0; begin < data.size(); begin += at_a_time) {
    std::vector<std::size_t> records(std::min(at_a_time, data.size() - begin));
    std::iota(records.begin(), records.end(), begin);
    const Batch batch = data.read(records);
    const auto mask = std::ranges::find(batch.others, "attention_mask", &NamedArray::name);
    if (mask == batch.others.end()) return;
    for (std::size_t row = 0; row < records.size(); ++row) {
      if (!has_no_token(mask->values, row)) continue;
      if (empty++ == 0) first = data.id(records[row]);
    }
  }
  if (empty > 0)
    progress.notice(
        fmt::format("{} no token, the first is '{}': what fills up decides there; leave empty "
                    "texts out",
                    so_many(empty, "record has", "records have"), first));
}

void tell_folder_tokens(const std::string& folder, Progress& progress) {
  std::error_code code;
  if (folder.empty() || !fs::exists(fs::path(folder) / "tokenizer.json", code)) return;
  const auto [padding, end, begin] = text::read_folder_tokens(folder);
  if (!(padding && padding->by_generation) && !(end && end->by_generation)) return;
  const text::Tokenizer tokenizer{fs::path(folder)};
  std::vector<std::string> said;
  if (padding && padding->by_generation) said.push_back(said_of(padding->token, tokenizer, "fills up"));
  if (end && end->by_generation) said.push_back(said_of(end->token, tokenizer, "ends texts"));
  progress.notice(fmt::format("{}: {}, which config.json does not say",
                              (fs::path(folder) / "generation_config.json").string(), fmt::join(said, ", ")));
}

}  // namespace assay::inline engine
