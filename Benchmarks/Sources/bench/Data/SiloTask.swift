// The values of the cases with silos: tasks with two relations to several values.

import Foundation
import Silo

@Persistable(
  version: 1, table: "bench_tasks",
  shape: "id:I title:S text:S priority:I tags:@{BenchTag} steps:@[BenchStep]")
struct BenchTask: Identifiable, Sendable {
  var id: Int
  var title: String
  var text: String
  var priority: Int
  var tags: RelatedItems<BenchTag>
  var steps: RelatedList<BenchStep>
}

@Persistable(version: 1, table: "bench_tags", shape: "id:I name:S")
struct BenchTag: Identifiable, Sendable {
  var id: Int
  var name: String
}

@Persistable(version: 1, table: "bench_steps", shape: "id:I name:S")
struct BenchStep: Identifiable, Sendable {
  var id: Int
  var name: String
}

struct BenchUpload: Upload {
  var number: Int
  var orderingKey: String { "\(number)" }
}

extension BenchTask {
  static let targets = 300

  /// Titles of 8 to 40 bytes, texts of 20 to 200.
  static func make(_ range: Range<Int>) -> [BenchTask] {
    range.map { number in
      BenchTask(
        id: number, title: "title \(number) " + String(repeating: "t", count: number % 24),
        text: "text of \(number): " + String(repeating: "word ", count: number % 36),
        priority: number % 100,
        tags: RelatedItems(ids: (0..<3).map { (number * 7 + $0) % targets }),
        steps: RelatedList(ids: (0..<3).map { (number * 11 + $0) % targets }))
    }
  }

  /// The first task with another title: what is written before the clock starts.
  static let changed: BenchTask = {
    var task = make(0..<1)[0]
    task.title = "changed"
    return task
  }()

  static func makeTags() -> [BenchTag] {
    (0..<targets).map { BenchTag(id: $0, name: "tag number \($0)") }
  }

  static func makeSteps() -> [BenchStep] {
    (0..<targets).map { BenchStep(id: $0, name: "step number \($0)") }
  }
}

extension Checksum {
  /// What the value itself has.
  mutating func add(_ task: BenchTask) {
    add(task.id)
    add(task.title)
    add(task.text)
    add(task.priority)
    for id in task.tags.ids.sorted() { add(id) }
    for id in task.steps.ids { add(id) }
  }

  /// Also the names of what it refers to.
  mutating func add(resolved task: BenchTask) {
    add(task)
    for tag in task.tags.values.sorted(by: { $0.id < $1.id }) { add(tag.name) }
    for step in task.steps { add(step.value?.name) }
  }
}
