# Debian's packages first; elsewhere FetchContent at a pinned commit. Set ATTN_FETCH_DEPS=ON to fetch even
# where packages are installed (with FETCHCONTENT_SOURCE_DIR_<NAME> pointing at a local copy, offline).
include(FetchContent)
option(ATTN_FETCH_DEPS "Fetch pinned sources instead of using installed packages" OFF)

# attn_fetch(<name> <repository> <commit>): sources of a library, built with its own tests and docs off.
function(attn_fetch name repository commit)
  message(STATUS "attnscope: ${name} is not installed; using ${repository} at ${commit}")
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit} SYSTEM)
  FetchContent_MakeAvailable(${name})
  set(${name}_SOURCE_DIR "${${name}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

macro(attn_find name)
  set(${name}_FOUND FALSE)
  if(NOT ATTN_FETCH_DEPS)
    find_package(${name} QUIET ${ARGN})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenGL REQUIRED COMPONENTS OpenGL EGL)
# Libraries with a build of their own that is no business of ours come from the system everywhere.
find_package(Boost REQUIRED COMPONENTS context)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(crypto REQUIRED IMPORTED_TARGET libcrypto)

attn_find(fmt)
if(NOT fmt_FOUND)
  attn_fetch(fmt https://github.com/fmtlib/fmt.git a33701196adfad74917046096bf5a2aa0ab0bb50)  # 9.1.0
endif()
attn_find(nlohmann_json)
if(NOT nlohmann_json_FOUND)
  attn_fetch(json https://github.com/nlohmann/json.git 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03)  # 3.11.3
endif()
attn_find(CLI11)
if(NOT CLI11_FOUND)
  attn_fetch(cli11 https://github.com/CLIUtils/CLI11.git 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)  # 2.4.2
endif()
attn_find(glfw3)
if(NOT glfw3_FOUND)
  set(GLFW_BUILD_DOCS OFF CACHE BOOL "" FORCE)
  set(GLFW_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
  set(GLFW_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  # GLFW insists on Wayland's headers unless told otherwise; X11 works on Wayland desktops too.
  pkg_check_modules(attn_wayland QUIET wayland-client wayland-cursor wayland-egl xkbcommon)
  set(GLFW_BUILD_WAYLAND ${attn_wayland_FOUND} CACHE BOOL "" FORCE)
  attn_fetch(glfw https://github.com/glfw/glfw.git 7b6aead9fb88b3623e3b3725ebb42670cbe4c579)  # 3.4
endif()
if(ATTN_TESTS)
  attn_find(GTest)
  if(NOT GTest_FOUND)
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    attn_fetch(googletest https://github.com/google/googletest.git f8d7d77c06936315286eb55f8de22cd23c188571)  # 1.14.0
    if(NOT TARGET GTest::gtest)
      add_library(GTest::gtest ALIAS gtest)
      add_library(GTest::gtest_main ALIAS gtest_main)
    endif()
  endif()
endif()

# stb: headers only here; image_write.cpp of the app holds the implementation.
add_library(attn_stb INTERFACE)
add_library(attn::stb ALIAS attn_stb)
find_path(ATTN_STB_INCLUDE stb_image_write.h PATH_SUFFIXES stb)
if(ATTN_STB_INCLUDE AND NOT ATTN_FETCH_DEPS)
  target_include_directories(attn_stb SYSTEM INTERFACE "${ATTN_STB_INCLUDE}")
else()
  attn_fetch(stb https://github.com/nothings/stb.git 31c1ad37456438565541f4919958214b6e762fb4)
  target_include_directories(attn_stb SYSTEM INTERFACE "${stb_SOURCE_DIR}")
endif()

# Dear ImGui with its GLFW and OpenGL 3 backends. Debian's libimgui-dev has both inside libimgui.a.
add_library(attn_imgui INTERFACE)
add_library(attn::imgui ALIAS attn_imgui)
if(NOT ATTN_FETCH_DEPS)
  pkg_check_modules(imgui QUIET IMPORTED_TARGET imgui)
endif()
if(imgui_FOUND)
  target_link_libraries(attn_imgui INTERFACE PkgConfig::imgui)
  target_include_directories(attn_imgui SYSTEM INTERFACE ${imgui_INCLUDE_DIRS})
else()
  attn_fetch(imgui https://github.com/ocornut/imgui.git f5befd2d29e66809cd1110a152e375a7f1981f06)  # 1.91.9b
  add_library(attn_imgui_build STATIC
    ${imgui_SOURCE_DIR}/imgui.cpp ${imgui_SOURCE_DIR}/imgui_draw.cpp ${imgui_SOURCE_DIR}/imgui_tables.cpp
    ${imgui_SOURCE_DIR}/imgui_widgets.cpp ${imgui_SOURCE_DIR}/misc/cpp/imgui_stdlib.cpp
    ${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
  target_include_directories(attn_imgui_build SYSTEM PUBLIC
    ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends ${imgui_SOURCE_DIR}/misc/cpp)
  target_link_libraries(attn_imgui_build PUBLIC glfw ${CMAKE_DL_LIBS})
  target_link_libraries(attn_imgui INTERFACE attn_imgui_build)
endif()

# glad: the OpenGL 3.3 loader, generated here and offline from the specification that glad carries.
find_program(ATTN_GLAD glad)
if(NOT ATTN_GLAD)
  message(FATAL_ERROR "attnscope: the program 'glad' (2.x) is missing; install python3-glad (Debian, Ubuntu) "
                      "or `pip install glad2`, then configure again")
endif()
set(glad_dir "${CMAKE_BINARY_DIR}/glad")
if(NOT EXISTS "${glad_dir}/src/gl.c")
  execute_process(COMMAND "${ATTN_GLAD}" --reproducible --quiet --api gl:core=3.3 --extensions ""
                          --out-path "${glad_dir}" c
                  RESULT_VARIABLE glad_result OUTPUT_QUIET ERROR_VARIABLE glad_error)
  if(NOT glad_result EQUAL 0)
    message(FATAL_ERROR "attnscope: glad could not generate the OpenGL loader: ${glad_error}")
  endif()
endif()
add_library(attn_glad STATIC "${glad_dir}/src/gl.c")
target_include_directories(attn_glad SYSTEM PUBLIC "${glad_dir}/include")
add_library(attn::glad ALIAS attn_glad)
