// LMDB's header. Its flags and codes are macros of plain numbers, which Swift reads as they are.
#pragma once
#include <lmdb.h>

#ifdef __linux__
#include <sys/types.h>

// Hidden without _GNU_SOURCE.
extern int fallocate(int file, int mode, off_t offset, off_t length);
enum { LMDB_FALLOCATE_KEEP_SIZE = 1 };
#endif
