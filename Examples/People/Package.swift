// swift-tools-version: 6.2
import PackageDescription

// A program of its own that uses Empire as any program would. Elsewhere the dependency is
// .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "People",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "people", targets: ["people"])],
  dependencies: [.package(name: "Dflat", path: "../..")],
  targets: [
    .executableTarget(name: "people", dependencies: [.product(name: "Empire", package: "Dflat")])
  ]
)
