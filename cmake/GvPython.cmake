# What a wheel of python/ holds beside the package's own files: the library beside them and the program in bin/.
install(TARGETS grapevine_library LIBRARY DESTINATION grapevine COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS grapevine RUNTIME DESTINATION grapevine/bin COMPONENT python EXCLUDE_FROM_ALL)
