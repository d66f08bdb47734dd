// LMDB's header. Its flags and codes are macros of plain numbers, which Swift reads as they are.
#pragma once
#include <lmdb.h>
