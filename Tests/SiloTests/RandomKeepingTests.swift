// Random transactions with pins, uploads, evictions and deletions, compared with the dullest model:
// dictionaries, and rules applied one after the other.

import DflatTestSupport
import Foundation
import Silo
import Testing

/// What happens in a transaction.
private enum Change: Sendable {
  case folder(Folder), memo(Memo), label(Label), lock(Lock)
  case recreate(Folder)
  case pin(Int, Bool), pinMemo(Int, Bool)
  case evict(Int), evictLabel(String)
  case delete(Int), deleteMemo(Int), deleteLabel(String), deleteLock(Int)
  case upload
}

/// The model refuses what the silos refuse.
private struct Refusal: Error {}

/// Values by their ids, and what is known about them.
private struct Model {
  enum Key: Hashable {
    case folder(Int), memo(Int), label(String), lock(Int)
  }

  var folders: [Int: Folder] = [:]
  var memos: [Int: Memo] = [:]
  var labels: [String: Label] = [:]
  var locks: [Int: Lock] = [:]
  var pins: Set<Key> = []
  /// The tombstones, and whether uploads end them.
  var tombstones: [Key: Bool] = [:]
  /// The values of each upload that waits, oldest first.
  var uploads: [Set<Key>] = []

  func isWaiting(_ key: Key) -> Bool { uploads.contains { $0.contains(key) } }

  func isDeleted(_ key: Key) -> Bool {
    tombstones[key].map { !$0 || isWaiting(key) } ?? false
  }

  func isManaged(_ key: Key) -> Bool {
    var seen: Set<Key> = []
    func isManaged(_ key: Key) -> Bool {
      guard seen.insert(key).inserted else { return false }
      if pins.contains(key) || isWaiting(key) { return true }
      switch key {
      case .folder(let id):
        return folders.values.contains { $0.parent?.id == id && isManaged(.folder($0.id)) }
      case .label(let id):
        return memos.values.contains { $0.labels.contains(id: id) && isManaged(.memo($0.id)) }
      default: return false
      }
    }
    return isManaged(key)
  }

  mutating func delete(_ first: Key) throws -> Set<Key> {
    var reached: Set<Key> = []
    func reach(_ key: Key) {
      guard reached.insert(key).inserted, case .folder(let id) = key else { return }
      for folder in folders.values where folder.parent?.id == id { reach(.folder(folder.id)) }
      for memo in memos.values where memo.folder.id == id { reach(.memo(memo.id)) }
    }
    reach(first)
    for lock in locks.values
    where !reached.contains(.lock(lock.id)) && reached.contains(.folder(lock.folder.id)) {
      throw Refusal()
    }
    var changed: Set<Key> = []
    for (id, memo) in memos where !reached.contains(.memo(id)) {
      if let about = memo.about?.id, reached.contains(.folder(about)) {
        memos[id]?.about = nil
        changed.insert(.memo(id))
      }
      for label in memo.labels.ids where reached.contains(.label(label)) {
        memos[id]?.labels.remove(id: label)
        changed.insert(.memo(id))
      }
      for label in memo.marks.ids where reached.contains(.label(label)) {
        memos[id]?.marks.removeAll { $0.id == label }
        changed.insert(.memo(id))
      }
    }
    for key in reached {
      switch key {
      case .folder(let id): folders[id] = nil
      case .memo(let id): memos[id] = nil
      case .label(let id): labels[id] = nil
      case .lock(let id): locks[id] = nil
      }
      pins.remove(key)
      tombstones[key] = tombstones[key] == true && isWaiting(key)
    }
    return reached.union(changed)
  }

  /// Carries out a transaction.
  mutating func apply(_ changes: [Change]) throws {
    var changed: Set<Key> = []
    var uploadCount = 0
    var evicted: Set<Key> = []
    func requireNotDeleted(_ key: Key) throws { if isDeleted(key) { throw Refusal() } }
    func evict(_ key: Key) throws {
      if isManaged(key) || uploadCount > 0 && changed.contains(key) { throw Refusal() }
      pins.remove(key)
      evicted.insert(key)
    }
    for change in changes {
      switch change {
      case .folder(let folder):
        try requireNotDeleted(.folder(folder.id))
        folders[folder.id] = folder
        changed.insert(.folder(folder.id))
      case .recreate(let folder):
        if isDeleted(.folder(folder.id)) { tombstones[.folder(folder.id)] = nil }
        folders[folder.id] = folder
        changed.insert(.folder(folder.id))
      case .memo(let memo):
        try requireNotDeleted(.memo(memo.id))
        memos[memo.id] = memo
        changed.insert(.memo(memo.id))
      case .label(let label):
        try requireNotDeleted(.label(label.id))
        labels[label.id] = label
        changed.insert(.label(label.id))
      case .lock(let lock):
        try requireNotDeleted(.lock(lock.id))
        locks[lock.id] = lock
        changed.insert(.lock(lock.id))
      case .pin(let id, let isPinned):
        if isPinned { pins.insert(.folder(id)) } else { pins.remove(.folder(id)) }
      case .pinMemo(let id, let isPinned):
        if isPinned { pins.insert(.memo(id)) } else { pins.remove(.memo(id)) }
      case .evict(let id):
        try evict(.folder(id))
        folders[id] = nil
      case .evictLabel(let id):
        try evict(.label(id))
        labels[id] = nil
      case .delete(let id): changed.formUnion(try delete(.folder(id)))
      case .deleteMemo(let id): changed.formUnion(try delete(.memo(id)))
      case .deleteLabel(let id): changed.formUnion(try delete(.label(id)))
      case .deleteLock(let id): changed.formUnion(try delete(.lock(id)))
      case .upload: uploadCount += 1
      }
    }
    if uploadCount > 0 {
      for key in changed where tombstones[key] != nil { tombstones[key] = true }
      uploads += Array(repeating: changed, count: uploadCount)
    }
    for key in evicted where isManaged(key) && !isStored(key) && !isDeleted(key) {
      throw Refusal()
    }
  }

