// The plugins in a package of their own, which depends on this one as a user's package would.

import Foundation
import Testing

@Suite("The plugins")
struct PluginTests {
  private func package(_ targets: String, in directory: URL) throws {
    let root = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription

      let package = Package(
        name: "App", platforms: [.macOS(.v15)],
        dependencies: [.package(name: "dflat", path: "\(root.path())")],
        targets: [\(targets)])
      """
    try write(manifest, to: "Package.swift", in: directory)
  }

  private func write(_ text: String, to path: String, in directory: URL) throws {
    let url = directory.appending(path: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
  }

  private func swift(_ arguments: String..., in directory: URL) throws -> (Int32, String) {
    guard let command = arguments.first else { return (64, "") }
    return try Judge.run(
      ["swift", command, "--package-path", directory.path()] + arguments.dropFirst())
  }

  @Test("compile schemas in a build, see what changes, and write beside the schemas")
  func package() throws {
    try withTemporaryDirectory { directory in
      let dflat = ".product(name: \"Dflat\", package: \"dflat\")"
      try package(
        """
        .executableTarget(name: "App", dependencies: [\(dflat)],
          plugins: [.plugin(name: "DflatPlugin", package: "dflat")]),
        .target(name: "Committed", dependencies: [\(dflat)], exclude: ["benchdoc.fbs"])
        """, in: directory)
      for (name, folder) in [("blog", "App"), ("benchdoc", "Committed")] {
        try write(
          try text(of: Place.golden.appending(path: "\(name)/\(name).fbs")),
          to: "Sources/\(folder)/\(name).fbs", in: directory)
      }
      try write("table Part { x: int; }", to: "Shared/part.fbs", in: directory)
      try write(#"{"include": ["../../Shared"]}"#, to: "Sources/App/dflat.json", in: directory)
      try write("enum Own: byte { A }", to: "Sources/App/part_user.fbs", in: directory)
      try write(
        "import Dflat\npublic enum Blog {}\nprint(Blog.Post(site: \"a\", number: 3).number)\n",
        to: "Sources/App/main.swift", in: directory)
      try write("", to: "Sources/Committed/nothing.swift", in: directory)

      var (status, output) = try swift("build", in: directory)
      #expect(status == 0, "\(output)")
      #expect(!output.contains("warning:"), "\(output)")

      try write(
        "include \"part.fbs\"; enum Own: byte { A }", to: "Sources/App/part_user.fbs",
        in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(status == 0, "\(output)")

      try write("table Part { x: inte; }", to: "Shared/part.fbs", in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(status != 0)
      #expect(output.contains("part.fbs:1:17: error: "), "\(output)")

      try write(#"{"include": ["nowhere"]}"#, to: "Sources/App/dflat.json", in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(output.contains("dflat.json: error: the include directory \"nowhere\""), "\(output)")

      (status, output) = try swift(
        "package", "--allow-writing-to-package-directory", "dflat-generate", "--target",
        "Committed", in: directory)
      #expect(status == 0, "\(output)")
      #expect(
        try text(of: directory.appending(path: "Sources/Committed/benchdoc_generated.swift"))
          == text(of: Place.golden.appending(path: "benchdoc/benchdoc_generated.swift")))
      (status, output) = try swift("build", "--target", "Committed", in: directory)
      #expect(status == 0, "\(output)")
    }
  }
}
