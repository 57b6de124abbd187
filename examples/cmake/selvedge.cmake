# include(selvedge.cmake) behind project(). A build directory is one for selvedge, or it is not: cmake -B build-selvedge -DSELVEDGE=ON
option(SELVEDGE "Compile everything for selvedge, and add its tests" OFF)

if(SELVEDGE)
    find_program(SELVEDGE_PROGRAM selvedge REQUIRED)
    foreach(language C CXX)
        if(CMAKE_${language}_COMPILER)
            execute_process(COMMAND "${SELVEDGE_PROGRAM}" cflags --cc "${CMAKE_${language}_COMPILER}"
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
            # SHELL: keeps words together that would be taken for repetitions. Assertions are on, whatever the build type.
            add_compile_options("$<$<COMPILE_LANGUAGE:${language}>:SHELL:${flags} -UNDEBUG>")
            execute_process(COMMAND "${SELVEDGE_PROGRAM}" cflags --cc "${CMAKE_${language}_COMPILER}" --link
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
            separate_arguments(SELVEDGE_LINK UNIX_COMMAND "${flags}")
        endif()
    endforeach()
    # What is optimised at the link is not compiled before.
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
endif()

# selvedge_test(NAME SOURCES file... [LIBRARIES target...] [FLAGS flag...]): a program of tests, and a test of CTest that runs it under selvedge.
function(selvedge_test name)
    cmake_parse_arguments(PARSE_ARGV 1 this "" "" "SOURCES;LIBRARIES;FLAGS")
    if(SELVEDGE)
        add_executable(${name} ${this_SOURCES})
        target_link_libraries(${name} PRIVATE ${this_LIBRARIES} ${SELVEDGE_LINK})
        add_test(NAME ${name} COMMAND "${SELVEDGE_PROGRAM}" test $<TARGET_FILE:${name}> ${this_FLAGS})
    endif()
endfunction()
