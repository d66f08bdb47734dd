// swift-tools-version: 6.2
import PackageDescription

// Strict in every target: what a later language mode will demand is demanded now.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Dflat",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // Generated code imports FlatBuffersRuntime, so it travels with both libraries.
    .library(name: "Dflat", targets: ["Dflat", "FlatBuffersRuntime"]),
    .library(name: "SQLiteDflat", targets: ["SQLiteDflat", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "SQLiteAccess", targets: ["SQLiteAccess"]),
    .executable(name: "dflatc", targets: ["dflatc"]),
    .plugin(name: "DflatPlugin", targets: ["DflatPlugin"]),
    .plugin(name: "DflatCommand", targets: ["DflatCommand"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .target(name: "FlatBuffersRuntime", swiftSettings: strict),
    .target(name: "Dflat", dependencies: ["FlatBuffersRuntime"], swiftSettings: strict),
    .target(name: "SQLiteAccess", dependencies: ["CSQLite"], swiftSettings: strict),
    .target(
      name: "SQLiteDflat", dependencies: ["Dflat", "FlatBuffersRuntime", "SQLiteAccess"],
      swiftSettings: strict),
    .target(name: "DflatSchema", swiftSettings: strict),
    .target(name: "DflatGenerator", dependencies: ["DflatSchema"], swiftSettings: strict),
    .executableTarget(
      name: "dflatc", dependencies: ["DflatGenerator", "DflatSchema"], swiftSettings: strict),

    .plugin(name: "DflatPlugin", capability: .buildTool(), dependencies: ["dflatc"]),
    .plugin(
      name: "DflatCommand",
      capability: .command(
        intent: .custom(
          verb: "dflat-generate", description: "Writes Swift for the .fbs files of a target"),
        permissions: [
          .writeToPackageDirectory(reason: "It writes the generated Swift beside the schemas.")
        ]),
      dependencies: ["dflatc"]),

    .target(
      name: "DflatTestSupport",
      dependencies: ["Dflat", "FlatBuffersRuntime", "SQLiteAccess", "SQLiteDflat", "DflatSchema"],
      path: "Tests/DflatTestSupport", swiftSettings: strict, plugins: ["DflatPlugin"]),
    .target(
      name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
    .target(
      name: "DflatVerification",
      dependencies: ["CFaultVFS", "Dflat", "DflatTestSupport", "SQLiteAccess", "SQLiteDflat"],
      path: "Tests/DflatVerification", swiftSettings: strict, plugins: ["DflatPlugin"]),
    .executableTarget(
      name: "dflat-verify", dependencies: ["DflatVerification", "DflatTestSupport"],
      path: "Tests/VerifyCommand", swiftSettings: strict),
    .testTarget(
      name: "DflatVerificationTests",
      dependencies: ["DflatVerification", "DflatTestSupport", "CFaultVFS", "dflat-verify"],
      swiftSettings: strict),
    .testTarget(
      name: "FlatBuffersRuntimeTests", dependencies: ["FlatBuffersRuntime"],
      swiftSettings: strict),
    .testTarget(
      name: "DflatTests", dependencies: ["Dflat", "DflatTestSupport", "SQLiteDflat"],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteAccessTests", dependencies: ["SQLiteAccess"], swiftSettings: strict),
    .target(
      // A client that has not been changed for Swift 6.
      name: "SwiftFiveClient", dependencies: ["SQLiteDflat", "DflatTestSupport"],
      path: "Tests/SQLiteDflatTests/SwiftFiveClient",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "SQLiteDflatTests",
      dependencies: ["SQLiteDflat", "SQLiteAccess", "DflatTestSupport", "SwiftFiveClient"],
      exclude: ["SwiftFiveClient"], swiftSettings: strict),
    .testTarget(
      name: "DflatSchemaTests", dependencies: ["DflatSchema"], resources: [.copy("Corpus")],
      swiftSettings: strict),
    .testTarget(
      // Dflat is what generated code is compiled against.
      name: "DflatGeneratorTests",
      dependencies: ["DflatGenerator", "DflatSchema", "Dflat", "FlatBuffersRuntime"],
      exclude: ["Golden", "Schemas", "Programs"], swiftSettings: strict),
  ]
)
