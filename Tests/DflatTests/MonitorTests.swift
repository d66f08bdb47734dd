import Platform
import Testing

@Suite("Monitors")
struct MonitorTests {
  @Test("A wait ends at its deadline, by a clock that does not jump")
  func deadline() {
    let monitor = Monitor(0)
    monitor.lock()
    defer { monitor.unlock() }
    let start = ContinuousClock.now
    let deadline = MonotonicTime.now + 50_000_000
    // It may return without a signal.
    while monitor.wait(until: deadline) {}
    #expect(.now - start >= .milliseconds(40))
    #expect(!monitor.wait(until: 0))
  }
}
