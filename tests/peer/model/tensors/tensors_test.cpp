#include <bit>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "optim/data/table/row_source.h"
#include "peer/model/tensors/tensor_file.h"
#include "tests/error_in.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

const std::vector<float> weight{1, 2, 3, 4, 5, 6};
const std::vector<float> bias{7, 8};
const std::vector<Parameter> parameters{{"fc.weight", {2, 3}}, {"fc.bias", {2}}};

class Tensors : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string good() const {
    write_safetensors(path("m"), {{"fc.weight", {2, 3}, weight}, {"fc.bias", {2}, bias}},
                      {{"fleet", "ring \"8\""}});
    return path("m");
  }
  /// Returns a file with this header and `bytes` bytes of data.
  std::string file(const std::string& header, std::size_t bytes) const {
    std::ofstream out(path("x"), std::ios::binary);
    const std::uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), sizeof length);
    out << header << std::string(bytes, '\0');
    return path("x");
  }
  std::string refusal(const std::string& header, std::size_t bytes) const {
    const std::string name = file(header, bytes);
    return error_in(scratch_, [&] { open_tensors(name)->read(0); });
  }
  std::string misfit(const std::vector<Parameter>& wanted) const {
    const std::string name = good();
    return error_in(scratch_, [&] { start_values(name, wanted); });
  }

  ScratchFolder scratch_;
};

