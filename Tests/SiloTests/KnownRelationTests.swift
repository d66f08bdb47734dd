// What stores know about relations of types that a process has not used.

import MemoryDflat
@testable import Silo
import Testing

@Suite("Known relations")
struct KnownRelationTests {
  private let memory = MemoryWorkspace()

  @Test("The rules of a type that a program has no more can be forgotten")
  func forgottenRules() async throws {
    try await Silos(in: memory)[Memo.self].save(Memo(1, in: 7, labels: ["a"]))
    let silos = Silos(in: memory)
    try await silos[Label.self].save(Label(id: "a"))
    await #expect(throws: SiloError.unknownReferrer(table: "memos", target: "Label")) {
      try await silos[Label.self].evict("a")
    }
    try await Silos(in: memory).forgetRules(ofTable: "memos")
    #expect(try await silos[Label.self].evict("a"))
  }

  @Test("Rules are known to other processes, also if they are newer than the stored values")
  func rulesWithoutASave() async throws {
    try await Silos(in: memory)[Folder.self].save(Folder(7))
    try await Silos(in: memory)[Memo.self].save(Memo(1, in: 7))
    // As if the program that has saved the memo had no rules yet.
    try await Silos(in: memory).forgetRules(ofTable: "memos")
    let newer = Silos(in: memory)
    #expect(try await newer[Memo.self].load(1) != nil)
    try await newer[Tag.self].save(Tag(id: "a"))
    try await newer.write { try $0[Tag.self].save(Tag(id: "b")) }
    let other = Silos(in: memory)
    await #expect(throws: SiloError.unknownReferrer(table: "memos", target: "Folder")) {
      try await other[Folder.self].delete(7)
    }
    #expect(try await newer[Folder.self].delete(7))
    #expect(try await newer[Memo.self].load(1) == nil)
  }

  @Test("A relation with the rule to do nothing stops nothing")
  func nothing() async throws {
    try await Silos(in: memory)[Hint.self].save(Hint(1, about: "a"))
    let labels = Silos(in: memory)[Label.self]
    try await labels.save(Label(id: "a"))
    #expect(try await labels.evict("a"))
  }

  @Test("A transaction comes after rules were forgotten, also as the first use of any type")
  func transactionAfterForgetting() async throws {
    let silos = Silos(in: memory)
    try await silos.forgetRules(ofTable: "memos")
    try await silos.write { _ in }
    try await silos.write { try $0[Tag.self].save(Tag(id: "a")) }
    #expect(try await silos[Tag.self].count() == 1)
  }

  @Test("Unresolved ids are not listed without those of a type that was not used")
  func unresolvedIDs() async throws {
    try await Silos(in: memory)[Memo.self].save(Memo(1, in: 7, labels: ["a"]))
    let silos = Silos(in: memory)
    await #expect(throws: SiloError.unknownReferrer(table: "memos", target: "Label")) {
      try await silos[Label.self].unresolvedIDs()
    }
    _ = silos[Memo.self]
    #expect(try await silos[Label.self].unresolvedIDs() == ["a"])
  }
}
