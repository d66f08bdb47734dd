// Temporary directories for tests.

import Foundation

/// Calls a closure with a new directory, which is removed afterwards.
@discardableResult
func withTemporaryDirectory<R>(_ body: (URL) throws -> R) throws -> R {
  let url = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url)
}

/// Calls a closure with a new directory, which is removed afterwards.
@discardableResult
func withTemporaryDirectory<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> sending R
) async throws -> sending R {
  let url = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url)
}

private func makeTemporaryDirectory() throws -> URL {
  let url = FileManager.default.temporaryDirectory.appending(path: "empire-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  return url
}
