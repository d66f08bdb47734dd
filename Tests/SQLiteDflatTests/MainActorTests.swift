// A client whose module is isolated to the main actor compiles without isolation annotations, and
// works: none of the closures that it passes to the library runs on the main actor, or off it, by
// mistake.

import DflatTestSupport
import MainActorClient
import Testing

@Suite("A client isolated to the main actor")
@MainActor
struct MainActorTests {
  private func withBoard<R: Sendable>(_ use: (Board) async throws -> R) async throws -> R {
    let board = Board(path: try makeTemporaryDirectory() + "/board.db")
    let result = try await use(board)
    await board.close()
    return result
  }

  @Test("It writes and reads, with its own extensions of generated types")
  func write() async throws {
    let lines = try await withBoard { try await $0.write() }
    #expect(
      lines == [
        "dishes", "Ann true", "everyday 1", #"["wet", "done"]"#, "false",
      ])
  }

  @Test("Its handlers run transactions and report to the main actor")
  func performChanges() async throws {
    let lines = try await withBoard { await $0.performChanges() }
    #expect(Set(lines) == ["deleted 7", "success true", "true"])
  }

  @Test("It observes results with handlers, streams and live queries")
  func watch() async throws {
    let lines = try await withBoard { try await $0.watch() }
    #expect(
      Set(lines) == ["handled 1", "handler 1", "stream 1", "inserted 1", "live 1"])
  }

  @Test("It stores and observes values in the dictionary")
  func dictionary() async throws {
    let lines = try await withBoard { await $0.useDictionary() }
    #expect(lines == ["initial 12", "updated 13", "true 4.0"])
  }

  @Test("It migrates")
  func migrate() async throws {
    let lines = try await withBoard { try await $0.migrate() }
    #expect(lines == ["left 0", "task 1", "task 2", "task 3"])
  }

  @Test("Its functions are called from SQL")
  func functions() async throws {
    let lines = try await withBoard { try $0.callFunction() }
    #expect(lines == ["called", "[[1.5]]", "1"])
  }
}
