// Random transactions and queries, compared with the dullest model: an array and a filter.

import DflatTestSupport
import Foundation
import Silo
import Testing

@Suite("Stores against a model")
struct RandomStoreTests {
  /// Values in the order of their insertion.
  private struct Model {
    var tasks: [Task] = []
    var users: [User] = []

    mutating func save(_ task: Task) {
      if let index = tasks.firstIndex(where: { $0.id == task.id }) {
        tasks[index] = task
      } else {
        tasks.append(task)
      }
    }

    mutating func save(_ user: User) {
      if let index = users.firstIndex(where: { $0.id == user.id }) {
        users[index] = user
      } else {
        users.append(user)
      }
    }
  }

  private struct Refusal: Error {}

  private enum Change: Sendable {
    case task(Task), user(User), removeTask(UUID), removeUser(Int)
  }

  @Test("Every answer is the model's", arguments: TestStores.all)
  func model(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    try await stores.withSilos { silos in
      var model = Model()
      let ids = (0..<12).map { _ in UUID.random(using: &random) }
      for _ in 0..<(isLongRun ? 2000 : 50) {
        let changes = (0..<Int.random(in: 1...6, using: &random)).map { _ in
          change(ids, &random)
        }
        let isRefused = Int.random(in: 0..<5, using: &random) == 0
        do {
          try await silos.write { txn in
            for change in changes {
              switch change {
              case .task(let task): try txn[Task.self].save(task)
              case .user(let user): try txn[User.self].save(user)
              case .removeTask(let id): try txn[Task.self].remove(id)
              case .removeUser(let id): try txn[User.self].remove(id)
              }
            }
            if isRefused { throw Refusal() }
          }
          for change in changes {
            switch change {
            case .task(let task): model.save(task)
            case .user(let user): model.save(user)
            case .removeTask(let id): model.tasks.removeAll { $0.id == id }
            case .removeUser(let id): model.users.removeAll { $0.id == id }
            }
          }
        } catch is Refusal {}
        try await compare(silos, model, ids, &random, seed)
      }
    }
  }

  private func change(_ ids: [UUID], _ random: inout SeededGenerator) -> Change {
    let id = ids.randomElement(using: &random)!
    let number = Int.random(in: 0..<5, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .removeTask(id)
    case 1: return .removeUser(number)
    case 2: return .user(User(id: number, name: Everything.text(&random)))
    default:
      var task = Task(
        id: id, Everything.text(&random), created: Everything.date(&random), count: number,
        owner: .unresolved(id: Int.random(in: 0..<5, using: &random)),
        tags: RelatedItems(ids: Everything.list(&random, Everything.text)),
        steps: RelatedList(
          ids: Everything.list(&random) { Place(list: Everything.text(&$0), number: 1) }))
      task.modified = Everything.maybe(&random, Everything.date)
      task.isDone = Bool.random(using: &random)
      return .task(task)
    }
  }

  private func compare(
    _ silos: Silos, _ model: Model, _ ids: [UUID], _ random: inout SeededGenerator, _ seed: UInt64
  ) async throws {
    let tasks = silos[Task.self]
    let count = Int.random(in: 0..<5, using: &random)
    let date = Everything.date(&random)
    let text = Everything.text(&random)
    let loaded = try await tasks.load(ids)
    #expect(
      loaded == ids.compactMap { id in model.tasks.first { $0.id == id } }, "DFLAT_SEED=\(seed)")
    #expect(try await silos[User.self].values() == model.users, "DFLAT_SEED=\(seed)")
    let open = try await tasks.values(
      where: !Task.isDone && Task.count >= count, orderBy: [Task.count.descending])
    #expect(
      open
        == model.tasks.filter { !$0.isDone && $0.count >= count }
        .sorted(keepingOrder: { $0.count > $1.count }), "DFLAT_SEED=\(seed)")
    let modified = try await tasks.values(where: !(Task.modified < date))
    #expect(
      modified == model.tasks.filter { $0.modified.map { !($0 < date) } ?? false },
      "DFLAT_SEED=\(seed)")
    let related = try await tasks.values(
      where: Task.owner == count || Task.tags.contains(id: text))
    #expect(
      related
        == model.tasks.filter { task in
          task.owner.id == count || task.tags.ids.contains { $0.utf8.elementsEqual(text.utf8) }
        }, "DFLAT_SEED=\(seed)")
  }
}

extension Array {
  /// Sorted, with ties in their order.
  fileprivate func sorted(keepingOrder isBefore: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted {
      isBefore($0.element, $1.element)
        || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
  }
}
