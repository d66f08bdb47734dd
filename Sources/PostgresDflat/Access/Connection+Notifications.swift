// Notifications that a connection has received.

import CPostgres
import Platform

extension Connection {
  /// The socket, for waiting until something arrives.
  var socket: Int32 { PQsocket(handle) }

  /// Reads what has arrived, without waiting.
  /// - Returns: The texts of the notifications.
  func takeNotifications() throws(PostgresError) -> [String] {
    guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
      throw PostgresError(
        state: "", message: String(cString: PQerrorMessage(handle)).trimmingNewlines,
        isConnectionLost: true)
    }
    var texts: [String] = []
    while let notification = PQnotifies(handle) {
      texts.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return texts
  }
}
