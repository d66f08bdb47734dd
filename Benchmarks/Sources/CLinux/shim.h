// What Swift's Glibc module leaves out: malloc's statistics, and what kind of file system a path is on.
#ifdef __linux__
#include <malloc.h>
#include <sys/vfs.h>
#endif

// Counting of instructions by valgrind's callgrind, between two moments. Without its header, and on a processor of its own, nothing is counted.
#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
static inline int bench_can_count(void) { return RUNNING_ON_VALGRIND != 0; }
static inline void bench_start_counting(void) { CALLGRIND_START_INSTRUMENTATION; }
static inline void bench_stop_counting(void) { CALLGRIND_STOP_INSTRUMENTATION; }
static inline void bench_write_count(void) { CALLGRIND_DUMP_STATS; }
#define BENCH_HAS_CALLGRIND 1
#endif
#endif
#ifndef BENCH_HAS_CALLGRIND
static inline int bench_can_count(void) { return 0; }
static inline void bench_start_counting(void) {}
static inline void bench_stop_counting(void) {}
static inline void bench_write_count(void) {}
#endif
