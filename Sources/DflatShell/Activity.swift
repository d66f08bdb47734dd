// Activity: a line on a terminal that says how far something is that takes longer than a second.

import Dispatch
import Platform

/// Where such lines are written.
struct ActivityLine: Sendable {
  /// The width of the terminal in columns.
  var width: Int
  /// When the line is first written; at once, by the thread that begins, if it is 0.
  var delayMilliseconds = 1000
  let write: @Sendable (String) -> Void
}

/// Shows how far something is. Used by the thread that does it; the line is written by a timer.
final class Activity: Sendable {
  private struct State {
    var done = 0
    var total: Int?
    var isShown = false
    var hasEnded = false
    var timer: (any DispatchSourceTimer)?
  }

  private let label: String
  private let line: ActivityLine
  private let began = ContinuousClock.now
  private let state = Mutex(State())

  init(_ label: String, _ line: ActivityLine) {
    self.label = label
    self.line = line
    state.withLock { state in
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.schedule(
        deadline: .now() + .milliseconds(line.delayMilliseconds), repeating: .milliseconds(200))
      timer.setEventHandler { [weak self] in self?.draw() }
      timer.resume()
      state.timer = timer
    }
    if line.delayMilliseconds == 0 { draw() }
  }

  /// - Parameters:
  ///   - done: How much is done.
  ///   - total: How much there is; nil if that is not known.
  func show(_ done: Int, of total: Int?) {
    state.withLock {
      $0.done = done
      $0.total = total
    }
  }

  private func draw() {
    let seconds = Int((ContinuousClock.now - began).components.seconds)
    state.withLock { state in
      if state.hasEnded { return }
      state.isShown = true
      let text = Self.text(label, state.done, state.total, seconds: seconds, width: line.width)
      line.write("\r\u{1B}[K" + text)
    }
  }

  /// Removes the line. Nothing is written afterwards.
  func end() {
    state.withLock { state in
      state.timer?.cancel()
      if state.isShown, !state.hasEnded { line.write("\r\u{1B}[K") }
      state.hasEnded = true
    }
  }

  /// `import [######----]  60 %  3 s`, or without a total `copy 1200  3 s`.
  static func text(
    _ label: String, _ done: Int, _ total: Int?, seconds: Int, width: Int
  ) -> String {
    guard let total, total > 0 else {
      return String("\(label)\(done > 0 ? " \(done)" : "")  \(seconds) s".prefix(max(0, width - 1)))
    }
    let share = min(1, max(0, Double(done) / Double(total)))
    let percent = "\(Int(share * 100))"
    let end = String(repeating: " ", count: 3 - percent.count) + "\(percent) %  \(seconds) s"
    let room = min(40, width - label.count - end.count - 6)
    guard room > 0 else { return String("\(label) \(end)".prefix(max(0, width - 1))) }
    let full = Int(share * Double(room))
    let bar = String(repeating: "#", count: full) + String(repeating: "-", count: room - full)
    return "\(label) [\(bar)] \(end)"
  }
}

extension ShellCommand {
  /// Shows on a terminal how far `body` is.
  func withActivity<R>(_ label: String, _ body: (ActivityShown) throws -> R) rethrows -> R {
    let activity = terminal.activity.map { Activity(label, $0) }
    defer { activity?.end() }
    return try body(ActivityShown(activity: activity))
  }
}

/// An activity, if there is a terminal that shows it.
struct ActivityShown {
  fileprivate let activity: Activity?

  func show(_ done: Int, of total: Int?) { activity?.show(done, of: total) }

  /// Ends the line before a part of the result is printed, which shows that the command goes on.
  func endBeforeResult() { activity?.end() }
}
