// A file with backups that is then damaged, for the tests of damaged files.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

/// A kind of damage that is found when the file is opened.
enum FileDamage: String, CaseIterable, Sendable {
  case head
  case firstPageOfZeros
  case listOfTables
  case cutInHalf
  case cutInFirstPage
  case zeros
  case text
  case random
  case emptyWithLog

  var content: DamagedFile.Content {
    switch self {
    case .head, .firstPageOfZeros, .listOfTables, .cutInHalf: .pages
    case .cutInFirstPage, .zeros, .emptyWithLog: .nothing
    case .text, .random: .foreign
    }
  }

  /// The damages of files that may be replaced.
  static let ofDatabases = allCases.filter { $0.content != .foreign }

  func apply(to path: String) throws {
    let url = URL(filePath: path)
    var bytes = try Data(contentsOf: url)
    var random = SystemRandomNumberGenerator()
    func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in random.next() } }
    switch self {
    case .head: bytes.replaceSubrange(0..<32, with: noise(32))
    case .firstPageOfZeros: bytes.resetBytes(in: 0..<4096)
    case .listOfTables:
      bytes.replaceSubrange(108..<4096, with: [UInt8](repeating: 0xEE, count: 3988))
    case .cutInHalf: bytes = bytes.prefix(bytes.count / 8192 * 4096)
    case .cutInFirstPage: bytes = bytes.prefix(300)
    case .zeros: bytes = Data(count: bytes.count)
    case .text: bytes = Data(String(repeating: "Dear reader,\n\r", count: 9000).utf8)
    case .random: bytes = Data(noise(200_000))
    case .emptyWithLog:
      bytes = Data()
      try Data(noise(9000)).write(to: URL(filePath: path + "-wal"))
    }
    // In place: the file keeps its number.
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}

/// A file with 600 posts, and a folder with backups of the first 200 and the first 400.
final class DamagedFileSample {
  let directory: String
  var path: String { directory + "/test.db" }
  var folder: BackupFolder { BackupFolder(directory + "/backups") }
  let backups: [BackupFolder.Backup]

  init(backups count: Int = 2) async throws {
    directory = try makeTemporaryDirectory()
    let (path, folder) = (directory + "/test.db", BackupFolder(directory + "/backups"))
    let file = TemporaryFile(path: path)
    var made: [BackupFolder.Backup] = []
    for part in 0..<3 as Range<Int32> {
      try file.store(
        (0..<200).map {
          post(part * 200 + $0, photo: String(repeating: "photo \(part) \($0) ", count: 30))
        }
      )
      if part < count { made.append(try await file.dflat.backup(into: folder.path)) }
    }
    await file.dflat.shutdown()
    backups = made
    #expect(file.takeErrors().isEmpty)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  func configuration(
    _ hook: (@Sendable (DamagedFile) throws -> DamagedFile.Decision)? = nil, hasFolder: Bool = true
  ) -> SQLiteWorkspace.Configuration {
    Self.configuration(hasFolder ? folder : nil, hook)
  }

  static func configuration(
    _ folder: BackupFolder?, _ hook: (@Sendable (DamagedFile) throws -> DamagedFile.Decision)?
  ) -> SQLiteWorkspace.Configuration {
    var configuration = SQLiteWorkspace.Configuration()
    configuration.onDamagedFile = hook
    if let folder { configuration.backups = .every(.days(700), keep: 100, in: folder.path) }
    return configuration
  }

  /// All files in the directory and their bytes, but not what connections leave.
  func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: directory)!
    where !name.hasSuffix("-shm") {
      if let data = try? Data(contentsOf: URL(filePath: directory + "/" + name)) {
        files[name] = data
      }
    }
    return files
  }

  func bytes(_ suffix: String = "") throws -> Data {
    try Data(contentsOf: URL(filePath: path + suffix))
  }

  /// The suffixes of the files beside the file, without those of an open database.
  func companions() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.hasPrefix("test.db") && $0 != "test.db" }.map { String($0.dropFirst(7)) }
      .filter { !["-wal", "-shm"].contains($0) }.sorted()
  }

  /// Opens the file and expects that it is damaged.
  @discardableResult
  func expectDamage(
    _ configuration: SQLiteWorkspace.Configuration,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async -> StorageError? {
    let error = await #expect(throws: StorageError.self, sourceLocation: sourceLocation) {
      _ = try await SQLiteWorkspace.open(filePath: self.path, configuration: configuration)
    }
    #expect(error?.cause == .corruptFile, "\(error as Any)", sourceLocation: sourceLocation)
    #expect(error?.path == path, sourceLocation: sourceLocation)
    return error
  }

  /// Opens the file, and expects so many posts.
  func expectPosts(
    _ count: Int, _ configuration: SQLiteWorkspace.Configuration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let dflat = try await SQLiteWorkspace.open(
      filePath: path, configuration: configuration ?? self.configuration())
    let found = try await dflat.read { try $0.query(Post.self).count() }
    #expect(found == count, sourceLocation: sourceLocation)
    await dflat.shutdown()
  }
}
