// Retention policies that are set on values which are there, and changed.

import DflatTestSupport
import Foundation
import MemoryDflat
@testable import Silo
import Testing

@Suite("Retention policies that are set later")
struct PolicyTests {
  private func ids(_ folders: Silo<Folder>) async throws -> [Int] {
    try await folders.values(orderBy: [Folder.id.ascending]).map(\.id)
  }

  /// Sets a policy, and uses values before the silo trims itself.
  private func set(
    _ policy: RetentionPolicy, in folders: Silo<Folder>, using ids: [Int]
  ) async throws {
    let turn = folders.state.accesses.turn
    await turn.enterAlone()
    defer { turn.leaveAlone() }
    folders.retention = policy
    for id in ids { _ = try await folders.load(id) }
  }

  @Test("What was used since the policy was set stays before the rest", arguments: TestStores.all)
  func usedFirst(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      try await folders.save((0..<30).map { Folder($0) })
      try await set(.recent(count: 10), in: folders, using: [20, 21, 22])
      try await folders.trim()
      #expect(Set([20, 21, 22]).isSubset(of: try await ids(folders)))
      #expect(try await folders.count() == 10)
      folders.retention = .recent(count: 3)
      try await folders.trim()
      #expect(try await ids(folders) == [20, 21, 22])
    }
  }

  @Test("So it is if there are more values than a step looks at")
  func usedFirstOfMany() async throws {
    let folders = Silos(.memory)[Folder.self]
    try await folders.save((0..<300).map { Folder($0) })
    try await set(.recent(count: 5), in: folders, using: [7, 150, 299])
    try await folders.trim(step: 4)
    #expect(Set([7, 150, 299]).isSubset(of: try await ids(folders)))
    #expect(try await folders.count() == 5)
  }

  @Test("Values that were saved without a policy go, too", .endsSometime, arguments: TestStores.all)
  func savedWithoutPolicy(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      try await folders.save((0..<8).map { Folder($0) })
      folders.retention = .recent(count: 5)
      try await folders.trim()
      folders.retention = .everything
      try await folders.save((10..<20).map { Folder($0) })
      folders.retention = .recent(age: .milliseconds(300))
      _ = try await folders.load(13)
      // A read would be a use.
      let store = folders.store.domain.store(of: Folder.self)
      #expect(try await inTime { try await store.count(ValueQuery()) == 0 })
    }
  }

  @Test("Without a use, the time counts from when the policy was set")
  func ageOfUnused() async throws {
    let folders = Silos(.memory)[Folder.self]
    try await folders.save((0..<3).map { Folder($0) })
    folders.retention = .recent(age: .seconds(3600))
    try await folders.trim()
    #expect(try await folders.count() == 3)
  }
}
