// swift-tools-version: 6.2
import PackageDescription

// A program of its own that uses Dflat as any program would. Elsewhere the dependency is
// .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "Reader",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "reader", targets: ["reader"])],
  dependencies: [.package(name: "Dflat", path: "../..")],
  targets: [
    .executableTarget(
      name: "reader",
      dependencies: ["FeedFormat", .product(name: "SQLiteDflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    .target(name: "FeedFormat"),
    .testTarget(name: "FeedFormatTests", dependencies: ["FeedFormat"]),
  ]
)
