// Boxes that are the labels of pictures: COCO's JSON, YOLO's text, Pascal VOC's XML.

#include <assay/dataset.h>
#include "assay/data/files/xml.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

// Two pictures, 20 wide and 10 high, in a folder of that name.
std::string two_photos(const std::string& name) {
  put(name + "/photos/a.png", png_bytes(picture(20, 10, 3, 0)));
  put(name + "/photos/b.png", png_bytes(picture(20, 10, 3, 1)));
  return temporary(name + "/photos").string();
}

std::vector<float> box_targets(const Dataset& dataset) {
  std::vector<std::size_t> all(dataset.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const Batch batch = dataset.read(all);
  const auto read = batch.targets.as<float>();
  return {read.begin(), read.end()};
}

const std::string coco = R"({"info": {"deep": [[[[[[[[[[]]]]]]]]]]},
  "images": [{"id": 7, "file_name": "b.png", "width": 20, "height": 10},
             {"id": 3, "file_name": "dir/a.png", "width": 20, "height": 10},
             {"id": 4, "file_name": "elsewhere.png", "width": 20, "height": 10}],
  "categories": [{"id": 9, "name": "dog"}, {"id": 2, "name": "cat"}],
  "annotations": [
    {"image_id": 3, "category_id": 9, "bbox": [2, 1, 4, 5], "iscrowd": 0, "segmentation": [[1, 2]]},
    {"image_id": 3, "category_id": 2, "bbox": [0, 0, 20, 10], "iscrowd": 1},
    {"image_id": 7, "category_id": 2, "bbox": [10, 5, 10, 5]},
    {"image_id": 4, "category_id": 2, "bbox": [0, 0, 1, 1]}]})";

TEST(CocoBoxes, AreRowsOfClassAndCorners) {
  const std::string photos = two_photos("coco"), file = put("coco/boxes.json", coco);
  const auto data = open_dataset(photos + ",boxes=" + file);
  EXPECT_EQ(data->target_width(), 10U);
  EXPECT_FALSE(data->has_labels());
  EXPECT_THAT(data->class_names(), ElementsAre("cat", "dog"));
  EXPECT_NE(data->describe().find("up to 2 boxes of 2 classes"), std::string::npos) << data->describe();
  // The crowd of cats is -2 - 0; a picture with fewer boxes is filled up.
  EXPECT_THAT(box_targets(*data), ElementsAre(1, 2, 1, 6, 6, -2, 0, 0, 20, 10,  //
                                              0, 10, 5, 20, 10, -1, -1, -1, -1, -1));
}

TEST(CocoBoxes, AreNumberedAsAsked) {
  const std::string photos = two_photos("numbered"), file = put("numbered/boxes.json", coco);
  const auto by_id = open_dataset(photos + ",categories=id,boxes=" + file);
  EXPECT_EQ(by_id->class_count(), 10U);
  EXPECT_EQ(by_id->class_names()[9], "dog");
  EXPECT_EQ(box_targets(*by_id)[0], 9);
  const auto named = open_dataset(photos + ",categories=dog+bird+cat,boxes=" + file);
  EXPECT_THAT(named->class_names(), ElementsAre("dog", "bird", "cat"));
  EXPECT_EQ(box_targets(*named)[10], 2);
  const std::string names = put("numbered/names.txt", "cat\r\ndog\n\n");
  EXPECT_EQ(box_targets(*open_dataset(photos + ",categories=" + names + ",boxes=" + file))[0], 1);
  expect_data_error(Fault::data, {"no category is named 'cat'; did you mean 'cats'?"},
                    photos + ",categories=cats+dog,boxes=" + file);
  expect_data_error(Fault::usage, {"'cat' is given twice"}, photos + ",categories=cat+cat,boxes=" + file);
}

TEST(CocoBoxes, AreResizedWithTheirPictures) {
  const std::string photos = two_photos("scaled"), file = put("scaled/boxes.json", coco);
  const auto data = open_dataset(photos + ",resize=5x40,boxes=" + file + "[1:]");
  EXPECT_THAT(box_targets(*data), ElementsAre(0, 20, 2.5, 40, 5, -1, -1, -1, -1, -1));
}

