// swift-tools-version: 6.2
import PackageDescription

// A program of its own that uses Dflat as any program would. Elsewhere the dependency is
// .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "Posts",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "posts", targets: ["posts"]),
    .executable(name: "live", targets: ["live"]),
    // For Examples/Server, which asks a server the same questions.
    .library(name: "PackageStore", targets: ["PackageStore"]),
  ],
  dependencies: [.package(name: "Dflat", path: "../..")],
  targets: [
    .executableTarget(
      name: "posts",
      dependencies: ["PackageStore", "Upgraded", .product(name: "SQLiteDflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    // The same program some time later: its types have the same names, so it is a module of its own.
    .target(
      name: "Upgraded", dependencies: [.product(name: "SQLiteDflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    .executableTarget(
      name: "live", dependencies: [.product(name: "SQLiteDflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    // The packages of a machine as objects, for any engine.
    .target(
      name: "PackageStore",
      dependencies: ["DpkgStatus", .product(name: "Dflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    .target(name: "DpkgStatus"),
    .testTarget(name: "DpkgStatusTests", dependencies: ["DpkgStatus"]),
  ]
)
