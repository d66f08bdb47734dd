// HTTPServer: HTTP on loopback, by libmicrohttpd.
//
//  - One thread of the library reads and writes all connections. A request is answered by a worker
//    meanwhile, and its connection is suspended. There are few workers, and an answer that waits
//    for an event takes none.
//  - A client that closes its connection waits for nothing: its `Asker` is gone, which ends what is
//    done for it.
//  - Everything is bounded: connections, the size of headers and bodies, the time in which a
//    request must be there and an answer must be read (`Deadlines`).
//  - An `Exchange` is retained by the library from the first line of a request to its end.

import CMicroHTTP
import Foundation
import Platform

/// What a server allows.
struct HTTPLimits: Sendable {
  /// How many connections there are at a time.
  var connections: UInt32 = 64
  /// The memory of a connection: its headers must fit into it.
  var headerBytes = 32 << 10
  /// The greatest body.
  var bodyBytes = 1 << 20
  /// In how many seconds a request must be there, counted from the connection, or from the answer
  /// before it.
  var requestSeconds = 10
  /// In how many seconds an answer must be read.
  var answerSeconds = 60
}

/// Answers requests; see the head of this file.
final class HTTPServer: Sendable {
  /// Gives an answer, now or later, on any thread.
  typealias Reply = @Sendable (HTTPResponse) -> Void

  /// What is done with requests.
  protocol Handler: AnyObject, Sendable {
    /// Whether a request is refused, before its body is read. Called on the server's thread.
    func refusal(of request: HTTPRequest) -> HTTPResponse?
    /// Answers a request. Called by a worker. The answer may come early once the asker is gone, and
    /// must come then.
    func answer(_ request: HTTPRequest, for asker: Asker, _ reply: @escaping Reply)
  }

  private struct State {
    /// Pointers do not conform to `Sendable`; this one is used under the lock, and by the library.
    nonisolated(unsafe) var daemon: OpaquePointer?
    var isStopping = false
    /// How many requests are being answered.
    var answering = 0
  }

  private let handler: any Handler
  private let limits: HTTPLimits
  private let deadlines: Deadlines
  private let state = Mutex(State())
  private let workers = OperationQueue()
  private let idle = DispatchSemaphore(value: 0)

  init(_ handler: any Handler, limits: HTTPLimits = HTTPLimits()) {
    self.handler = handler
    self.limits = limits
    deadlines = Deadlines(limits)
    workers.maxConcurrentOperationCount = 4
    workers.qualityOfService = .userInitiated
  }

  /// Starts it.
  /// - Returns: The port; nil if the system refuses.
  func start() -> UInt16? {
    // The library calls this object until `stop`, which releases it.
    let closure = Unmanaged.passRetained(self).toOpaque()
    let calls = cmicrohttp_calls(
      closure: closure,
      began: { _, uri, _ in
        let exchange = Exchange(uri: uri.map { String(cString: $0) } ?? "")
        return Unmanaged.passRetained(exchange).toOpaque()
      },
      handler: { closure, connection, _, method, _, bytes, size, exchange in
        guard let closure, let connection, let size, let exchange = exchange?.pointee else {
          return cmicrohttp_no
        }
        let server = Unmanaged<HTTPServer>.fromOpaque(closure).takeUnretainedValue()
        return server.handle(
          Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue(), connection,
          method.map { String(cString: $0) } ?? "",
          UnsafeRawBufferPointer(start: bytes, count: size.pointee), size)
      },
      completed: { closure, connection, exchange, _ in
        guard let closure, let connection else { return }
        let server = Unmanaged<HTTPServer>.fromOpaque(closure).takeUnretainedValue()
        server.deadlines.expectRequest(on: connection)
        if let known = exchange?.pointee { Unmanaged<Exchange>.fromOpaque(known).release() }
        exchange?.pointee = nil
      },
      connected: { closure, connection, _, event in
        guard let closure, let connection else { return }
        let server = Unmanaged<HTTPServer>.fromOpaque(closure).takeUnretainedValue()
        if event == cmicrohttp_connected {
          server.deadlines.expectRequest(on: connection)
        } else {
          server.deadlines.remove(connection)
        }
      })
    let daemon = cmicrohttp_start(
      0, limits.connections, UInt32(limits.requestSeconds), limits.headerBytes, calls)
    guard let daemon else {
      Unmanaged<HTTPServer>.fromOpaque(closure).release()
      return nil
    }
    // The library synchronizes the uses of its pointer itself.
    nonisolated(unsafe) let started = daemon
    state.withLock { $0.daemon = started }
    deadlines.start()
    return cmicrohttp_port(daemon)
  }

