// glibc's statistics of malloc, which Swift's Glibc module leaves out.
#ifdef __linux__
#include <malloc.h>
#endif
