#pragma once

// Objects in memory under names, where texts otherwise name files: "@net".

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/text/text.h"

namespace assay::inline support {

inline bool is_named(const std::string& text) { return text.starts_with('@'); }

// Objects of one kind. Thread-safe.
template <typename T>
class NamedObjects {
 public:
  // `kind`: for messages, "network".
  explicit NamedObjects(std::string kind) : kind_(std::move(kind)) {}

  // Throws Error{usage} for a name that is taken, or that no text could hold.
  void add(const std::string& name, T object) {
    const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
      return is_alphanumeric(c) || c == '_' || c == '-';
    });
    if (!plain) fail(Fault::usage, "'{}' is not a name for a {}: use letters, digits, _ and -", name, kind_);
    const std::lock_guard lock(mutex_);
    if (!objects_.emplace(name, std::move(object)).second)
      fail(Fault::usage, "a {} is called '{}' already; choose another name", kind_, name);
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    objects_.erase(name);
  }
  // Of "@net". Throws Error{usage} with the nearest name.
  T find(const std::string& text) const {
    const std::string name = text.substr(1);
    const std::lock_guard lock(mutex_);
    if (const auto it = objects_.find(name); it != objects_.end()) return it->second;
    std::vector<std::string> names;
    for (const auto& [known, object] : objects_) names.push_back(known);
    fail(Fault::usage, "no {} in memory is called '{}'{}", kind_, name, did_you_mean(name, names));
  }

 private:
  std::string kind_;
  mutable std::mutex mutex_;
  std::map<std::string, T> objects_;
};

}  // namespace assay::inline support
