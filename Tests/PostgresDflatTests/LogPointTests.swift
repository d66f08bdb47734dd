// Which entries a state that was read may lack, once the log was cut.

import Testing

@testable import PostgresDflat

@Suite("Positions in the log")
struct LogPointTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let then: String
    let now: String
    let cut: Int64
    let lacks: Bool
    var testDescription: String { name }
  }

  @Test(
    "Everything is read again only if an entry may have been removed that was not seen",
    arguments: [
      Case(name: "all removed were seen", then: "50:50:", now: "60:60:", cut: 49, lacks: false),
      Case(name: "a later one was removed", then: "50:50:", now: "60:60:", cut: 50, lacks: true),
      Case(
        name: "an old one runs as before", then: "10:50:10", now: "10:60:10,55", cut: 49,
        lacks: false),
      Case(
        name: "an old one has ended", then: "10:50:10,20", now: "10:60:10", cut: 49, lacks: true),
      Case(
        name: "one has ended behind the cut", then: "10:50:10,45", now: "10:60:10", cut: 44,
        lacks: false),
      Case(
        name: "it is the last that was removed", then: "10:50:10,45", now: "10:60:10", cut: 45,
        lacks: true),
      Case(
        name: "the cut is another server's", then: "50:50:", now: "60:60:", cut: 60, lacks: false),
    ])
  func lacks(_ example: Case) {
    func point(_ timeline: String, _ snapshot: String, _ last: Int64) -> LogPoint {
      LogPoint(timeline: timeline, snapshot: snapshot, last: last, reader: "a")
    }
    let then = point("1", example.then, 7)
    let now = point("1", example.now, 9)
    #expect(then.lacks(cut: 7, xid: example.cut, in: now) == example.lacks)
    #expect(then.lacks(cut: 8, xid: example.cut, in: now))
    #expect(point("2", example.then, 7).lacks(cut: 7, xid: 1, in: now))
    for then in [then, point("", example.then, 7)] {
      let read = LogPoint(then.point)
      #expect(read?.timeline == then.timeline && read?.snapshot == then.snapshot)
      #expect(read?.last == 7 && read?.reader == "a")
    }
  }
}
