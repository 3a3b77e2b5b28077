// The source text that the code pane shows, embedded when the program is built (embed_sources.cmake).
#pragma once

#include <span>
#include <string_view>

namespace attn::viz {

struct EmbeddedSource {
  std::string_view path;  // in the repository
  std::string_view text;
};
std::span<const EmbeddedSource> embedded_sources();

}  // namespace attn::viz