TEST_F(Tensors, WhatWasWrittenIsRead) {
  const auto read = open_tensors(good());
  ASSERT_EQ(read->tensors().size(), 2U);
  EXPECT_EQ(read->tensors()[0].name, "fc.weight");
  EXPECT_EQ(read->tensors()[0].shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(read->read(1), bias);
  EXPECT_EQ(read->metadata().at("fleet"), "ring \"8\"");
  EXPECT_EQ(start_values(good(), parameters), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

/// The test parses the header as the format's own reader does.
TEST_F(Tensors, TheHeaderIsTheFormatsOwn) {
  std::ifstream in(good(), std::ios::binary);
  std::uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  EXPECT_EQ(length % 8, 0U);
  std::string header(length, ' ');
  in.read(header.data(), static_cast<std::streamsize>(length));
  const auto json = nlohmann::json::parse(header);
  EXPECT_EQ(json.at("fc.weight").at("shape"), nlohmann::json({2, 3}));
  EXPECT_EQ(json.at("fc.bias").at("data_offsets"), nlohmann::json({24, 32}));
  EXPECT_EQ(json.at("fc.bias").at("dtype"), "F32");
  std::vector<float> data(8);
  in.read(reinterpret_cast<char*>(data.data()), 32);
  EXPECT_EQ(data, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(Tensors, WhatCannotBeWrittenIsSaid) {
  EXPECT_THROW(write_safetensors("/nowhere/model", {{"fc.bias", {2}, bias}}, {}),
               std::runtime_error);
  EXPECT_THROW(write_safetensors(path("m"), {{"fc.bias", {3}, bias}}, {}), std::logic_error);
  EXPECT_THROW(write_safetensors(path("m"), {}, {{"long", std::string(17U << 20, 'x')}}),
               std::runtime_error);
}

/// The order in the file may differ from the model's, because safetensors sorts tensors.
TEST_F(Tensors, TensorsAreFoundByName) {
  write_safetensors(path("m"), {{"fc.bias", {2}, bias}, {"fc.weight", {2, 3}, weight}}, {});
  EXPECT_EQ(start_values(path("m"), parameters), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(Tensors, ATensorWithoutElementsIsOne) {
  write_safetensors(path("m"), {{"fc.bias", {2}, bias}, {"none", {0, 3}, {}}}, {});
  const auto file = open_safetensors(path("m"));
  ASSERT_EQ(file->tensors().size(), 2U);
  EXPECT_EQ(file->tensors()[1].shape, (std::vector<std::uint64_t>{0, 3}));
  EXPECT_TRUE(file->read(1).empty());
  EXPECT_EQ(file->read(0).size(), 2U);
}

TEST_F(Tensors, OtherNumbersBecomeFloats) {
  const std::string header = R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},)"
                             R"("c":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})";
  const std::string name = file(header, 0);
  std::ofstream out(name, std::ios::binary | std::ios::app);
  const std::uint16_t halves[] = {0x3FC0, 0xC000, 0x3E00, 0xC000};  // 1.5, -2 in both formats
  const double number = 0.25;
  out.write(reinterpret_cast<const char*>(halves), sizeof halves);
  out.write(reinterpret_cast<const char*>(&number), sizeof number);
  out.close();
  const auto read = open_tensors(name);
  EXPECT_EQ(read->read(0), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(read->read(1), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(read->read(2), (std::vector<float>{0.25F}));
}

TEST_F(Tensors, WhatDoesNotFitNamesTheTensor) {
  EXPECT_EQ(misfit({{"fc.weight", {3, 2}}, {"fc.bias", {2}}}).substr(0, 71),
            "m: tensor `fc.weight`: [2, 3] in the file and [3, 2] in the model; make");
  EXPECT_EQ(misfit({{"fc.weight", {2, 3}}}),
            "m: tensor `fc.bias`: the model has no such parameter; take it out of the file");
  EXPECT_EQ(misfit({{"fc1.weight", {2, 3}}, {"fc.weight", {2, 3}}, {"fc.bias", {2}}}),
            "m: tensor `fc1.weight`: the model needs it, and the file has `fc.weight`, `fc.bias`");
}

TEST_F(Tensors, NothingInAHeaderIsBelieved) {
  const std::string one = R"({"a":{"dtype":"F32","shape":)";
  EXPECT_NE(refusal(one + R"([2],"data_offsets":[0,8]}})", 4).find("beyond the end"),
            std::string::npos);
  EXPECT_NE(refusal(one + R"([3],"data_offsets":[0,8]}})", 8).find("a shape that its data do not"),
            std::string::npos);
  // A product that overflows 2^64 to 8 bytes.
  EXPECT_NE(refusal(one + R"([4294967296,4294967296,2],"data_offsets":[0,8]}})", 8).find("a shape"),
            std::string::npos);
  EXPECT_NE(refusal(one + R"([-1],"data_offsets":[0,8]}})", 8).find("no whole number"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}})", 8).find("`I8`"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"\u001b[2J":{}})", 0).find("tensor `?[2J`"), std::string::npos);
  EXPECT_NE(refusal("{", 8).find("the document ends early"), std::string::npos);
  EXPECT_NE(refusal(one + R"([1],"data_offsets":[0,4]},"a":{}})", 8).find("twice"),
            std::string::npos);
}

TEST_F(Tensors, ALengthThatLiesAllocatesNothing) {
  std::ofstream out(path("x"), std::ios::binary);
  const std::uint64_t length = ~std::uint64_t{0} - 3;
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << "{}";
  out.close();
  EXPECT_NE(error_in(scratch_, [&] { open_tensors(path("x")); }).find("promises a header"),
            std::string::npos);
}

TEST_F(Tensors, ValuesThatAreNotFiniteAreRefused) {
  const std::vector<float> bad{1, std::bit_cast<float>(0x7F80'0000U)};
  write_safetensors(path("m"), {{"fc.bias", {2}, bad}}, {});
  EXPECT_NE(error_in(scratch_,
                     [&] {
                       start_values(path("m"), {{"fc.bias", {2}}});
                     })
                .find("tensor `fc.bias` has values that are not finite"),
            std::string::npos);
}

/// Every cut and every flipped bit of a small file gives an error or other values, never a crash.
TEST_F(Tensors, DamagedFilesAreRefusedOrReadButNeverCrash) {
  const std::string whole = text_of(good());
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& bytes) {
    std::ofstream(path("x"), std::ios::binary) << bytes;
    refused += error_in(scratch_, [&] { start_values(path("x"), parameters); }).empty() ? 0 : 1;
  };
  for (std::size_t size = 0; size < whole.size(); ++size) attempt(whole.substr(0, size));
  EXPECT_EQ(refused, whole.size()) << "a cut file is never whole";
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    attempt(bytes);
  }
}

TEST_F(Tensors, OtherFilesAreRefused) {
  std::ofstream(path("x")) << "a,b\n1,2\n3,4\n";
  EXPECT_EQ(error_in(scratch_, [&] { open_tensors(path("x")); }),
            "x: neither safetensors nor NPZ; name a .safetensors file, or an .npz of numpy.savez");
  EXPECT_NE(error_in(scratch_, [&] { open_tensors(path("none")); }).find("cannot be opened"),
            std::string::npos);
}

/// A reader that opens a pipe without a writer waits for ever.
TEST_F(Tensors, APipeIsRefusedUnopened) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(error_in(scratch_, [&] { open_tensors(path("pipe")); }).find("cannot be opened"),
            std::string::npos);
  EXPECT_NE(error_in(scratch_, [&] { open_rows(path("pipe")); }).find("cannot be opened"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
