// States and profiles are files that others give: whatever is changed in them, reading, combining and
// reporting them ends with a result or with an error that says what is wrong. ASSAY_HARDNESS=whole changes
// everything in every way, otherwise a part is drawn.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/extend/question.h>
#include <assay/extend/random.h>
#include <assay/gate.h>
#include <assay/model.h>
#include <assay/records.h>
#include <assay/report.h>
#include "assay/support/files/binary.h"

namespace assay::frame {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

template <typename Json>
using Place = typename Json::json_pointer;

template <typename Json>
void places_of(const Json& json, const Place<Json>& at, std::vector<Place<Json>>& places) {
  places.push_back(at);
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) places_of(value, at / name, places);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) places_of(json[i], at / i, places);
  }
}

// What a value could be instead.
template <typename Json>
std::vector<Json> others(const Json& value) {
  std::vector<Json> result{nullptr,
                           true,
                           0,
                           1,
                           -1,
                           std::int64_t{1} << 31,
                           std::int64_t{1} << 48,
                           std::numeric_limits<std::uint64_t>::max(),
                           1e308,
                           std::numeric_limits<double>::quiet_NaN(),
                           "",
                           "[",
                           Json::array(),
                           Json::object(),
                           Json::array({value}),
                           Json::binary({}),
                           Json::binary(std::vector<std::uint8_t>(8, 0xff))};
  if (value.is_binary()) {
    const std::vector<std::uint8_t>& bytes = value.get_binary();
    const auto end = bytes.end();
    std::vector<std::uint8_t> twice = bytes;
    twice.insert(twice.end(), bytes.begin(), end);
    result.push_back(Json::binary(std::move(twice)));
    result.push_back(Json::binary(std::vector<std::uint8_t>(bytes.size(), 0xff)));
    result.push_back(Json::binary(std::vector<std::uint8_t>(bytes.size(), 0)));
    result.push_back(Json::binary({bytes.rbegin(), bytes.rend()}));
    for (const std::size_t less : {1, 4, 8}) {
      if (bytes.size() >= less)
        result.push_back(Json::binary({bytes.begin(), end - static_cast<std::ptrdiff_t>(less)}));
    }
  } else if (value.is_array() && !value.empty()) {
    Json more = value, fewer = value, reversed = value;
    more.push_back(value.back());
    fewer.erase(fewer.size() - 1);
    std::reverse(reversed.begin(), reversed.end());
    result.insert(result.end(), {more, fewer, reversed});
  } else if (value.is_object()) {
    for (const auto& [name, entry] : value.items()) {
      Json fewer = value;
      fewer.erase(name);
      result.push_back(std::move(fewer));
    }
  }
  return result;
}

// Changes a value in one way after the other, and has each use of it tried.
template <typename Json>
void spoil(const Json& whole, const std::vector<std::function<void(const Json&)>>& uses) {
  for (const auto& use : uses) use(whole);  // as it was written
  std::vector<Place<Json>> places;
  places_of(whole, Place<Json>(), places);
  std::size_t tried = 0, answered = 0;
  const auto with = [&](const Place<Json>& place, const Json& other) {
    Json changed = whole;
    changed[place] = other;
    ++tried;
    for (const auto& use : uses) {
      SCOPED_TRACE(place.to_string() + " = " + other.dump(-1, ' ', true, Json::error_handler_t::replace));
      try {
        use(changed);
        ++answered;
      } catch (const Error& error) {
        EXPECT_NE(error.fault(), Fault::internal) << error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  };
  const char* const how = std::getenv("ASSAY_HARDNESS");
  if (how != nullptr && std::string(how) == "whole") {
    for (const auto& place : places)
      for (const Json& other : others(whole[place])) with(place, other);
  } else {
    Rng rng(1);
    constexpr int drawn = 150;
    for (int i = 0; i < drawn; ++i) {
      const auto& place = places[rng.below(places.size())];
      const std::vector<Json> choice = others(whole[place]);
      with(place, choice[rng.below(choice.size())]);
    }
  }
  EXPECT_LT(answered, tried * uses.size());
  testing::Test::RecordProperty("changes", static_cast<int>(tried));
}

Graph small_network() {
  Rng rng(1);
  GraphBuilder builder("small");
  const auto weights = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (float& value : values) value = static_cast<float>(rng.normal());
    return builder.constant(name, Array::of<float>({rows, columns}, values));
  };
  ValueId x = builder.input("x", DType::float32, {-1, 4});
  x = builder.add("Relu", "relu", {builder.add("MatMul", "hidden", {x, weights("w1", 4, 5)})});
  x = builder.add("MatMul", "scores", {x, weights("w2", 5, 3)});
  builder.output(builder.add("Softmax", "softmax", {x}, {{"axis", std::int64_t{1}}}));
  return builder.build();
}

DatasetPtr records(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(count * 4));
  for (float& value : values) value = static_cast<float>(rng.normal());
  std::vector<std::int64_t> labels;
  for (std::int64_t r = 0; r < count; ++r) labels.push_back(r % 3);
  return from_arrays(Array::of<float>({count, 4}, values), labels);
}

