/*
 * Stands before the header of libstdc++ in programs that are built to be recorded (src/cli/cc.c). Up to C++17 the
 * members of std::string that are not inlined come from libstdc++, which is not instrumented: nothing would say
 * that a string got another block before its old one was freed. -1 is libstdc++'s own word for: compile them into
 * the program, as C++20 does.
 */
#include_next <bits/c++config.h>
#if _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
