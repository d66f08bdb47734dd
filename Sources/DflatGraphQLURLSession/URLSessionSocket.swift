// A WebSocket of URLSession, as a connection needs it.

import DflatGraphQL
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct URLSessionSocket: GraphQLSocket {
  private let task: URLSessionWebSocketTask

  init(_ task: URLSessionWebSocketTask) { self.task = task }

  func send(_ message: String) async throws {
    do { try await task.send(.string(message)) } catch { throw Self.explained(error) }
  }

  func receive() async throws -> GraphQLSocketMessage {
    do {
      switch try await task.receive() {
      case .string(let text): return .text(text)
      default: return .closed(code: 1003, reason: "the service has sent something else than text")
      }
    } catch  where task.closeCode != .invalid {
      let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) }
      return .closed(code: task.closeCode.rawValue, reason: reason ?? "")
    } catch {
      throw Self.explained(error)
    }
  }

  func close(code: Int, reason: String) async {
    task.cancel(with: .init(rawValue: code) ?? .normalClosure, reason: Data(reason.utf8))
  }

  /// The same error, unless it is that of a system whose URLSession has no WebSockets.
  private static func explained(_ error: any Error) -> any Error {
    #if os(Linux)
      if (error as? URLError)?.code == .unsupportedURL {
        return GraphQLTransportError.failed(
          "this system's libcurl has no WebSockets; use server-sent events, events(of:)")
      }
    #endif
    return error
  }
}
