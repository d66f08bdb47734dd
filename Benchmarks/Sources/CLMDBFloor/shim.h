// LMDB's C API, as the floor calls it, past the library.
#pragma once
#include <lmdb.h>
