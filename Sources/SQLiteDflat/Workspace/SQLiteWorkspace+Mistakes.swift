// Compiler messages for workspaces that are created with wrong labels.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteWorkspace {
  /// Unavailable; the message names the right form.
  @available(
    *, unavailable,
    message: """
      write 'SQLiteWorkspace(filePath: path)'; 'try await SQLiteWorkspace.open(filePath: path)' \
      also tells at once if the file cannot be used
      """
  )
  public convenience init(path: String, configuration: Configuration = Configuration()) {
    self.init(filePath: path, configuration: configuration)
  }

  /// Unavailable; the message names the right form.
  @available(
    *, unavailable,
    message: """
      write 'SQLiteWorkspace(filePath: path)'; 'try await SQLiteWorkspace.open(filePath: path)' \
      also tells at once if the file cannot be used
      """
  )
  public convenience init(_ path: String, configuration: Configuration = Configuration()) {
    self.init(filePath: path, configuration: configuration)
  }

  /// Unavailable; the message names the right form.
  @available(
    *, unavailable,
    message: """
      write 'SQLiteWorkspace(url: url)'; 'try await SQLiteWorkspace.open(url)' \
      also tells at once if the file cannot be used
      """
  )
  public convenience init(_ url: URL, configuration: Configuration = Configuration()) {
    self.init(url: url, configuration: configuration)
  }

  /// Unavailable; the message names the right form.
  @available(
    *, unavailable,
    message: """
      name its file, 'SQLiteWorkspace(filePath: path)', \
      or have one that leaves nothing behind, 'SQLiteWorkspace.inMemory()'
      """
  )
  public convenience init() {
    self.init(inMemory: Configuration())
  }

  /// Unavailable; the message names the right form.
  @available(*, unavailable, message: "write 'SQLiteWorkspace.open(filePath: path)'")
  public static func open(
    _ path: String, configuration: Configuration = Configuration()
  ) async throws -> SQLiteWorkspace {
    try await open(filePath: path, configuration: configuration)
  }

  /// Unavailable; the message names the right form.
  @available(*, unavailable, message: "write 'SQLiteWorkspace.open(filePath: path)'")
  public static func open(
    path: String, configuration: Configuration = Configuration()
  ) async throws -> SQLiteWorkspace {
    try await open(filePath: path, configuration: configuration)
  }
}
