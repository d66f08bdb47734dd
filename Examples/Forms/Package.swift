// swift-tools-version: 6.2
import PackageDescription

// A program of its own that uses Silo as any program would. Elsewhere the dependency is
// .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "Forms",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "forms", targets: ["forms"])],
  dependencies: [.package(name: "Dflat", path: "../..")],
  targets: [
    .executableTarget(
      name: "forms",
      dependencies: [
        .product(name: "EmpireSilo", package: "Dflat"), .product(name: "Empire", package: "Dflat"),
        .product(name: "Silo", package: "Dflat"), .product(name: "SQLiteDflat", package: "Dflat"),
      ])
  ]
)
