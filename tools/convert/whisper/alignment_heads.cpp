// tools/convert/whisper/alignment_heads.cpp - the heads that word times are made of, for the published sizes.
//
// openai publishes them with the package (`_ALIGNMENT_HEADS`, whisper/__init__.py), not in the checkpoints. The sizes
// say which table it is, but for large-v1 and large-v2, which differ in nothing else: the file's name decides.
// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace {

using heads = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct published {
  std::uint32_t width, audio_layers, text_layers, vocabulary;
  const char* name;  // part of the file's name where sizes do not tell
  heads (*of)();
};

const published table[] = {
    {384, 4, 4, 51864, "",
     [] {
       return heads{{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}};
     }},
    {384, 4, 4, 51865, "",
     [] {
       return heads{{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}};
     }},
    {512, 6, 6, 51864, "",
     [] {
       return heads{{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}};
     }},
    {512, 6, 6, 51865, "",
     [] {
       return heads{{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}};
     }},
    {768, 12, 12, 51864, "",
     [] {
       return heads{{6, 6},  {7, 0},  {7, 3},  {7, 8},  {8, 2},  {8, 5},  {8, 7},   {9, 0},  {9, 4}, {9, 8},
                    {9, 10}, {10, 0}, {10, 1}, {10, 2}, {10, 3}, {10, 6}, {10, 11}, {11, 2}, {11, 4}};
     }},
    {768, 12, 12, 51865, "",
     [] {
       return heads{{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}};
     }},
    {1024, 24, 24, 51864, "",
     [] {
       return heads{{11, 4},  {14, 1}, {14, 12}, {14, 14}, {15, 4}, {16, 0}, {16, 4}, {16, 9},  {17, 12},
                    {17, 14}, {18, 7}, {18, 10}, {18, 15}, {20, 0}, {20, 3}, {20, 9}, {20, 14}, {21, 12}};
     }},
    {1024, 24, 24, 51865, "",
     [] {
       return heads{{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}};
     }},
    {1280, 32, 32, 51865, "v1",
     [] {
       return heads{{9, 19}, {11, 2}, {11, 4}, {11, 17}, {22, 7}, {22, 11}, {22, 17}, {23, 2}, {23, 15}};
     }},
    {1280, 32, 32, 51865, "",
     [] {
       return heads{{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4},
                    {18, 11}, {18, 19}, {19, 11}, {21, 2},  {21, 3},  {22, 3},  {22, 9},  {22, 12},
                    {23, 5},  {23, 7},  {23, 13}, {25, 5},  {26, 1},  {26, 12}, {27, 15}};
     }},
    {1280, 32, 32, 51866, "",
     [] {
       return heads{{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}};
     }},
    {1280, 32, 4, 51866, "",
     [] {
       return heads{{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}};
     }},
};

}  // namespace

heads published_alignment_heads(const settings& s, const std::string& file_name) {
  for (const published& p : table)
    if (p.width == s.width && p.audio_layers == s.audio_layers && p.text_layers == s.text_layers &&
        p.vocabulary == s.vocabulary && file_name.find(p.name) != std::string::npos)
      return p.of();
  return {};
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