TEST(CocoBoxes, ThatAreWrongAreNamed) {
  const std::string photos = two_photos("wrong");
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& said) {
    std::string text = coco;
    text.replace(text.find(from), from.size(), to);
    expect_data_error(Fault::data, {said}, photos + ",boxes=" + put("wrong/boxes.json", text));
  };
  expect("[2, 1, 4, 5]", "[2, 1, 20, 5]",
         "a box of record 'a.png' from 2, 1 to 22, 6 is outside of the picture, 20 wide and 10 high");
  expect("[2, 1, 4, 5]", "[2, 1, -4, 5]", "annotation 0: bbox [2,1,-4,5] is not left, top, width, height");
  expect("[2, 1, 4, 5]", "[2, 1, 1e999, 5]", "not JSON as COCO has it");
  expect("\"category_id\": 9", "\"category_id\": 8",
         "annotation 0: category 8 is not one of the 2 in the file");
  expect(", \"bbox\": [2, 1, 4, 5]", "", "annotation 0 has no bbox; boxes are not made of outlines");
  expect("[2, 1, 4, 5]", "null", "annotation 0 has no bbox");
  expect("[2, 1, 4, 5]", R"([2, 1, "4", 5])", "annotation 0: bbox [2,1,\"4\",5] is not left, top, width");
  expect("[2, 1, 4, 5]", "7", "annotation 0: bbox 7 is not left, top, width, height");
  expect("\"id\": 9", "\"id\": 2", "two categories have the id 2; give each its own");
  expect("\"image_id\": 3", "\"image_id\": 5", "annotation 0: there is no image 5");
  expect("\"file_name\": \"b.png\"", "\"file_name\": \"c.png\"",
         "no image has the file_name of record 'b.png'");
  expect("\"file_name\": \"b.png\"", "\"file_name\": 5", "a field is not as COCO has it");
  expect("\"id\": 7", "\"id\": 3", "two images have the id 3");
  expect("\"annotations\"", "\"notes\"",
         "the list 'annotations', which COCO's files of boxes have, is missing");
  expect("\"width\": 20", "\"width\": 30",
         "has 10 x 30 pixels there, and the record 10 x 20; give resize=HxW");
  const std::string file = put("wrong/boxes.json", coco);
  expect_data_error(Fault::usage, {"boxes= are the labels; leave out targets="},
                    photos + ",targets=t.csv,boxes=" + file);
  expect_data_error(Fault::usage, {"categories= is about boxes"}, photos + ",categories=a");
}

