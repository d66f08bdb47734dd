// Interrupts: what Ctrl-C does while a watch goes on, or a file is written that is to be removed.
//
// The first one has the work ended in order. If that takes too long for the person, a second one
// ends the process.

import DflatTools
import Dispatch
import Platform

/// Gives a signal when the process is interrupted or asked to end, instead of ending it.
final class Interrupts {
  /// Within this time they count as one: `timeout`, for example, asks the process and its group.
  private static let oneTime = Duration.milliseconds(500)

  private var sources: [any DispatchSourceSignal] = []

  func give(_ stop: StopSignal) {
    let queue = DispatchQueue(label: "dflat.interrupts")
    let first = Mutex<ContinuousClock.Instant?>(nil)
    let handle: @Sendable (Int32) -> Void = { number in
      let isSecond = first.withLock { first -> Bool in
        let start = first ?? .now
        first = start
        return start.duration(to: .now) > Self.oneTime
      }
      if !isSecond { return stop.stop() }
      // All threads may have the signal blocked: it cannot be left to the system.
      _exit(128 + number)
    }
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { handle(number) }
      source.resume()
      sources.append(source)
    }
  }
}
