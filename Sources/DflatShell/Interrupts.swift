// Interrupts: what Ctrl-C does while a watch goes on, or a file is written that is to be removed.

import DflatTools
import Dispatch
import Platform

/// Gives a signal when the process is interrupted or asked to end, instead of ending it.
final class Interrupts {
  private var sources: [any DispatchSourceSignal] = []

  func give(_ stop: StopSignal) {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { stop.stop() }
      source.resume()
      sources.append(source)
    }
  }
}
