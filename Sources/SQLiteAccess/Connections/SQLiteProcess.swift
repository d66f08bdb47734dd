// SQLite settings that apply to the whole process.
//
// This library changes none of them by itself: other code in the process may use SQLite, too, and
// rely on them. A program that wants them calls this at its start.

import CSQLite
import CSQLiteThreads

/// SQLite settings that apply to the whole process, whichever code uses SQLite.
public enum SQLiteProcess {
  /// Configures SQLite for programs that use it on several threads at once.
  ///
  /// Call it at the start of the program, before any code of the process uses SQLite:
  ///
  ///     @main struct Notes {
  ///       static func main() throws {
  ///         try SQLiteProcess.configureForThreads()
  ///         …
  ///       }
  ///     }
  ///
  /// It changes three settings, for this library and for all other code of the process that uses
  /// the same SQLite library:
  ///
  /// - **Mutexes** (`SQLITE_CONFIG_MUTEX`, on Linux with glibc only): SQLite's mutexes become
  ///   adaptive pthread mutexes, which spin about a hundred times before the thread sleeps. A
  ///   reader and a writer of one file share a mutex in every transaction, and it is locked for
  ///   less time than a thread needs to fall asleep and wake up.
  /// - **Memory statistics** (`SQLITE_CONFIG_MEMSTATUS`): they are turned off, because each
  ///   allocation would lock their counters. `sqlite3_memory_used()` and `sqlite3_status()` then
  ///   report zeros, and `sqlite3_soft_heap_limit64()` has no effect.
  /// - **Statement journals** (`SQLITE_CONFIG_STMTJRNL_SPILL`): SQLite writes what a savepoint may
  ///   have to restore to a temporary file above 120 KiB instead of 64 KiB. Transactions that share
  ///   a commit have a savepoint each. One that changes more than 16 pages would use the file: one
  ///   that inserts a row with a dozen indexes, for example. More is not possible: SQLite's own
  ///   writes are shorter than 128 KiB.
  ///
  /// The gain depends on the machine. It is largest when one thread reads rows by key while another
  /// one commits continuously: on two cores such reads took 1.1 to 1.4 times as long without this
  /// call. 10,000 transactions of 20 pages each that are not awaited one by one took 1.3 times as
  /// long. A program that uses SQLite on one thread at a time gains nothing.
  ///
  /// Further calls, from any thread, do nothing. The call must not run while another thread opens
  /// its first connection, because SQLite does not protect this step.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if SQLite is already in use anywhere in
  ///   the process. Nothing is changed then, and SQLite works as without the call.
  public static func configureForThreads() throws(SQLiteError) {
    let result = csqlite_configure_for_threads()
    if result == SQLITE_OK { return }
    throw SQLiteError(
      code: ResultCode(rawValue: result),
      message: "SQLiteProcess.configureForThreads() was called after SQLite was used for the first "
        + "time: call it at the start of the program")
  }
}
