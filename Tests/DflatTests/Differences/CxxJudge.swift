// FlatBuffers for C++ as the reference implementation: flatc's code for the schemas of
// JudgedSchemas.swift, compiled and loaded.

import Foundation
import FlatBuffersRuntime

struct CxxJudge: Sendable {
  private typealias Verify =
    @Sendable @convention(c) (
      Int32, UnsafePointer<UInt8>?, Int, Int32
    ) -> Int32
  private typealias Read =
    @Sendable @convention(c) (
      Int32, UnsafePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, Int
    ) -> Int

  private let verify: Verify
  private let read: Read

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Whether flatc, a C++ compiler and the headers are available.
  static var isAvailable: Bool {
    #if os(Linux)
      FileManager.default.fileExists(atPath: "/usr/include/flatbuffers/flatbuffers.h")
        && (try? run(["sh", "-c", "command -v flatc && command -v clang++"], in: "/")) != nil
    #else
      false
    #endif
  }

  /// The judge of this process: compiling it takes longer than what it is asked.
  static func shared() throws -> CxxJudge { try result.get() }

  private static let result = Result { try CxxJudge() }

  /// Writes, compiles and loads the library. It stays loaded.
  private init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "dflat-judge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try CxxSource.schema.write(
      to: folder.appending(path: "judged.fbs"), atomically: true, encoding: .utf8)
    try CxxSource.program.write(
      to: folder.appending(path: "judge.cpp"), atomically: true, encoding: .utf8)
    try Self.run(["flatc", "--cpp", "judged.fbs"], in: folder.path)
    try Self.run(
      ["clang++", "-std=c++17", "-O1", "-shared", "-fPIC", "-o", "judge.so", "judge.cpp"],
      in: folder.path)
    guard let library = dlopen(folder.appending(path: "judge.so").path, RTLD_NOW),
      let verify = dlsym(library, "judge_verify"), let read = dlsym(library, "judge_read")
    else { throw Failure(description: String(cString: dlerror())) }
    self.verify = unsafeBitCast(verify, to: Verify.self)
    self.read = unsafeBitCast(read, to: Read.self)
  }

  private static func run(_ command: [String], in folder: String) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(command): \(String(decoding: text, as: UTF8.self))")
    }
  }

  /// Whether `Verifier` accepts a buffer with a root of `JudgedSchemas.roots`.
  func accepts(
    _ bytes: UnsafeRawBufferPointer, root: Int, checksAlignment: Bool = true
  ) -> Bool {
    verify(
      Int32(root), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
      checksAlignment ? 1 : 0) != 0
  }

  /// The values of an accepted buffer, in the form of ReadValues.swift.
  func values(_ bytes: UnsafeRawBufferPointer, root: Int, room: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      count = read(
        Int32(root), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.baseAddress,
        room)
    }
  }
}
