// Nothing: CMake parses headers for a target that has a source.
