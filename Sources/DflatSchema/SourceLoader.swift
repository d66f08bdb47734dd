// Files and their includes.
//
// Each file is read once, whatever paths include it; cycles are fine. An included path is searched
// in the directory of the including file, then in the include directories in order, then in the
// directory of the compiled file.

import Foundation

struct SourceLoader {
  /// The loaded files, in order of first inclusion.
  private(set) var inputs: [Resolver.Input] = []
  /// Indices of `inputs` in the order of the language: included files come before the including
  /// one.
  private(set) var textOrder: [Int] = []
  /// Whether an include could not be read.
  private(set) var lacksIncludes = false
  private let includePaths: [String]
  private let sink: DiagnosticSink
  private var identities: Set<String> = []

  init(includePaths: [String], sink: DiagnosticSink) {
    self.includePaths = includePaths
    self.sink = sink
  }

  /// A file whose includes are being loaded.
  private struct Pending {
    var file: Int
    var nextInclude = 0
  }

  /// Loads everything that `bytes` includes, directly and indirectly. A long chain of includes
  /// needs no stack.
  mutating func load(_ bytes: [UInt8], path: String) {
    identities.insert(Self.identity(of: path))
    var stack = [Pending(file: add(bytes, path: path))]
    while let pending = stack.last {
      let includes = inputs[pending.file].syntax.includes
      guard pending.nextInclude < includes.count else {
        textOrder.append(pending.file)
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].nextInclude += 1
      let include = includes[pending.nextInclude]
      if let file = open(include, from: inputs[pending.file].source.path) {
        stack.append(Pending(file: file))
      }
    }
  }

  private mutating func add(_ bytes: [UInt8], path: String) -> Int {
    let source = SourceFile(path: path, index: inputs.count, bytes: bytes)
    inputs.append(Resolver.Input(source: source, syntax: Parser.parse(source, sink: sink)))
    return source.index
  }

  /// The index of a newly included file; nil if it is already loaded or cannot be read.
  private mutating func open(_ include: LiteralSyntax, from includer: String) -> Int? {
    let beside = (includer as NSString).deletingLastPathComponent
    var failure: String?
    let directories = Self.unique([beside] + includePaths + [mainDirectory])
    for directory in directories {
      let path = Self.join(directory, include.text)
      let identity = Self.identity(of: path)
      if identities.contains(identity) { return nil }
      guard FileManager.default.fileExists(atPath: path) else { continue }
      switch FileContent.read(path) {
      case .success(let bytes):
        identities.insert(identity)
        return add(bytes, path: path)
      case .failure(let error):
        failure = failure ?? "'\(path)': \(error.reason)"
      }
    }
    lacksIncludes = true
    let places = directories.map { $0.isEmpty ? "." : $0 }.joined(separator: ", ")
    sink.error(
      failure.map { "cannot read the included file \($0)" }
        ?? "there is no file '\(include.text)' to include", at: include.range,
      notes: [.hint("searched in \(places)")])
    return nil
  }

  private var mainDirectory: String {
    (inputs[0].source.path as NSString).deletingLastPathComponent
  }

  private static func unique(_ paths: [String]) -> [String] {
    var seen: Set<String> = []
    return paths.filter { seen.insert($0).inserted }
  }

  private static func join(_ directory: String, _ path: String) -> String {
    path.hasPrefix("/") || directory.isEmpty
      ? path : directory.hasSuffix("/") ? directory + path : directory + "/" + path
  }

  /// A single name for all paths of a file.
  private static func identity(of path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }
}
