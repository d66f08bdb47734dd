// silo-…: plain Swift values, beside a C program that writes and reads the same rows.
//
// The floor encodes the same Swift values into rows and decodes rows into the same values. Ids of
// relations to several values are stored in the row and in the relation's table, on both sides.

import Dflat
import Foundation
import SQLiteDflat
import Silo
import Synchronization

extension Case {
  /// A file with tasks and what they refer to.
  private static func silos(_ fixture: Fixture, _ count: Int) throws -> String {
    try fixture.template("silo-\(count)") { store in
      try wait {
        let silos = Silos(in: store.workspace)
        try await silos[BenchTag.self].save(BenchTask.makeTags())
        try await silos[BenchStep.self].save(BenchTask.makeSteps())
        try await silos[BenchTask.self].save(BenchTask.make(0..<count))
        // The tables and indexes of the uploads exist, too.
        try await silos.write { try $0.enqueue(BenchUpload(number: -1)) }
      }
    }
  }

  private static func contents(_ path: String) throws -> Checksum {
    try wait {
      let store = Store(path)
      var sum = Checksum()
      let silos = Silos(in: store.workspace)
      for task in try await silos[BenchTask.self].values(orderBy: [BenchTask.id.ascending]) {
        sum.add(task)
      }
      try store.check()
      store.close()
      return sum
    }
  }

