// swift-tools-version: 6.2
import PackageDescription

// A program that has outgrown one file: its objects move to a PostgreSQL server, and several
// processes work there. Elsewhere the dependency is .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "Server",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "hall", targets: ["hall"])],
  dependencies: [
    .package(name: "Dflat", path: "../.."), .package(name: "Posts", path: "../Posts"),
  ],
  targets: [
    .executableTarget(
      name: "hall",
      dependencies: [
        .product(name: "PackageStore", package: "Posts"),
        .product(name: "PostgresDflat", package: "Dflat"),
        .product(name: "SQLiteDflat", package: "Dflat"),
      ],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")])
  ]
)