  /// Ends it. Returns when no request is being answered any more; what the askers were waiting for
  /// is given up.
  func stop() {
    let isWaiting = state.withLock { state -> Bool in
      state.isStopping = true
      return state.answering > 0
    }
    deadlines.dismissAll()
    if isWaiting { idle.wait() }
    workers.waitUntilAllOperationsAreFinished()
    // Taken out of the state, so that this thread alone has it.
    nonisolated(unsafe) var daemon: OpaquePointer?
    state.withLock { state in
      daemon = state.daemon
      state.daemon = nil
    }
    guard let daemon else { return }
    MHD_stop_daemon(daemon)
    deadlines.stop()
    Unmanaged.passUnretained(self).release()
  }

  // MARK: One request

  /// Called by the library several times for a request: with its headers, with parts of its body,
  /// at its end, and once the answer is there.
  private func handle(
    _ exchange: Exchange, _ connection: OpaquePointer, _ method: String,
    _ bytes: UnsafeRawBufferPointer, _ size: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    if let response = exchange.response {
      deadlines.expectReading(on: connection)
      return Self.queue(response, on: connection)
    }
    if exchange.request == nil {
      let request = HTTPRequest(
        method: method, uri: exchange.uri, headers: Self.headers(of: connection))
      exchange.request = request
      if let refusal = refusalByItsSize(request) ?? handler.refusal(of: request) {
        exchange.response = refusal
        return Self.queue(refusal, on: connection)
      }
      return cmicrohttp_yes
    }
    if !bytes.isEmpty {
      exchange.request?.body.append(contentsOf: bytes)
      size.pointee = 0
      return (exchange.request?.body.count ?? 0) <= limits.bodyBytes
        ? cmicrohttp_yes : cmicrohttp_no
    }
    return begin(exchange, connection)
  }

  /// Has a worker answer a request that is there.
  private func begin(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    guard let request = exchange.request else { return cmicrohttp_no }
    let asker = Asker()
    // Before it is seen whether the server ends: it dismisses all askers after that.
    deadlines.expectNothing(on: connection, but: asker)
    let isStopping = state.withLock { state -> Bool in
      if !state.isStopping { state.answering += 1 }
      return state.isStopping
    }
    if isStopping {
      return Self.queue(HTTPResponse(503, text: "the server is ending"), on: connection)
    }
    MHD_suspend_connection(connection)
    // It is suspended, so the library keeps it until it is resumed.
    nonisolated(unsafe) let suspended = connection
    let reply: Reply = { [self] response in
      exchange.response = response
      MHD_resume_connection(suspended)
      let isDone = state.withLock { state -> Bool in
        state.answering -= 1
        return state.isStopping && state.answering == 0
      }
      if isDone { idle.signal() }
    }
    workers.addOperation { [handler] in
      if asker.isGone { return reply(HTTPResponse(503, text: "the question was given up")) }
      handler.answer(request, for: asker, reply)
    }
    return cmicrohttp_yes
  }

  /// A body must say how long it is, and not be too long.
  private func refusalByItsSize(_ request: HTTPRequest) -> HTTPResponse? {
    if !request.values("transfer-encoding").isEmpty {
      return HTTPResponse(411, text: "a request must say how long its body is")
    }
    let lengths = request.values("content-length")
    if lengths.isEmpty { return nil }
    guard lengths.count == 1, lengths[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let length = Int(lengths[0])
    else { return HTTPResponse(400, text: "the length of the body is no number") }
    return length > limits.bodyBytes
      ? HTTPResponse(413, text: "the body has more than \(limits.bodyBytes) bytes") : nil
  }

  private static func headers(of connection: OpaquePointer) -> [(name: String, value: String)] {
    final class Found { var headers: [(name: String, value: String)] = [] }
    let found = Found()
    MHD_get_connection_values(
      connection, cmicrohttp_header,
      { found, _, name, value in
        guard let found, let name else { return cmicrohttp_no }
        Unmanaged<Found>.fromOpaque(found).takeUnretainedValue().headers.append(
          (String(cString: name).lowercased(), value.map { String(cString: $0) } ?? ""))
        return cmicrohttp_yes
      }, Unmanaged.passUnretained(found).toOpaque())
    return withExtendedLifetime(found) { found.headers }
  }

  private static func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    let made = response.body.withUnsafeBytes { bytes in
      // The library copies the bytes.
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), cmicrohttp_copied)
    }
    guard let made else { return cmicrohttp_no }
    defer { MHD_destroy_response(made) }
    for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
    return MHD_queue_response(connection, response.status, made)
  }
}

/// A request and its answer. Unchecked: the library's thread has it, except while a worker answers
/// it. Then the connection is suspended, and the library does not touch it.
private final class Exchange: @unchecked Sendable {
  let uri: String
  var request: HTTPRequest?
  var response: HTTPResponse?

  init(uri: String) { self.uri = uri }
}
