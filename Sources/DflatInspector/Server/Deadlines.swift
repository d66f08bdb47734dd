// Deadlines: ends connections that send a request, or read an answer, too slowly.
//
// The library ends connections on which nothing happens for some time. A client that sends a byte
// now and then would keep its connection for as long as it likes, so each phase has an end of its
// own: the socket is shut down, after which nothing happens any more. That is done under the lock
// under which the socket is forgotten: it cannot be closed, and its number used again, in between.
//
// While the server works, the library does not look at the connection. So its socket is asked here
// now and then whether the client has closed it.

import CMicroHTTP
import Dispatch
import Platform

final class Deadlines: Sendable {
  private struct Phase {
    let socket: Int32
    /// nil while the server works.
    var end: ContinuousClock.Instant?
    /// The client that waits while the server works.
    var asker: Asker?
  }

  private struct State {
    /// By the address of the library's connection.
    var phases: [UInt: Phase] = [:]
    var timer: (any DispatchSourceTimer)?
  }

  private let limits: HTTPLimits
  private let state = Mutex(State())

  init(_ limits: HTTPLimits) { self.limits = limits }

  func start() {
    state.withLock { state in
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
      timer.setEventHandler { [weak self] in
        self?.endWhatIsLate()
        self?.findWhoIsGone()
      }
      timer.resume()
      state.timer = timer
    }
  }

  func stop() {
    state.withLock { state in
      state.timer?.cancel()
      state.timer = nil
    }
  }

  /// A request must come now.
  func expectRequest(on connection: OpaquePointer) {
    set(connection, .now + .seconds(limits.requestSeconds))
  }

  /// The answer must be read now.
  func expectReading(on connection: OpaquePointer) {
    set(connection, .now + .seconds(limits.answerSeconds))
  }

  /// The server works for a client.
  func expectNothing(on connection: OpaquePointer, but asker: Asker) {
    set(connection, nil, asker)
  }

  /// The server ends: no client gets an answer any more.
  func dismissAll() {
    for asker in state.withLock({ $0.phases.values.compactMap(\.asker) }) { asker.leave() }
  }

  /// A connection ends.
  func remove(_ connection: OpaquePointer) {
    let address = UInt(bitPattern: connection)
    state.withLock { _ = $0.phases.removeValue(forKey: address) }
  }

  private func set(
    _ connection: OpaquePointer, _ end: ContinuousClock.Instant?, _ asker: Asker? = nil
  ) {
    let (address, socket) = (UInt(bitPattern: connection), cmicrohttp_socket(connection))
    state.withLock { $0.phases[address] = Phase(socket: socket, end: end, asker: asker) }
  }

  private func findWhoIsGone() {
    let gone = state.withLock { state in
      state.phases.values.filter { $0.asker != nil && Self.isClosed($0.socket) }
        .compactMap(\.asker)
    }
    for asker in gone { asker.leave() }
  }

  /// Whether the client has closed its end of a connection.
  private static func isClosed(_ socket: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno == ECONNRESET)
  }

  private func endWhatIsLate() {
    let now = ContinuousClock.now
    state.withLock { state in
      for (address, phase) in state.phases {
        guard let end = phase.end, end < now, phase.socket >= 0 else { continue }
        shutdown(phase.socket, Int32(SHUT_RDWR))
        state.phases[address]?.end = nil
      }
    }
  }
}
