// Sources/DflatGraphQL/DflatGraphQL.docc/DflatGraphQL.md
import DflatGraphQL
import Foundation
import SQLiteDflat

struct Transport: Sendable {
  func send(_ request: GraphQLHTTPRequest) async throws -> Data { Data() }
}

func details(dflat: SQLiteWorkspace, transport: Transport) async throws {
  // block 1
}

func fragments(data: LineQuery.Data) {
  // block 2
}

func paging(dflat: SQLiteWorkspace, bytes: Data) async throws {
  // block 3
}

func storingPartially(dflat: SQLiteWorkspace, bytes: Data) async throws {
  // block 4
}

func requests(transport: Transport) async throws {
  // block 5
}

func increments(
  dflat: SQLiteWorkspace, chunks: AsyncStream<[UInt8]>, contentType: String
) async throws {
  // block 6
}

func subscriptions(dflat: SQLiteWorkspace, socket: any GraphQLSocket, token: String) async throws {
  // block 7
}

func events(dflat: SQLiteWorkspace, chunks: AsyncStream<[UInt8]>) async throws {
  // block 8
}
