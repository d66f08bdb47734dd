// swift-tools-version: 6.2
import PackageDescription

// Programs of their own that use Dflat as any program would. Elsewhere the dependency is
// .package(url: "https://…/dflat.git", from: "0.1.0").
let package = Package(
  name: "StarWars",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "starwars", targets: ["starwars"]),
    .executable(name: "next", targets: ["next"]),
    .executable(name: "repositories", targets: ["repositories"]),
  ],
  dependencies: [.package(name: "Dflat", path: "../..")],
  targets: [
    // Where answers come from.
    .target(
      name: "Service",
      dependencies: [
        .product(name: "DflatGraphQL", package: "Dflat"),
        .product(name: "DflatGraphQLURLSession", package: "Dflat"),
      ]),
    .executableTarget(
      name: "starwars",
      dependencies: [
        "Service", .product(name: "DflatGraphQL", package: "Dflat"),
        .product(name: "SQLiteDflat", package: "Dflat"),
      ],
      resources: [.copy("Responses")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    // The same program some months later: an operation selects one more field.
    .executableTarget(
      name: "next",
      dependencies: [
        "Service", .product(name: "DflatGraphQL", package: "Dflat"),
        .product(name: "SQLiteDflat", package: "Dflat"),
      ],
      resources: [.copy("Responses")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    // A client of a larger service, whose answers are recorded.
    .executableTarget(
      name: "repositories",
      dependencies: [
        "Service", .product(name: "DflatGraphQL", package: "Dflat"),
        .product(name: "SQLiteDflat", package: "Dflat"),
      ],
      resources: [.copy("Responses")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
  ]
)
