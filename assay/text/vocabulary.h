#pragma once

// Tokens and their numbers, both ways.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "assay/text/settings.h"

namespace assay::text {

// A token longer than this is not reasonable, and would let matching take quadratic time.
inline constexpr std::size_t longest_token = 4096;  // bytes

class Vocabulary {
 public:
  // {"token": number, ...}. Throws Error{data} for two tokens with one number.
  explicit Vocabulary(const Settings& settings, const std::string& key = "vocab");
  Vocabulary() = default;
  // REQUIRES a number that is not taken.
  void add(const std::string& token, std::uint32_t id, const Settings& settings);

  const std::uint32_t* find(const std::string& token) const {
    const auto it = ids_.find(token);
    return it == ids_.end() ? nullptr : &it->second;
  }
  std::optional<std::uint32_t> id(const std::string& token) const;
  // Null where there is none.
  const std::string* token(std::uint32_t id) const;
  std::size_t size() const { return ids_.size(); }
  std::uint32_t greatest() const { return greatest_; }
  std::size_t longest() const { return longest_; }  // bytes of a token

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint32_t, std::string> tokens_;
  std::uint32_t greatest_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace assay::text
