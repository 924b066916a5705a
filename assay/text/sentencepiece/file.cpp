#include "assay/text/sentencepiece/file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include <assay/error.h>
#include "assay/support/text/characters.h"
#include "assay/text/vocabulary.h"

namespace assay::text {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::size_t most_pieces = std::size_t{1} << 24;

// Fields of one message, each handed to `field` with its number and kind, which reads it or says that it is
// not known.
class Message {
 public:
  Message(CodedInputStream& input, const std::string& name) : input_(input), name_(name) {}

  using Field = std::function<bool(int number)>;
  void read(const Field& field) {
    while (const std::uint32_t tag = input_.ReadTag()) {
      tag_ = tag;
      if (!field(WireFormatLite::GetTagFieldNumber(tag)) && !WireFormatLite::SkipField(&input_, tag))
        refuse();
    }
    if (!input_.ConsumedEntireMessage()) refuse();
  }

  void message(const std::function<void()>& read_it) {
    require(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    std::uint32_t size = 0;
    // A limit beyond the end is none, so a message that is cut off would be taken for whole.
    if (!input_.ReadVarint32(&size) || std::int64_t{size} > input_.BytesUntilLimit()) refuse();
    const auto [limit, depth] = input_.IncrementRecursionDepthAndPushLimit(static_cast<int>(size));
    if (depth < 0) refuse();
    read_it();
    if (!input_.DecrementRecursionDepthAndPopLimit(limit)) refuse();
  }
  std::string text() {
    require(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    std::string found;
    std::uint32_t size = 0;
    if (!input_.ReadVarint32(&size) || !input_.ReadString(&found, static_cast<int>(size))) refuse();
    return found;
  }
  float real() {
    require(WireFormatLite::WIRETYPE_FIXED32);
    std::uint32_t bits = 0;
    if (!input_.ReadLittleEndian32(&bits)) refuse();
    return std::bit_cast<float>(bits);
  }
  std::uint64_t number() {
    require(WireFormatLite::WIRETYPE_VARINT);
    std::uint64_t found = 0;
    if (!input_.ReadVarint64(&found)) refuse();
    return found;
  }

 private:
  void require(WireFormatLite::WireType kind) const {
    if (WireFormatLite::GetTagWireType(tag_) != kind) refuse();
  }
  [[noreturn]] void refuse() const {
    fail(Fault::data, "{}: this is not a model of SentencePiece, or it is damaged", name_);
  }

  CodedInputStream& input_;
  const std::string& name_;
  std::uint32_t tag_ = 0;
};

class FileReader {
 public:
  FileReader(std::string_view bytes, const std::string& name)
      : input_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {
    file_.name = name;
  }

  SentencePieceFile read() {
    Message whole(input_, file_.name);
    whole.read([&](int field) {
      const auto part = [&](auto read_part) {
        whole.message([&] { (this->*read_part)(); });
        return true;
      };
      if (field == 1) return part(&FileReader::read_piece);
      if (field == 2) return part(&FileReader::read_training);
      if (field == 3) return part(&FileReader::read_normalizer);
      if (field == 5) return part(&FileReader::read_denormalizer);
      return false;
    });
    require_kind();
    check_pieces();
    return std::move(file_);
  }

 private:
  void read_piece() {
    Message message(input_, file_.name);
    SentencePiece piece;
    std::uint64_t type = 1;
    message.read([&](int field) {
      if (field == 1)
        piece.text = message.text();
      else if (field == 2)
        piece.score = message.real();
      else if (field == 3)
        type = message.number();
      return field >= 1 && field <= 3;
    });
    if (type < 1 || type > 6)
      fail(Fault::data, "{}: piece {} is of type {}; there are 1 to 6", file_.name, file_.pieces.size(),
           type);
    piece.type = static_cast<SentencePiece::Type>(type);
    file_.pieces.push_back(std::move(piece));
    if (file_.pieces.size() > most_pieces)
      fail(Fault::data, "{}: there are more than {} pieces", file_.name, most_pieces);
  }

  void read_training() {
    Message message(input_, file_.name);
    message.read([&](int field) {
      if (field == 3)
        kind_ = message.number();
      else if (field == 24)
        file_.blank_at_end = message.number() != 0;
      else if (field == 35)
        file_.by_bytes = message.number() != 0;
      return field == 3 || field == 24 || field == 35;
    });
  }

  void read_normalizer() {
    Message message(input_, file_.name);
    message.read([&](int field) {
      if (field == 2)
        file_.character_map = message.text();
      else if (field == 3)
        file_.puts_blank = message.number() != 0;
      else if (field == 4)
        file_.joins_blanks = message.number() != 0;
      else if (field == 5)
        file_.marks_blanks = message.number() != 0;
      return field >= 2 && field <= 5;
    });
  }

  void read_denormalizer() {
    Message message(input_, file_.name);
    message.read([&](int field) {
      if (field != 2) return false;
      if (!message.text().empty())
        fail(Fault::unsupported,
             "{}: texts are changed again when they are made of tokens (denormalizer_spec), which Assay does "
             "not do; "
             "save the tokenizer with transformers and give its tokenizer.json",
             file_.name);
      return true;
    });
  }

  void require_kind() {
    if (kind_ != 1 && kind_ != 2)
      fail(
          Fault::unsupported,
          "{}: a model of SentencePiece of type {}; Assay reads UNIGRAM and BPE, so train it as one of these",
          file_.name,
          kind_ == 3   ? "WORD"
          : kind_ == 4 ? "CHAR"
                       : fmt::format("{}", kind_));
    file_.kind = static_cast<SentencePieceFile::Kind>(kind_);
  }

  void check_pieces() {
    std::set<std::string_view> texts, bytes;
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < file_.pieces.size(); ++i) {
      const SentencePiece& piece = file_.pieces[i];
      if (piece.text.empty() || piece.text.size() > longest_token || !character_codes(piece.text))
        fail(Fault::data, "{}: piece {} is not a text of 1 to {} bytes in UTF-8", file_.name, i,
             longest_token);
      if (!std::isfinite(piece.score)) fail(Fault::data, "{}: piece {} has no score", file_.name, i);
      if (!texts.insert(piece.text).second)
        fail(Fault::data, "{}: piece '{}' is there twice", file_.name, piece.text);
      if (piece.type == SentencePiece::Type::byte) bytes.insert(piece.text);
      if (piece.type != SentencePiece::Type::unknown) continue;
      file_.unknown = i;
      ++unknown;
    }
    if (unknown != 1)
      fail(Fault::data, "{}: {} pieces stand for what is unknown; there must be one", file_.name, unknown);
    if (file_.by_bytes && bytes.size() != 256)
      fail(Fault::data, "{}: {} pieces are bytes; there must be one for each of 256", file_.name,
           bytes.size());
    for (unsigned byte = 0; file_.by_bytes && byte < 256; ++byte) {
      if (!bytes.contains(byte_piece(byte)))
        fail(Fault::data, "{}: no piece that is a byte is called '{}'", file_.name, byte_piece(byte));
    }
    if (file_.kind == SentencePieceFile::Kind::bpe) refuse_unused();
  }

  // Pieces that merge and then are taken apart again.
  void refuse_unused() const {
    for (const SentencePiece& piece : file_.pieces)
      if (piece.type == SentencePiece::Type::unused)
        fail(Fault::unsupported,
             "{}: piece '{}' is unused, which Assay does not support in BPE; train the tokenizer without "
             "such pieces",
             file_.name, piece.text);
  }

  CodedInputStream input_;
  SentencePieceFile file_;
  std::uint64_t kind_ = 1;
};

}  // namespace

std::string byte_piece(unsigned byte) { return fmt::format("<0x{:02X}>", byte); }

SentencePieceFile read_sentencepiece(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) fail(Fault::data, "{}: this is not a model of SentencePiece: it is empty", name);
  return FileReader(bytes, name).read();
}

}  // namespace assay::text
