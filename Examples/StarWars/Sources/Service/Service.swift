// Where answers come from: a server, or files with what a server has answered before.

public import DflatGraphQL
import DflatGraphQLURLSession
public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Answers operations with the JSON of GraphQL.
public protocol Service: Sendable {
  /// The body of the answer.
  func answer<Operation: GraphQLOperation>(_ operation: Operation) async throws -> Foundation.Data
}

extension Service {
  /// The data of the answer.
  public func ask<Operation: GraphQLOperation>(_ operation: Operation) async throws
    -> Operation.Data
  {
    try Operation.response(from: try await answer(operation)).requireData()
  }
}

/// Something that a person can mend.
public struct Failure: Error, CustomStringConvertible {
  /// What is wrong.
  public let description: String

  /// Creates a failure.
  public init(_ description: String) { self.description = description }
}

/// Answers that were recorded.
public struct RecordedService: Service {
  private let folder: URL

  /// - Parameter folder: Has a file `Name.json` for each operation. Where its answers differ, there
  ///   is a file `Name-text-….json` for each, with the texts among the variables in the order of
  ///   their names.
  public init(_ folder: URL) { self.folder = folder }

  /// Reads the file.
  public func answer<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> Foundation.Data {
    let body = try JSONSerialization.jsonObject(with: operation.body()) as? [String: Any]
    let name = [Operation.operationName] + texts(in: body?["variables"])
    let special = folder.appending(path: name.joined(separator: "-") + ".json")
    let file =
      FileManager.default.fileExists(atPath: special.path)
      ? special : folder.appending(path: Operation.operationName + ".json")
    return try Foundation.Data(contentsOf: file)
  }

  private func texts(in value: Any?) -> [String] {
    switch value {
    case let text as String: [text]
    case let object as [String: Any]:
      object.sorted { $0.key < $1.key }.flatMap { texts(in: $0.value) }
    default: []
    }
  }
}

/// A server.
public struct RemoteService: Service {
  private let url: URL
  /// Where answers are recorded; nil if they are not.
  private let record: URL?

  /// - Parameters:
  ///   - url: The server's address.
  ///   - record: A folder that receives the answers, one file for each operation.
  public init(_ url: URL, record: URL? = nil) {
    self.url = url
    self.record = record
  }

  /// Sends the operation and waits for the answer.
  public func answer<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> Foundation.Data {
    let (body, response) = try await URLSession.shared.data(for: try operation.request(to: url))
    guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
      throw Failure("\(url) answered with something else than GraphQL")
    }
    if let record {
      let file = record.appending(path: Operation.operationName + ".json")
      try body.write(to: file)
    }
    return body
  }
}

/// The server of this example, in a process of its own that ends with this one.
public final class ExampleServer: Sendable {
  /// Its address, on this machine only.
  public let url: URL
  /// The other end of the server's standard input.
  private let input = Pipe()

  /// Starts the server.
  /// - Throws: `Failure` if it does not start.
  public init() throws {
    let example = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../..").standardizedFileURL
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", example.appending(path: "Server/server.py").path,
      example.appending(path: "Sources/starwars/schema.graphqls").path,
    ]
    // What `make demo-graphql SERVER=1` installs.
    let modules = example.appending(path: "../../.build/python").standardizedFileURL.path
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": modules]) {
      "\($1):\($0)"
    }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)),
      let url = URL(string: "http://127.0.0.1:\(port)/graphql")
    else {
      throw Failure("the server did not start; it needs python3-graphql-core")
    }
    self.url = url
  }
}
