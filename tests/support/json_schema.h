#pragma once

// Checks JSON against as much of JSON Schema 2020-12 as docs/schema uses. A keyword that it does not know is
// a fault of the schema, so that nothing in the schema goes unchecked.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::test {

class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : root_(std::move(schema)) {}

  // What is wrong, with its place; empty when the value fits.
  std::vector<std::string> faults(const nlohmann::json& value) const {
    std::vector<std::string> found;
    check(root_, value, "", found);
    return found;
  }

 private:
  using Json = nlohmann::json;

  static bool is(const std::string& type, const Json& value) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == (value.is_number() ? "number" : value.type_name());
  }

  void check(const Json& schema, const Json& value, const std::string& place,
             std::vector<std::string>& found) const {
    const auto fault = [&](const std::string& text) {
      found.push_back(fmt::format("{}: {}", place.empty() ? "/" : place, text));
    };
    for (const auto& [key, rule] : schema.items()) {
      if (key == "$schema" || key == "$defs" || key == "title" || key == "description") continue;
      if (key == "$ref") {
        check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, place, found);
      } else if (key == "type") {
        const Json types = rule.is_array() ? rule : Json::array({rule});
        if (std::none_of(types.begin(), types.end(), [&](const Json& type) { return is(type, value); }))
          fault(fmt::format("{} is not a {}", value.dump(), rule.dump()));
      } else if (key == "const") {
        if (value != rule) fault(fmt::format("{} is not {}", value.dump(), rule.dump()));
      } else if (key == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end())
          fault(fmt::format("{} is not among {}", value.dump(), rule.dump()));
      } else if (key == "required") {
        for (const Json& name : rule) {
          if (value.is_object() && !value.contains(name.get<std::string>()))
            fault(fmt::format("{} is missing", name.dump()));
        }
      } else if (key == "properties") {
        for (const auto& [name, inner] : rule.items()) {
          if (value.is_object() && value.contains(name)) check(inner, value[name], place + "/" + name, found);
        }
      } else if (key == "additionalProperties") {
        if (!value.is_object()) continue;
        for (const auto& [name, inner] : value.items()) {
          if (schema.contains("properties") && schema["properties"].contains(name)) continue;
          if (rule == false)
            fault(fmt::format("'{}' should not be there", name));
          else if (rule.is_object())
            check(rule, inner, place + "/" + name, found);
        }
      } else if (key == "items") {
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
          check(rule, value[i], fmt::format("{}/{}", place, i), found);
      } else {
        fault(fmt::format("the schema uses '{}', which this check does not know", key));
      }
    }
  }

  Json root_;
};

}  // namespace assay::test
