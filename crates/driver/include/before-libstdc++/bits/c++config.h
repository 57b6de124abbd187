/* Strings are compiled with the code under test, as libstdc++ itself does from C++20 on, and not taken from the library: what they touch is seen. Other
   templates stay in the library; above all streams, whose standard ones several threads may use at once. */
#pragma GCC system_header
#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
