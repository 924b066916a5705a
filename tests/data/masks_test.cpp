// Index pictures that are the labels of pictures.

#include <assay/dataset.h>
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

// Grey pixels as they are.
Image shades(int width, int height, std::vector<std::uint8_t> pixels) {
  Image image = make_image(width, height, 1);
  image.pixels = std::move(pixels);
  return image;
}

struct Folders {
  std::string pictures, masks;
};
Folders two_pictures(const std::string& name) {
  put(name + "/photos/a.png", png_bytes(picture(3, 2, 3, 0)));
  put(name + "/photos/b.png", png_bytes(picture(3, 2, 3, 1)));
  put(name + "/masks/a.png", png_bytes(shades(3, 2, {0, 1, 2, 2, 1, 255})));
  put(name + "/masks/b.png", png_bytes(shades(3, 2, {7, 7, 7, 0, 0, 0})));
  return {temporary(name + "/photos").string(), temporary(name + "/masks").string()};
}

std::vector<float> targets(const Dataset& dataset) {
  std::vector<std::size_t> all(dataset.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const Batch batch = dataset.read(all);
  const auto read = batch.targets.as<float>();
  return {read.begin(), read.end()};
}

TEST(Masks, AreOneNumberAPixel) {
  const Folders folders = two_pictures("masked");
  const auto data = open_dataset(folders.pictures + ",masks=" + folders.masks);
  EXPECT_EQ(data->target_width(), 6U);
  EXPECT_FALSE(data->has_labels());
  EXPECT_THAT(targets(*data), ElementsAre(0, 1, 2, 2, 1, 255, 7, 7, 7, 0, 0, 0));
  EXPECT_THAT(targets(*open_dataset(folders.pictures + ",masks=" + folders.masks + "[1:]")),
              ElementsAre(7, 7, 7, 0, 0, 0));
}

TEST(Masks, AreResizedToTheNearestPixelWithTheirPictures) {
  const Folders folders = two_pictures("resized");
  const auto data = open_dataset(folders.pictures + ",resize=4x6,masks=" + folders.masks + "[:1]");
  EXPECT_THAT(targets(*data), ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2,  //
                                          2, 2, 1, 1, 255, 255, 2, 2, 1, 1, 255, 255));
  EXPECT_THAT(targets(*open_dataset(folders.pictures + ",resize=1x1,masks=" + folders.masks)),
              ElementsAre(1, 0));
}

TEST(Masks, ThatDoNotFitAreNamed) {
  const Folders folders = two_pictures("unfit");
  put("unfit/masks/b.png", png_bytes(shades(2, 2, {0, 0, 0, 0})));
  expect_data_error(Fault::data, {"b.png has 2 x 2 pixels, and record 'b.png' 2 x 3"},
                    folders.pictures + ",masks=" + folders.masks);
  put("unfit/photos/c.png", png_bytes(picture(3, 2, 3, 2)));
  expect_data_error(Fault::data, {"has no c.png, the mask of record 'c.png'"},
                    folders.pictures + ",masks=" + folders.masks + "[2:]");
  put("unfit/empty/note.txt", "no picture");
  expect_data_error(Fault::data, {"there are no .png files"},
                    folders.pictures + ",masks=" + temporary("unfit/empty").string());
  put("unfit/masks/a.png", png_bytes(picture(3, 2, 3, 0)));
  expect_data_error(Fault::data, {"a.png"}, folders.pictures + ",masks=" + folders.masks + "[:1]");
  expect_data_error(Fault::usage, {"masks= are the labels; leave out targets="},
                    folders.pictures + ",targets=t.csv,masks=" + folders.masks);
  expect_data_error(Fault::usage, {"masks= are of pictures, and records are [784]"},
                    folders.pictures + ",resize=28x28,color=grey,flatten=1,masks=" + folders.masks);
}

}  // namespace
}  // namespace assay::testing
