// PostgreSQL's client library in C, as the floor calls it, past Dflat.
#pragma once
#include <libpq-fe.h>
