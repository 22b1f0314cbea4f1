// Empty, because CMake parses headers only for a target that has a source.
