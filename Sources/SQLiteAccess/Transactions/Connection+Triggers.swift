// Triggers: whether they run, and which rows are changed.

import CSQLite

/// Records which rows a connection's statements change; see ``Connection/rowChangeHandler``.
final class RowChangeHandler {
  let body: (_ table: String, _ rowID: Int64) -> Void

  init(_ body: @escaping (_ table: String, _ rowID: Int64) -> Void) {
    self.body = body
  }

  func install(on database: OpaquePointer) {
    _ = sqlite3_update_hook(
      database,
      { handler, _, _, table, rowID in
        guard let handler, let table else { return }
        Unmanaged<RowChangeHandler>.fromOpaque(handler).takeUnretainedValue()
          .body(String(cString: table), rowID)
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}

extension Connection {
  /// Whether the database's triggers run when this connection changes rows; true by default.
  ///
  /// Temporary triggers always run. Changing this makes SQLite prepare the connection's statements
  /// again.
  public var runsTriggers: Bool {
    get { triggerSetting(-1) }
    set { _ = triggerSetting(newValue ? 1 : 0) }
  }

  private func triggerSetting(_ value: Int32) -> Bool {
    var now: Int32 = 0
    let result = csqlite_db_config_boolean(
      openDatabase, SQLITE_DBCONFIG_ENABLE_TRIGGER, value, &now)
    precondition(result == SQLITE_OK, "this SQLite has no setting for triggers")
    return now != 0
  }

  /// Called for each row that this connection inserts, changes or deletes, by its own statements or
  /// by triggers; nil for no handler.
  ///
  /// It must not use the connection. It is not called for tables without row ids, nor for rows that
  /// `REPLACE` removes.
  public var rowChangeHandler: ((_ table: String, _ rowID: Int64) -> Void)? {
    get { rowChanges?.body }
    set {
      rowChanges = newValue.map(RowChangeHandler.init)
      if let rowChanges {
        rowChanges.install(on: openDatabase)
      } else {
        _ = sqlite3_update_hook(openDatabase, nil, nil)
      }
    }
  }
}
