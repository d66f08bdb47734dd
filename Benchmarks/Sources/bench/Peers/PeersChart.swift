// The chart in the README: for each task a bar for each way to do it. The longest bar of a task has
// the whole width.

enum PeersChart {
  private static let barsLeft = 190.0
  private static let barsWidth = 480.0
  private static let rowHeight = 17.0

  static func svg(_ all: [Peers.Times]) -> String {
    let taskHeight = 24 + rowHeight * Double(all.count) + 12
    var svg = SVG(
      width: barsLeft + barsWidth + 90, height: 44 + taskHeight * Double(PeerTask.all.count))
    svg.text("Time of eight tasks; shorter is better", 12, 22, "title")
    var top = 36.0
    for task in PeerTask.all {
      svg.text(task.title, 12, top + 16, "heading")
      let times = all.map { $0.milliseconds[task.id] ?? 0 }
      let longest = times.max() ?? 1
      var y = top + 24
      for (place, time) in times.enumerated() {
        svg.text(all[place].name, barsLeft - 10, y + 11, "name")
        svg.rectangle(
          barsLeft, y + 1, max(1, barsWidth * time / longest), rowHeight - 5, styles[place])
        svg.text(
          decimals(time, time < 10 ? 1 : 0) + " ms", barsLeft + barsWidth * time / longest + 8,
          y + 11, "note")
        y += rowHeight
      }
      top += taskHeight
    }
    return svg.finish()
  }

  private static let styles = ["bar", "hand", "python"]
}
