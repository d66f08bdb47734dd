// PipelinedBegin: the statements that begin a transaction, and read the version of the index marks.
//
// Their answers are only read with that of the next statement, unless it depends on the marks: then
// it waits for them.

import Dflat

/// The beginning of a transaction whose answers may be missing. Used by one thread.
final class PipelinedBegin {
  /// The marks that were known last.
  let known: IndexMarks
  private let engine: PostgresEngine
  private let connection: Connection
  private let version = Version()

  private final class Version {
    var number: Int64?
    var isMissing = false
  }

  /// Sends the statements.
  init(
    _ isolation: PostgresEngine.Isolation, _ engine: PostgresEngine, _ connection: Connection
  ) throws(PostgresError) {
    self.engine = engine
    self.connection = connection
    known = engine.knownMarks
    try connection.begin(isolation.statements)
    connection.parameters.begin(0)
    try connection.send(
      Connection.Sent(
        statement: engine.system.selectVersion,
        receive: { [version] rows in
          version.number = rows.count > 0 ? rows.integer(0, 0) : nil
          version.isMissing = rows.count == 0
        }))
  }

  /// Whether the server has answered: until then the transaction has done nothing.
  var isAnswered: Bool { version.number != nil || version.isMissing }

  /// The marks of the transaction's state.
  func marks() throws(PostgresError) -> IndexMarks {
    if version.number == nil { try connection.finishPipeline() }
    if version.isMissing { throw engine.system.missingState }
    guard let number = version.number else {
      throw PostgresError(
        state: "25P02", message: "the transaction has not begun", isConnectionLost: false)
    }
    if number == known.version { return known }
    let marks = try IndexMarks(version: number, engine.system, connection)
    engine.note(marks)
    return marks
  }
}
