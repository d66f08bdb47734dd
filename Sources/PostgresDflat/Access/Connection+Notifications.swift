// Notifications that a connection has received.

import CPostgres
import Platform

extension Connection {
  /// The socket, for waiting until something arrives.
  var socket: Int32 { PQsocket(handle) }

  /// Reads what has arrived, without waiting.
  /// - Returns: The texts of the notifications.
  func takeNotifications() throws(PostgresError) -> [String] {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    // To the end: when a connection ends, the event that its last bytes have arrived is the last
    // one.
    repeat {
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
        throw PostgresError(
          state: "", message: String(cString: PQerrorMessage(handle)).trimmingNewlines,
          isConnectionLost: true)
      }
    } while poll(&descriptor, 1, 0) > 0
    var texts: [String] = []
    while let notification = PQnotifies(handle) {
      texts.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return texts
  }
}
