// SQLite's header, and the few calls Swift cannot make by itself: macros that are function
// pointers, and functions with a variable number of arguments. A null pointer stands for an empty
// value here, never for SQL's NULL.
#pragma once
#include <sqlite3.h>

// Binds a copy of the text.
static inline int csqlite_bind_text_copying(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Binds the text in place; it must outlive the binding.
static inline int csqlite_bind_text_in_place(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

// Binds a copy of the bytes.
static inline int csqlite_bind_blob_copying(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

// Binds the bytes in place; they must outlive the binding.
static inline int csqlite_bind_blob_in_place(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

// Gives a function's result as a copy of the text.
static inline void csqlite_result_text_copying(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_text64(
      context, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Gives a function's result as a copy of the bytes.
static inline void csqlite_result_blob_copying(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_blob64(context, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

// Sets (0 or 1) or, with -1, only reads a boolean setting of a connection.
static inline int csqlite_db_config_boolean(sqlite3 *db, int setting, int value, int *now) {
  return sqlite3_db_config(db, setting, value, now);
}
