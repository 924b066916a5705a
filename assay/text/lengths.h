#pragma once

// How long encodings are: what a file says of truncation and padding.

#include <optional>
#include <vector>

#include "assay/text/encodings.h"
#include "assay/text/settings.h"

namespace assay::text {

class Lengths {
 public:
  Lengths() = default;
  // `file`: the whole of it.
  explicit Lengths(const Settings& file);

  // Leaves at most `length` tokens with the `around` special ones, or as many as the file says. Throws
  // Error{data} where nothing can be left; `name` stands in messages.
  void truncate(std::vector<Encoding>& texts, std::size_t around, std::optional<std::size_t> length,
                const std::string& name) const;
  // Fills up with `token` to `length` tokens, or as the file says. Throws Error{data} where there is no token
  // to fill up with.
  void pad(Encoding& encoding, std::optional<std::size_t> length,
           const std::optional<SpecialToken>& token) const;

  const std::optional<SpecialToken>& padding() const { return padding_; }
  std::optional<std::size_t> longest() const { return longest_; }

 private:
  enum class Which { longest_first, only_first, only_second };

  void read_truncation(const Settings& settings);
  void read_padding(const Settings& settings);
  std::size_t padded(std::size_t size) const;
  void cut(Encoding& encoding, std::size_t length) const;
  void cut_both(std::vector<Encoding>& texts, std::size_t most) const;

  std::optional<std::size_t> longest_;
  Which which_ = Which::longest_first;
  bool cut_left_ = false, pad_left_ = false;
  std::optional<SpecialToken> padding_;
  std::int64_t padding_type_ = 0;
  std::optional<std::size_t> fixed_;
  std::size_t multiple_ = 0;
};

}  // namespace assay::text
