# find_package(Tiga) gives
#   Tiga::tiga         the shared library, Tiga::tiga_static the static one
#   Tiga::tigac        the compiler
#   tiga_add_bundle()  compiles a model with the project
cmake_minimum_required(VERSION 3.20)
get_filename_component(TIGA_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET Tiga::tiga)
  add_library(Tiga::tiga SHARED IMPORTED)
  set_target_properties(Tiga::tiga PROPERTIES
    IMPORTED_LOCATION "${TIGA_PREFIX}/lib/libtiga.so.1"
    IMPORTED_SONAME "libtiga.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${TIGA_PREFIX}/include")
  add_library(Tiga::tiga_static STATIC IMPORTED)
  set_target_properties(Tiga::tiga_static PROPERTIES
    IMPORTED_LOCATION "${TIGA_PREFIX}/lib/libtiga.a"
    INTERFACE_INCLUDE_DIRECTORIES "${TIGA_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;${CMAKE_DL_LIBS};m")
  add_executable(Tiga::tigac IMPORTED)
  set_target_properties(Tiga::tigac PROPERTIES IMPORTED_LOCATION "${TIGA_PREFIX}/bin/tigac")
endif()

# tiga_add_bundle(NAME MODEL [LINKED] [OPTIONS option...])
#
# Compiles MODEL, with the options of tigac, when it or tigac has changed. Without LINKED, NAME is a target that writes
# NAME.tgb in the build folder; its property TIGA_BUNDLE is the path. With LINKED, NAME is a static library of the
# kernels with the header MODEL's name gives (heat.tg: "heat.h"); link it, and open it with tiga_bundle_from_linked.
function(tiga_add_bundle name model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "LINKED" "" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tiga_add_bundle: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(model "${model}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_filename_component(stem "${model}" NAME_WLE)
  if(arg_LINKED)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
      set(language C)
    elseif("CXX" IN_LIST languages)
      set(language CXX)
    else()
      message(FATAL_ERROR "tiga_add_bundle(${name} … LINKED): the project enables neither C nor C++")
    endif()
    # One program holds one table of that name.
    get_property(tables GLOBAL PROPERTY TIGA_LINKED_TABLES)
    if("${stem}" IN_LIST tables)
      message(FATAL_ERROR "tiga_add_bundle(${name} … LINKED): another LINKED model is called ${stem}, and so would be "
        "its table tiga_linked_${stem}: give the model's file another name")
    endif()
    set_property(GLOBAL APPEND PROPERTY TIGA_LINKED_TABLES "${stem}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir")
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
      OUTPUT "${folder}/${stem}.o" "${folder}/${stem}.h"
      COMMAND Tiga::tigac "${model}" "--emit=obj=${folder}/${stem}.o,header=${folder}/${stem}.h" ${arg_OPTIONS}
      DEPENDS "${model}" "$<TARGET_FILE:Tiga::tigac>" VERBATIM)
    add_library(${name} STATIC "${folder}/${stem}.o" "${folder}/${stem}.h")
    set_source_files_properties("${folder}/${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language})
    target_include_directories(${name} INTERFACE "${folder}")
    target_link_libraries(${name} INTERFACE Tiga::tiga)
  else()
    set(bundle "${CMAKE_CURRENT_BINARY_DIR}/${name}.tgb")
    add_custom_command(
      OUTPUT "${bundle}" COMMAND Tiga::tigac "${model}" -o "${bundle}" ${arg_OPTIONS}
      DEPENDS "${model}" "$<TARGET_FILE:Tiga::tigac>" VERBATIM)
    add_custom_target(${name} ALL DEPENDS "${bundle}")
    set_target_properties(${name} PROPERTIES TIGA_BUNDLE "${bundle}")
  endif()
endfunction()