class SpoiledStates : public testing::Test {
 protected:
  using Flags = std::vector<std::pair<std::string, std::vector<std::string>>>;

  static Question about_network(const std::string& command, Flags flags) {
    Question question{command, std::move(flags)};
    question.flags.push_back({"model", {"@net"}});
    question.flags.push_back({"batch", {"4"}});
    question.networks.emplace("net", small_network());
    question.datasets.emplace("train", records(60, 1));
    question.datasets.emplace("test", records(14, 2));
    return question;
  }
  static Question combined(const std::vector<std::string>& states) {
    return {"combine", {{"states", states}}};
  }

  static void spoil_file(const std::string& file, const std::vector<Question>& questions) {
    std::vector<std::function<void(const Json&)>> uses;
    for (const Question& question : questions) {
      uses.emplace_back([&](const Json& changed) {
        write_binary(changed, file);
        ask(question, silence());
      });
    }
    spoil(read_binary(file), uses);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  const fs::path folder_ = [] {
    fs::path folder =
        fs::path(testing::TempDir()) /
        fmt::format("spoiled_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
  }();
};

TEST_F(SpoiledStates, OfCoverage) {
  const auto cover = [&](const std::string& shard, const std::string& file) {
    ask(about_network("cover", {{"train", {"@train"}},
                                {"test", {"@test"}},
                                {"preset", {"all"}},
                                {"by-class", {}},
                                {"shard", {shard}},
                                {"state", {path(file)}}}),
        silence());
  };
  cover("1/2", "1.cov");
  cover("2/2", "2.cov");
  spoil_file(path("1.cov"), {combined({path("1.cov")}), combined({path("2.cov"), path("1.cov")})});
}

TEST_F(SpoiledStates, OfProfiles) {
  const Flags flags{{"test", {"@test"}}, {"preset", {"all"}}, {"profile", {path("net.profile")}}};
  Flags learning = flags;
  learning.push_back({"train", {"@train"}});
  ask(about_network("cover", learning), silence());
  spoil_file(path("net.profile"), {about_network("cover", flags)});
}

TEST_F(SpoiledStates, OfMutants) {
  const auto mutate = [&](const std::string& records, const std::string& file) {
    ask(about_network("mutate", {{"test", {records}}, {"count", {"2"}}, {"state", {path(file)}}}), silence());
  };
  mutate("@test[:9]", "1.mut");
  mutate("@test[6:]", "2.mut");
  spoil_file(path("1.mut"), {combined({path("1.mut")}), combined({path("2.mut"), path("1.mut")})});
}

TEST_F(SpoiledStates, OfInspections) {
  const auto spoil_state_of = [&](const Flags& measuring) {
    const auto inspect = [&](const std::string& shard, const std::string& file) {
      Flags flags{{"data", {"@train"}}, {"hypotheses", {"label"}}, {"no-early-stop", {}}, {"shard", {shard}}};
      flags.insert(flags.end(), measuring.begin(), measuring.end());
      flags.push_back({"state", {path(file)}});
      ask(about_network("inspect", flags), silence());
    };
    inspect("1/2", "1.ins");
    inspect("2/2", "2.ins");
    spoil_file(path("1.ins"), {combined({path("1.ins")}), combined({path("2.ins"), path("1.ins")})});
  };
  spoil_state_of(
      {{"measure", {"pearson", "spearman", "jaccard", "mutual_information", "auc", "linear", "majority"}}});
  spoil_state_of({{"units", {"layer=hidden,units=0-1"}},
                  {"measure", {"pearson"}},
                  {"permutations", {"1"}},
                  {"bootstrap", {"1"}}});
}

TEST_F(SpoiledStates, OfResultDocuments) {
  const Flags flags{{"train", {"@train"}}, {"test", {"@test"}}, {"criterion", {"idc", "kmnc", "lsc"}}};
  const std::string text = report::to_json(ask(about_network("cover", flags), silence()));
  spoil<nlohmann::ordered_json>(
      nlohmann::ordered_json::parse(text), {[](const nlohmann::ordered_json& changed) {
        const std::string dumped =
            changed.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
        report::Document document = report::read_document(dumped, "spoiled");
        document.pictures.clear();  // files of this machine are no part of the question
        for (const report::Renderer& renderer : report::renderers()) {
          if (renderer.render) renderer.render(document);
          if (renderer.render_files) renderer.render_files(document);
        }
        report::no_worse_than(document, report::measurements_of(document));
      }});
}

}  // namespace
}  // namespace assay::frame
