// EventRecorder: counts events, and passes them on.

import Platform

final class EventRecorder: Sendable {
  private struct State {
    var metrics = PostgresMetrics()
    var streams: [Int: AsyncStream<PostgresEvent>.Continuation] = [:]
    var lastStream = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let log: (@Sendable (PostgresEvent) -> Void)?

  /// - Parameter log: Receives each event, on the thread where it happens.
  init(_ log: (@Sendable (PostgresEvent) -> Void)?) { self.log = log }

  /// What was counted.
  var metrics: PostgresMetrics { state.withLock { $0.metrics } }

  func note(_ event: PostgresEvent) {
    let streams = state.withLock { state in
      state.metrics.count(event)
      return state.streams
    }
    log?(event)
    for stream in streams.values { stream.yield(event) }
  }

  /// The events from now on, of which the newest wait for a slow reader.
  func stream(most: Int) -> AsyncStream<PostgresEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(most)) { continuation in
      let number = state.withLock { state -> Int? in
        if state.isClosed { return nil }
        state.lastStream += 1
        state.streams[state.lastStream] = continuation
        return state.lastStream
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        let old = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
      }
    }
  }

  /// Ends the streams.
  func close() {
    let streams = state.withLock { state in
      state.isClosed = true
      state.metrics.isListening = false
      defer { state.streams = [:] }
      return state.streams
    }
    for stream in streams.values { stream.finish() }
  }
}

extension PostgresMetrics {
  fileprivate mutating func count(_ event: PostgresEvent) {
    switch event {
    case .connected: connectionsMade += 1
    case .opened: break
    case .began(let hasPrecedence):
      attempts += 1
      if hasPrecedence { attemptsWithPrecedence += 1 }
    case .committed(let time):
      commits += 1
      commitTime += time
    case .conflict: conflicts += 1
    case .outcomeUnknown: unknownOutcomes += 1
    case .waitedForConnection(let time):
      connectionWaits += 1
      connectionWaitTime += time
    case .listening: isListening = true
    case .stoppedListening: isListening = false
    case .followed(_, let lag): self.lag = lag
    }
  }
}