  private func isStored(_ key: Key) -> Bool {
    switch key {
    case .folder(let id): folders[id] != nil
    case .memo(let id): memos[id] != nil
    case .label(let id): labels[id] != nil
    case .lock(let id): locks[id] != nil
    }
  }
}

@Suite("Keeping and deleting against a model")
struct RandomKeepingTests {
  @Test("Every answer is the model's", arguments: TestStores.all)
  func model(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    try await stores.withSilos { silos in
      var model = Model()
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
      for step in 0..<(isLongRun ? 1500 : 40) {
        let place = "step \(step), DFLAT_SEED=\(seed)"
        let changes = (0..<Int.random(in: 1...4, using: &random)).map { _ in change(&random) }
        var next = model
        do {
          try next.apply(changes)
          try await carryOut(changes, silos)
          model = next
        } catch is Refusal {
          await #expect(throws: SiloError.self, "\(changes), \(place)") {
            try await carryOut(changes, silos)
          }
        } catch {
          Issue.record("\(error) for \(changes), \(place)")
          return
        }
        if !model.uploads.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
          let index = Int.random(in: 0..<model.uploads.count, using: &random)
          try await queue.remove(try await queue.statuses()[index].id)
          model.uploads.remove(at: index)
          model.tombstones = model.tombstones.filter { model.isDeleted($0.key) }
        }
        guard try await compare(silos, model, place) else { return }
      }
    }
  }

  private func change(_ random: inout SeededGenerator) -> Change {
    func number() -> Int { Int.random(in: 0..<5, using: &random) }
    func label() -> String { ["a", "é", "b", ""].randomElement(using: &random)! }
    func maybe() -> Int? { Bool.random(using: &random) ? number() : nil }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<3: return .folder(Folder(number(), name: label(), in: maybe()))
    case 3..<6:
      return .memo(
        Memo(
          number(), text: label(), in: number(),
          labels: (0..<Int.random(in: 0..<3, using: &random)).map { _ in label() },
          marks: (0..<Int.random(in: 0..<3, using: &random)).map { _ in label() }, about: maybe()))
    case 6, 7: return .label(Label(id: label()))
    case 8: return .lock(Lock(number(), of: number()))
    case 9: return .recreate(Folder(number(), in: maybe()))
    case 10: return .pin(number(), Bool.random(using: &random))
    case 11: return .pinMemo(number(), Bool.random(using: &random))
    case 12: return .evict(number())
    case 13: return .evictLabel(label())
    case 14: return .delete(number())
    case 15: return .deleteMemo(number())
    case 16: return .deleteLabel(label())
    case 17: return .deleteLock(number())
    default: return .upload
    }
  }

  private func carryOut(_ changes: [Change], _ silos: Silos) async throws {
    try await silos.write { txn in
      for change in changes {
        switch change {
        case .folder(let folder): try txn[Folder.self].save(folder)
        case .recreate(let folder): try txn[Folder.self].save(folder, ifDeleted: .recreate)
        case .memo(let memo): try txn[Memo.self].save(memo)
        case .label(let label): try txn[Label.self].save(label)
        case .lock(let lock): try txn[Lock.self].save(lock)
        case .pin(let id, true): try txn[Folder.self].pin(id)
        case .pin(let id, false): try txn[Folder.self].unpin(id)
        case .pinMemo(let id, true): try txn[Memo.self].pin(id)
        case .pinMemo(let id, false): try txn[Memo.self].unpin(id)
        case .evict(let id): try txn[Folder.self].evict(id)
        case .evictLabel(let id): try txn[Label.self].evict(id)
        case .delete(let id): try txn[Folder.self].delete(id)
        case .deleteMemo(let id): try txn[Memo.self].delete(id)
        case .deleteLabel(let id): try txn[Label.self].delete(id)
        case .deleteLock(let id): try txn[Lock.self].delete(id)
        case .upload: try txn.enqueue(Sent())
        }
      }
    }
  }

  private func compare(_ silos: Silos, _ model: Model, _ place: String) async throws -> Bool {
    let folders = try await silos[Folder.self].values(orderBy: [Folder.id.ascending])
    let memos = try await silos[Memo.self].values(orderBy: [Memo.id.ascending])
    let labels = try await silos[Label.self].values()
    let locks = try await silos[Lock.self].values(orderBy: [Lock.id.ascending])
    var isSame = folders == model.folders.values.sorted { $0.id < $1.id }
    isSame = isSame && memos == model.memos.values.sorted { $0.id < $1.id }
    isSame = isSame && Set(labels) == Set(model.labels.values)
    isSame = isSame && locks == model.locks.values.sorted { $0.id < $1.id }
    for id in 0..<5 {
      let managed = try await silos[Folder.self].isManaged(id)
      let deleted = try await silos[Folder.self].isDeleted(id)
      isSame = isSame && managed == model.isManaged(.folder(id))
      isSame = isSame && deleted == model.isDeleted(.folder(id))
      let isDeleted = try await silos[Memo.self].isDeleted(id)
      isSame = isSame && isDeleted == model.isDeleted(.memo(id))
    }
    #expect(isSame, "\(place)\n\(folders)\n\(memos)\n\(labels)\n\(locks)\nmodel: \(model)")
    return isSame
  }
}