TEST(YoloBoxes, AreSharesOfThePicture) {
  const std::string photos = two_photos("yolo");
  put("yolo/labels/a.txt", "1 0.5 0.5 0.2 0.4\n\n0 0.05 0.1 0.1 0.2\r\n");
  put("yolo/labels/classes.txt", "cat\ndog\n");  // of no record
  const std::string labels = temporary("yolo/labels").string();
  const auto data = open_dataset(photos + ",boxes=" + labels);
  EXPECT_THAT(data->class_names(), ElementsAre("0", "1"));
  EXPECT_THAT(box_targets(*data), ElementsAre(1, 8, 3, 12, 7, 0, 0, 0, 2, 2,  //
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(
      open_dataset(photos + ",boxes=" + labels + ",categories=" + labels + "/classes.txt")->class_names(),
      ElementsAre("cat", "dog"));
  expect_data_error(Fault::data, {"a.txt: class 1 has no name among the 1"},
                    photos + ",categories=cat,boxes=" + labels);
  for (const auto& [line, said] :
       {std::pair("1 0.5 0.5 0.2", "line 1: '1 0.5 0.5 0.2' is not class, x, y, width and height"),
        std::pair("0.5 0.5 0.5 0.2 0.2", "class 0.5 is not a whole number"),
        std::pair("0 0.5 0.5 nan 0.2", "is not class, x, y, width"),
        std::pair("0 0.5 0.5 -0.1 0.2", "no negative width"),
        std::pair("0 0.95 0.5 0.3 0.2", "outside of the picture, whose sides are 1")}) {
    put("yolo/labels/a.txt", line);
    expect_data_error(Fault::data, {"a.txt", said}, photos + ",boxes=" + labels);
  }
  expect_data_error(Fault::usage, {"categories=id is about COCO's JSON", "is a folder; leave it out"},
                    photos + ",categories=id,boxes=" + labels);
  put("yolo/none/other.txt", "");
  expect_data_error(Fault::data, {"no text file of boxes for any record, such as a.txt"},
                    photos + ",boxes=" + temporary("yolo/none").string());
}

std::string voc(const std::string& objects) {
  return "<?xml version=\"1.0\"?>\n<annotation a='1'><!-- by hand "
         "--><size><width>20</width><height>10</height>"
         "<depth>3</depth></size>" +
         objects + "</annotation>\n";
}

std::string object(const std::string& name, const std::string& corners, const std::string& more = "") {
  return "<object><name>" + name + "</name>" + more + "<bndbox>" + corners + "</bndbox></object>";
}

const std::string voc_corners = "<xmin>3</xmin><ymin>1</ymin><xmax>6</xmax><ymax>10</ymax>";

TEST(VocBoxes, CountPixelsFromOne) {
  const std::string photos = two_photos("voc");
  put("voc/xml/a.xml", voc(object("dog &amp; &#99;at", voc_corners) +
                           object("bird", voc_corners, "<part/><difficult>1</difficult>")));
  put("voc/xml/b.xml", voc(""));
  const auto data = open_dataset(photos + ",boxes=" + temporary("voc/xml").string());
  EXPECT_THAT(data->class_names(), ElementsAre("bird", "dog & cat"));
  EXPECT_THAT(box_targets(*data), ElementsAre(1, 2, 0, 6, 10, -2, 2, 0, 6, 10,  //
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
}

TEST(VocBoxes, MayBeginAPixelOutside) {
  const std::string photos = two_photos("voc_zero"), folder = temporary("voc_zero/xml").string();
  put("voc_zero/xml/b.xml", voc(""));
  put("voc_zero/xml/a.xml", voc(object("cat", "<xmin>0</xmin><ymin>0</ymin><xmax>6</xmax><ymax>10</ymax>")));
  EXPECT_THAT(box_targets(*open_dataset(photos + ",boxes=" + folder + "[:1]")), ElementsAre(0, 0, 0, 6, 10));
  put("voc_zero/xml/a.xml", voc(object("cat", "<xmin>-3</xmin><ymin>1</ymin><xmax>6</xmax><ymax>9</ymax>")));
  expect_data_error(Fault::data,
                    {"a.xml: a box of record 'a.png' from -4, 0 to 6, 9 is outside of the picture"},
                    photos + ",boxes=" + folder);
}

TEST(VocBoxes, ThatAreWrongAreNamed) {
  const std::string photos = two_photos("voc_wrong"), folder = temporary("voc_wrong/xml").string();
  put("voc_wrong/xml/a.xml", voc(""));
  expect_data_error(Fault::data, {"b.xml: the file with the boxes of record 'b.png'"},
                    photos + ",boxes=" + folder);
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {voc("<object><name>a</name></object>"), "<object> has no <bndbox>"},
           {voc(object("a", "<xmin>one</xmin>")), "<xmin> holds 'one', which is not a number"},
           {voc(object("a", "<xmin>nan</xmin>")), "<xmin> holds 'nan', which is not a number"},
           {voc(object("a", "<xmin>8</xmin><ymin>1</ymin><xmax>6</xmax><ymax>9</ymax>")),
            "a <bndbox> from 8, 1 to 6, 9 ends before it begins; write the smaller corner"},
           {voc(object("a", voc_corners, "<difficult>yes</difficult>")),
            "<difficult> holds 'yes', which is neither 0 nor 1"},
           {"<html></html>", "the root is <html>"},
           {"<a><b></a>", "line 1: <b> is closed by </a>"},
           {"<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "a document type is not read"},
           {"<a>&x;</a>", "the entity '&x;' is not one of"},
           {"<a>&#0;</a>", "the entity '&#0;'"},
           {"<a>", "line 1: an element is never closed"},
           {"", "an element is missing"},
           {"<a/>b", "there is text after the root"},
           {"<a b=c/>", "must be in quotes"}}) {
    put("voc_wrong/xml/a.xml", text);
    expect_data_error(Fault::data, {"a.xml", said}, photos + ",boxes=" + folder + "[:1]");
  }
}

TEST(Xml, HasElementsTextAndLimits) {
  const XmlElement root = parse_xml("<a x=\"<>\">\n one <b> two </b><b/>&lt;<![CDATA[<&]]></a>", "f");
  EXPECT_EQ(root.text, "one <<&");
  ASSERT_EQ(root.children.size(), 2U);
  EXPECT_EQ(root.child("b")->text, "two");
  EXPECT_EQ(root.child("c"), nullptr);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  expect_error(Fault::data, {"f: line 1", "more than 32 deep"}, [&] { parse_xml(deep, "f"); });
  std::string many = "<a>";
  for (int i = 0; i < 100'001; ++i) many += "<b/>";
  expect_error(Fault::data, {"more than 100000 elements"}, [&] { parse_xml(many + "</a>", "f"); });
}

}  // namespace
}  // namespace assay::testing