  private static func siloSave(
    _ id: String, _ title: String, _ count: Int, goal: Double?
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let template = try silos(fixture, 1)
      let tasks = BenchTask.make(1..<(count + 1))
      return (
        ours: {
          let path = try fixture.copy(of: template)
          let store = Store(path, walLimit: Store.noCheckpoints)
          let nanoseconds = try wait {
            let silo = Silos(in: store.workspace)[BenchTask.self]
            // Before the clock starts, the type and the statements are known, and the log exists.
            try await silo.save(BenchTask.changed)
            let watch = Stopwatch()
            try await silo.save(tasks)
            return watch.stop()
          }
          try store.check()
          store.close()
          defer { fixture.discard(path) }
          return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
        },
        floor: {
          let path = try fixture.copy(of: template)
          let nanoseconds: UInt64
          do {
            let floor = try FloorTasks(path)
            try floor.replace(BenchTask.changed)
            nanoseconds = try time {
              try floor.begin.run()
              for task in tasks { try floor.insert(task) }
              try floor.commit.run()
            }
          }
          defer { fixture.discard(path) }
          return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
        }
      )
    }
  }

  private static func siloLoad(
    _ id: String, _ title: String, _ count: Int, goal: Double?
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let template = try silos(fixture, count)
      let twin = try fixture.twin(of: template)
      let ids = Array(0..<count)
      func sum(_ tasks: [BenchTask]) -> Checksum {
        var sum = Checksum()
        for task in tasks { sum.add(resolved: task) }
        return sum
      }
      return (
        ours: {
          let store = Store(template)
          let (tasks, nanoseconds) = try wait {
            let silo = Silos(in: store.workspace)[BenchTask.self]
            _ = try await silo.load(ids, resolving: \.tags.all, \.steps.all)
            let watch = Stopwatch()
            let tasks = try await silo.load(ids, resolving: \.tags.all, \.steps.all)
            return (tasks, watch.stop())
          }
          try store.check()
          store.close()
          return Outcome(nanoseconds: nanoseconds, checksum: sum(tasks))
        },
        floor: {
          let floor = try FloorTasks(twin)
          func load() throws -> [BenchTask] {
            var tasks: [BenchTask] = []
            try floor.select("bench_tasks_v1", ids) { tasks.append($0.benchTask()) }
            var tags: [Int: BenchTag] = [:]
            let tagIDs = Array(Set(tasks.lazy.flatMap { $0.tags.lazy.map(\.id) }))
            try floor.select("bench_tags_v1", tagIDs) { tags[$0.scalar(4)] = $0.benchTag() }
            var steps: [Int: BenchStep] = [:]
            let stepIDs = Array(Set(tasks.lazy.flatMap { $0.steps.lazy.map(\.id) }))
            try floor.select("bench_steps_v1", stepIDs) { steps[$0.scalar(4)] = $0.benchStep() }
            for index in tasks.indices {
              tasks[index].tags = RelatedItems(
                tasks[index].tags.map { tags[$0.id].map { .resolved($0) } ?? $0 })
              tasks[index].steps = RelatedList(
                tasks[index].steps.map { steps[$0.id].map { .resolved($0) } ?? $0 })
            }
            return tasks
          }
          _ = try load()
          var tasks: [BenchTask] = []
          let nanoseconds = try time { tasks = try load() }
          return Outcome(
            nanoseconds: nanoseconds, checksum: sum(tasks.sorted { $0.id < $1.id }))
        }
      )
    }
  }

  static let siloSave1000 = siloSave(
    "silo-save-1000", "save 1,000 values with two relations of 3 each", 1000, goal: 1.6)
  static let siloLoad1000 = siloLoad(
    "silo-load-1000", "load 1,000 values with both relations", 1000, goal: 1.5)
  static let siloSave100 = siloSave("silo-save-100", "save 100 values", 100, goal: nil)
  static let siloLoad100 = siloLoad("silo-load-100", "load 100 values", 100, goal: nil)

  static let siloValues = Case(
    id: "silo-values", title: "10,000 values by a condition, decoded", goal: 1.4
  ) { fixture in
    let count = 2 * fixture.few
    let template = try silos(fixture, count)
    let twin = try fixture.twin(of: template)
    func sum(_ tasks: [BenchTask]) -> Checksum {
      var sum = Checksum()
      for task in tasks { sum.add(task) }
      return sum
    }
    return (
      ours: {
        let store = Store(template)
        let (tasks, nanoseconds) = try wait {
          let silo = Silos(in: store.workspace)[BenchTask.self]
          _ = try await silo.values(where: BenchTask.priority < 50)
          let watch = Stopwatch()
          let tasks = try await silo.values(where: BenchTask.priority < 50)
          return (tasks, watch.stop())
        }
        store.close()
        return Outcome(nanoseconds: nanoseconds, checksum: sum(tasks))
      },
      floor: {
        let floor = try FloorTasks(twin)
        let select = try floor.database.prepare("SELECT p FROM bench_tasks_v1 ORDER BY rowid")
        func load() throws -> [BenchTask] {
          var tasks: [BenchTask] = []
          while try select.step() {
            let row = FloorReader(row: select.blob(0).baseAddress!)
            if (row.scalar(10) as Int) < 50 { tasks.append(row.benchTask()) }
          }
          select.reset()
          return tasks
        }
        _ = try load()
        var tasks: [BenchTask] = []
        let nanoseconds = try time { tasks = try load() }
        return Outcome(nanoseconds: nanoseconds, checksum: sum(tasks))
      }
    )
  }

  static let siloReferrers = Case(
    id: "silo-referrers", title: "the values that refer to one, for 100 in turn", goal: nil
  ) { fixture in
    let template = try silos(fixture, 2 * fixture.few)
    let twin = try fixture.twin(of: template)
    let wanted = (0..<100).map { $0 * 7 % BenchTask.targets }
    func sum(_ tasks: [BenchTask]) -> Checksum {
      var sum = Checksum()
      for task in tasks { sum.add(task) }
      return sum
    }
    return (
      ours: {
        let store = Store(template)
        let (tasks, nanoseconds) = try wait {
          let silo = Silos(in: store.workspace)[BenchTask.self]
          _ = try await silo.values(where: BenchTask.tags.contains(id: 0))
          var tasks: [BenchTask] = []
          let watch = Stopwatch()
          for id in wanted {
            tasks += try await silo.values(where: BenchTask.tags.contains(id: id))
          }
          return (tasks, watch.stop())
        }
        try store.check()
        store.close()
        return Outcome(nanoseconds: nanoseconds, checksum: sum(tasks))
      },
      floor: {
        let floor = try FloorTasks(twin)
        let select = try floor.database.prepare(
          "SELECT p FROM bench_tasks_v1 WHERE rowid IN "
            + "(SELECT owner FROM bench_tasks__tags WHERE element = ?) ORDER BY rowid")
        func load(_ id: Int, into tasks: inout [BenchTask]) throws {
          select.bind(1, Int64(id))
          while try select.step() {
            tasks.append(FloorReader(row: select.blob(0).baseAddress!).benchTask())
          }
          select.reset()
        }
        var tasks: [BenchTask] = []
        try load(0, into: &tasks)
        tasks.removeAll()
        let nanoseconds = try time { for id in wanted { try load(id, into: &tasks) } }
        return Outcome(nanoseconds: nanoseconds, checksum: sum(tasks))
      }
    )
  }

  static let siloMemoryGet = Case(
    id: "silo-memory-get", title: "MemoryValueStore: get values one by one", goal: 2
  ) { fixture in
    let tasks = BenchTask.make(0..<fixture.few)
    let silo = Silos(.memory)[BenchTask.self]
    try wait { try await silo.save(tasks) }
    let table = GuardedTasks(tasks)
    return (
      ours: {
        let (sum, nanoseconds) = try wait {
          var sum = Checksum()
          let watch = Stopwatch()
          for id in tasks.indices { sum.add(try await silo.load(id)?.title) }
          return (sum, watch.stop())
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = time {
          for id in tasks.indices { sum.add(table[id]?.title) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  static let siloUpload = Case(
    id: "silo-upload", title: "10,000 uploads, each with a change, awaited together", goal: 0.4,
    mostRuns: 3
  ) { fixture in
    let template = try silos(fixture, 1)
    let tasks = BenchTask.make(1..<(fixture.few + 1))
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path, synchronous: .full, walLimit: Store.noCheckpoints)
        let nanoseconds = try wait {
          let silos = Silos(in: store.workspace)
          try await silos.write { txn in
            try txn[BenchTask.self].save(BenchTask.changed)
            try txn.enqueue(BenchUpload(number: 0))
          }
          let watch = Stopwatch()
          try await withThrowingTaskGroup { group in
            for task in tasks {
              group.addTask {
                try await silos.write { txn in
                  try txn[BenchTask.self].save(task)
                  try txn.enqueue(BenchUpload(number: task.id))
                }
              }
            }
            try await group.waitForAll()
          }
          return watch.stop()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let nanoseconds: UInt64
        do {
          let floor = try FloorTasks(path, isFull: true)
          try floor.replace(BenchTask.changed)
          let uploads = try FloorUploads(floor.database)
          nanoseconds = try time {
            for (number, task) in tasks.enumerated() {
              try floor.begin.run()
              try floor.insert(task)
              try uploads.insert(Int64(number + 2), key: task.id)
              try floor.commit.run()
            }
          }
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
      }
    )
  }
}

/// What a program without silos has: a dictionary under a lock.
private final class GuardedTasks: Sendable {
  private let tasks: Mutex<[Int: BenchTask]>

  init(_ tasks: [BenchTask]) {
    self.tasks = Mutex(Dictionary(uniqueKeysWithValues: tasks.map { ($0.id, $0) }))
  }

  subscript(id: Int) -> BenchTask? { tasks.withLock { $0[id] } }
}
