// Screen: a list that is kept by its differences, and drawn.

import Foundation
import SQLiteDflat

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

struct Screen {
  private var jobs: [Job] = []
  private var frames = 0
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  mutating func show(_ change: ResultChange<Job>) {
    // The list is never fetched again.
    change.apply(to: &jobs)
    frames += 1
    var marks: [String: String] = [:]
    for update in change.updates {
      marks[update.element.name] = "~ " + update.changedFields.joined(separator: ", ")
    }
    for move in change.moves { marks[move.element.name, default: ""] += " moved from \(move.from)" }
    for entry in change.insertions { marks[entry.element.name] = "+ new" }
    var text = isTerminal ? "\u{1B}[2J\u{1B}[H" : ""
    text += "change \(frames)\n"
    for job in jobs {
      let bar = String(repeating: "#", count: Int(job.progress) / 10)
      text += "  \(column(job.name, 8))\(column("\(job.urgency)", 4))\(column("\(job.state)", 9))"
      text += "\(column(bar, 11))\(marks[job.name] ?? "")\n"
    }
    for entry in change.removals { text += "  \(column(entry.element.name, 8))- gone\n" }
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  private func column(_ text: String, _ width: Int) -> String {
    text.padding(toLength: width, withPad: " ", startingAt: 0)
  }
}
