// Settings of SQLite that hold for the whole process.
//
// This library changes none of them by itself: other code of the process may use SQLite too, and
// may rely on them. A program that wants them says so at its start.

import CSQLite
import CSQLiteThreads

/// Settings of SQLite that hold for the whole process, whichever code uses it.
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
  /// It changes two settings, for this library and for all other code of the process that uses the
  /// same SQLite library:
  ///
  /// - **Mutexes** (`SQLITE_CONFIG_MUTEX`, on Linux with glibc only): SQLite's mutexes become
  ///   adaptive mutexes of pthreads, which try about a hundred times before the thread sleeps. A
  ///   reader and a writer of one file meet at a mutex in every transaction, and the time for which
  ///   it is locked is shorter than falling asleep and waking up.
  /// - **Memory statistics** (`SQLITE_CONFIG_MEMSTATUS`): they are turned off, since each
  ///   allocation would lock their counters. `sqlite3_memory_used()` and `sqlite3_status()` then
  ///   report zeros, and `sqlite3_soft_heap_limit64()` has no effect.
  ///
  /// What it wins depends on the machine. Where it matters most, when one thread reads rows by key
  /// while another one commits without a pause, reading took 1.1 to 1.4 times as long without it on
  /// two cores. A program that uses SQLite on one thread at a time gains nothing.
  ///
  /// It may be called again, from any thread, and does nothing then. The call must not run while
  /// another thread opens its first connection, since SQLite does not protect this step.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/misuse`` if SQLite is in use already, in whatever
  ///   part of the process. Nothing is changed then, and everything works as without the call.
  public static func configureForThreads() throws(SQLiteError) {
    let result = csqlite_configure_for_threads()
    if result == SQLITE_OK { return }
    throw SQLiteError(
      code: ResultCode(rawValue: result),
      message: "SQLiteProcess.configureForThreads() was called after SQLite was used for the first "
        + "time: call it at the start of the program")
  }
}
