// The header of PostgreSQL's client library. The codes of error fields are macros of characters,
// which Swift does not import.
#pragma once
#include <libpq-fe.h>

static const int cpostgres_field_sqlstate = PG_DIAG_SQLSTATE;
static const int cpostgres_field_message = PG_DIAG_MESSAGE_PRIMARY;
static const int cpostgres_field_detail = PG_DIAG_MESSAGE_DETAIL;
static const int cpostgres_field_hint = PG_DIAG_MESSAGE_HINT;
static const int cpostgres_field_constraint = PG_DIAG_CONSTRAINT_NAME;
