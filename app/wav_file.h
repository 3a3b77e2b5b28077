// How long a recorded voice is: a stop of a film is held that long.
#pragma once

#include <filesystem>

namespace attn::app {

/// Seconds, from the sizes in the file's header. Throws InputError when it is no uncompressed .wav.
double wav_seconds(const std::filesystem::path& path);

}  // namespace attn::app
