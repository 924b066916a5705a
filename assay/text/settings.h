#pragma once

// An object of a tokenizer's file that knows where it stands, for messages. All values are checked as they
// are read: files come from anywhere.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <assay/error.h>
#include "assay/text/pattern.h"

namespace assay::text {

class Settings {
 public:
  // REQUIRES that `value` outlives this. `where`: the file, and in it the place: "t.json: normalizer".
  Settings(const nlohmann::json& value, std::string where, int depth = 0);

  const std::string& where() const { return where_; }
  const nlohmann::json& value() const { return value_; }
  // What null stands for is absent.
  bool has(const std::string& key) const;

  // Throw Error{data} that names the place where a value is missing or of another kind.
  std::string text(const std::string& key) const;
  std::string text(const std::string& key, std::string fallback) const;
  bool flag(const std::string& key) const;
  bool flag(const std::string& key, bool fallback) const;
  std::uint32_t number(const std::string& key) const;
  std::uint32_t number(const std::string& key, std::uint32_t fallback) const;
  char32_t character(const std::string& key) const;
  Settings part(const std::string& key) const;
  std::vector<Settings> parts(const std::string& key) const;

  // {"String": "..."} or {"Regex": "..."}
  Pattern pattern(const std::string& key) const;
  SplitBehavior behavior(const std::string& key) const;

  template <typename... Args>
  [[noreturn]] void refuse(MessageFormat<Args...> format, const Args&... args) const {
    fail(Fault::data, "{}: {}", where_, message_of_parts(format, message_part(args)...));
  }

 private:
  const nlohmann::json& at(const std::string& key) const;
  std::string place_of(const std::string& key) const;

  const nlohmann::json& value_;
  std::string where_;
  int depth_ = 0;
};

// A number that a file gives: a whole one, 0 to 2^31 - 1. Throws Error{data}.
std::uint32_t whole_number(const nlohmann::json& value, const std::string& what);

}  // namespace assay::text
