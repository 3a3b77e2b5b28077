# One interface target carries what every target of ours compiles with.
add_library(attn_options INTERFACE)
target_include_directories(attn_options INTERFACE "${CMAKE_SOURCE_DIR}")
# -ffp-contract=off: the emulator's results are compared bit by bit across thread orders and builds.
target_compile_options(attn_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off>)
# -Wrestrict of g++ 12 sees overlaps in std::string concatenation that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(attn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# Several sources compiled as one (CI's builds, three times faster): then classes that no header names may
# well hold types of an anonymous namespace.
if(CMAKE_UNITY_BUILD)
  target_compile_options(attn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(ATTN_WERROR)
  target_compile_options(attn_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(ATTN_SANITIZE)
  string(REPLACE ";" "," sanitize "${ATTN_SANITIZE}")
  # Instrumented code makes g++ see uninitialized values that are not there (GCC's manual says so).
  target_compile_options(attn_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -fsanitize=${sanitize} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  if("address" IN_LIST ATTN_SANITIZE)
    # AddressSanitizer stops at these by itself, and without the twin checks everything compiles a third faster.
    target_compile_options(attn_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,pointer-overflow,vptr>)
  endif()
  target_link_options(attn_options INTERFACE -fsanitize=${sanitize})
endif()

# The headers that most files include, parsed once a target. For CI's builds alone: an ordinary build shows a
# file that forgot an include.
option(ATTN_PCH "Precompile the headers that most files include" OFF)
function(attn_precompile target)
  if(ATTN_PCH)
    set(headers <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map> <memory>
        <numeric> <optional> <random> <set> <span> <string> <string_view> <utility> <vector> <fmt/format.h> ${ARGN})
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# The sanitizer presets choose what compiles fast; the emulator and the model do most of the computing.
function(attn_must_run_fast target)
  if(ATTN_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  endif()
  if("address" IN_LIST ATTN_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:--param=asan-instrumentation-with-call-threshold=7000>)  # g++'s own default
  endif()
endfunction()
