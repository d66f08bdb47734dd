// What Swift's Glibc module leaves out: malloc's statistics, and what kind of file system a path is on.
#ifdef __linux__
#include <malloc.h>
#include <sys/vfs.h>
#endif
