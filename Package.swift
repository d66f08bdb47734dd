// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// Strict in every target: what a later language mode will demand is demanded now.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Macros are built against the SwiftSyntax that the compiler itself is made of, which stands beside the library that manifests are built
// against: nothing is fetched, and a clean build takes seconds.
let swiftSyntax: String = {
  #if canImport(Darwin)
    var info = Dl_info()
    _ = dladdr(unsafeBitCast(Package.self, to: UnsafeRawPointer.self), &info)
    let manifestLibrary = String(cString: info.dli_fname)
  #else
    // Line by line: a file of the kernel has no size, and Foundation reads only its first page.
    var manifestLibrary = ""
    let maps = fopen("/proc/self/maps", "r")
    var line = [CChar](repeating: 0, count: 8192)
    while let maps, fgets(&line, Int32(line.count), maps) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
      if text.hasSuffix("/libPackageDescription.so"), let start = text.firstIndex(of: "/") {
        manifestLibrary = String(text[start...])
      }
    }
    if let maps { fclose(maps) }
  #endif
  // From usr/lib/swift/pm/ManifestAPI/libPackageDescription.so to usr/lib/swift/host.
  return URL(fileURLWithPath: manifestLibrary).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("host").path
}()

// A program whose module belongs to the main actor, as new application templates have it, with all
// that the language offers today and will demand later.
let mainActor: [SwiftSetting] =
  strict + [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
  ]

// Types that live no longer than the bytes that they read.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

// Programs that run for some milliseconds while another package is built: the schema compiler and
// the macros. Whoever builds such a package anew waits for them first, and SwiftPM builds the schema
// compiler twice. Without optimisation they are built in a third of the time or less, and the schema
// compiler still writes 100,000 lines in a second.
let tool: [SwiftSetting] = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// What macros are compiled and linked with.
let macroSettings: [SwiftSetting] = tool + [.unsafeFlags(["-I", swiftSyntax])]
let macroLinking: [LinkerSetting] =
  [.unsafeFlags(["-L", swiftSyntax, "-Xlinker", "-rpath", "-Xlinker", swiftSyntax])]
  + [
    "SwiftSyntax", "SwiftParser", "SwiftSyntaxMacros", "SwiftSyntaxBuilder", "SwiftDiagnostics",
    "SwiftCompilerPluginMessageHandling",
  ].map { .linkedLibrary($0) }

// What needs CloudKit or Combine is built where these exist. On Linux the tests, and nothing else, build it against stand-ins.
#if os(Linux)
  let isLinux = true
  let standIns: [Target] = [
    .target(name: "Combine", path: "Tests/Combine", swiftSettings: strict),
    .target(
      name: "DflatCombine", dependencies: ["Dflat", "Combine"], path: "Sources/Dflat/Publishers",
      swiftSettings: strict),
    .testTarget(
      name: "DflatCombineTests",
      dependencies: ["DflatCombine", "SQLiteDflat", "DflatTestSupport", "Combine"],
      swiftSettings: strict),
    .target(name: "SwiftUI", path: "Tests/SwiftUI", swiftSettings: strict),
    .target(
      name: "DflatSwiftUI", dependencies: ["Dflat", "SwiftUI"], path: "Sources/Dflat/Views",
      swiftSettings: strict),
    .testTarget(
      name: "DflatSwiftUITests", dependencies: ["DflatSwiftUI", "DflatTestSupport", "SwiftUI"],
      swiftSettings: strict),
    .target(name: "CloudKit", path: "Tests/CloudKit", swiftSettings: strict),
    .target(
      name: "EmpireCloudKit", dependencies: ["Empire", "EmpireMacros", "CloudKit"],
      path: "Sources/Empire/CloudKit", swiftSettings: strict),
    .testTarget(
      name: "EmpireCloudKitTests", dependencies: ["EmpireCloudKit", "Empire", "CloudKit"],
      swiftSettings: strict),
  ]
#else
  let isLinux = false
  let standIns: [Target] = [
    .testTarget(
      name: "DflatCombineTests", dependencies: ["SQLiteDflat", "DflatTestSupport"],
      swiftSettings: strict)
  ]
#endif

let package = Package(
  name: "Dflat",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // Generated code imports FlatBuffersRuntime, so it travels with both libraries.
    .library(name: "Dflat", targets: ["Dflat", "FlatBuffersRuntime"]),
    .library(name: "SQLiteDflat", targets: ["SQLiteDflat", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "MemoryDflat", targets: ["MemoryDflat", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "PostgresDflat", targets: ["PostgresDflat", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "DflatGraphQL", targets: ["DflatGraphQL", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "SQLiteAccess", targets: ["SQLiteAccess"]),
    .library(name: "Empire", targets: ["Empire"]),
    .library(name: "LMDB", targets: ["LMDB"]),
    .library(name: "Silo", targets: ["Silo", "Dflat", "FlatBuffersRuntime"]),
    .library(name: "EmpireSilo", targets: ["EmpireSilo"]),
    .executable(name: "dflatc", targets: ["dflatc"]),
    .plugin(name: "DflatPlugin", targets: ["DflatPlugin"]),
    .plugin(name: "DflatCommand", targets: ["DflatCommand"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .target(name: "FlatBuffersRuntime", swiftSettings: strict),
    // Below all libraries: what more than one of them needs and none owns. `Platform` is for this
    // package only; what is public of it stands in `StandardConformances`.
    .target(name: "Platform", swiftSettings: strict),
    .target(name: "StandardConformances", swiftSettings: strict),
    .target(
      name: "Dflat", dependencies: ["FlatBuffersRuntime", "Platform", "StandardConformances"],
      exclude: isLinux ? ["Publishers", "Views"] : [], swiftSettings: strict),
    .target(name: "CSQLiteThreads", dependencies: ["CSQLite"]),
    .target(
      name: "SQLiteAccess", dependencies: ["CSQLite", "CSQLiteThreads", "Platform"],
      swiftSettings: strict),
    .target(
      name: "SQLiteDflat",
      dependencies: ["Dflat", "FlatBuffersRuntime", "Platform", "SQLiteAccess"],
      swiftSettings: strict),
    .target(
      name: "MemoryDflat", dependencies: ["Dflat", "FlatBuffersRuntime", "Platform"],
      swiftSettings: strict),
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // The engine over a server. No other library links the server's client library.
    .target(
      name: "PostgresDflat",
      dependencies: [
        "CPostgres", "Dflat", "FlatBuffersRuntime", "Platform", "StandardConformances",
      ],
      swiftSettings: strict),
    // What code generated for GraphQL operations is compiled against.
    .target(name: "DflatGraphQL", dependencies: ["Dflat"], swiftSettings: strict),
    // Below both front ends: sources, places in them, and messages about them.
    .target(name: "Diagnostics", swiftSettings: tool),
    .target(name: "DflatSchema", dependencies: ["Diagnostics"], swiftSettings: tool),
    .target(name: "GraphQLSchema", dependencies: ["Diagnostics"], swiftSettings: tool),
    .target(
      name: "DflatGenerator",
      dependencies: ["Diagnostics", "DflatSchema", "GraphQLSchema", "Platform"],
      swiftSettings: tool),
    .executableTarget(
      name: "dflatc", dependencies: ["DflatGenerator", "DflatSchema"], swiftSettings: tool),

    // Records in sorted-key storage. They know nothing of the targets above, and those nothing of them.
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(
      name: "LMDB", dependencies: ["CLMDB", "Platform", "StandardConformances"],
      swiftSettings: strict + lifetimes),
    .target(
      name: "PackedSerialize", dependencies: ["Platform", "StandardConformances"],
      swiftSettings: strict + lifetimes),
    // What the macros of all libraries need. Only the compiler runs it.
    .target(name: "MacroSupport", swiftSettings: macroSettings),
    .macro(
      name: "EmpireMacros", dependencies: ["MacroSupport"], swiftSettings: macroSettings,
      linkerSettings: macroLinking),
    .target(
      name: "Empire",
      dependencies: [
        "EmpireMacros", "LMDB", "PackedSerialize", "Platform", "StandardConformances",
      ],
      exclude: isLinux ? ["CloudKit"] : [], swiftSettings: strict + lifetimes),

    // Plain Swift values over Dflat's entities.
    .macro(
      name: "SiloMacros", dependencies: ["MacroSupport"], swiftSettings: macroSettings,
      linkerSettings: macroLinking),
    .target(
      name: "Silo",
      dependencies: [
        "Dflat", "FlatBuffersRuntime", "MemoryDflat", "Platform", "SiloMacros",
        "StandardConformances",
      ],
      swiftSettings: strict),
    // Values in LMDB: a library of its own, so that only those who use it link LMDB.
    .target(
      name: "EmpireSilo",
      dependencies: ["Dflat", "Empire", "FlatBuffersRuntime", "Platform", "Silo"],
      swiftSettings: strict),

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

    // Below all test support: random numbers that a seed repeats.
    .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: strict),
    // What is generated for these is committed: a plugin here would have the schema compiler built before anything else. It is used by
    // the examples and the benchmarks.
    .target(
      name: "DflatTestSupport",
      dependencies: [
        "Dflat", "DflatSchema", "FlatBuffersRuntime", "MemoryDflat", "Platform", "SeededRandom",
        "SQLiteAccess", "SQLiteDflat",
      ],
      path: "Tests/DflatTestSupport", exclude: ["Schemas"], swiftSettings: strict),
    // A server of the tests' own, for the tests that run on every engine.
    .target(
      name: "PostgresTestSupport",
      dependencies: ["CPostgres", "Dflat", "DflatTestSupport", "Platform", "PostgresDflat"],
      path: "Tests/PostgresTestSupport", swiftSettings: strict),
    .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
    .target(name: "CSQLiteProbe", dependencies: ["CSQLite"], path: "Tests/CSQLiteProbe"),
    .target(
      name: "DflatVerification",
      dependencies: [
        "CFaultVFS", "Dflat", "DflatTestSupport", "MemoryDflat", "Platform", "SQLiteAccess",
        "SQLiteDflat", "Silo",
      ],
      path: "Tests/DflatVerification", exclude: ["Schemas"], swiftSettings: strict),
    .executableTarget(
      name: "dflat-verify", dependencies: ["DflatVerification", "DflatTestSupport", "CFaultVFS"],
      path: "Tests/VerifyCommand", swiftSettings: strict),
    .testTarget(
      name: "DflatVerificationTests",
      dependencies: [
        "DflatVerification", "DflatTestSupport", "CFaultVFS", "Platform", "dflat-verify",
      ],
      swiftSettings: strict),
    // The same for the engine over a server, which alone needs libpq.
    .target(
      name: "PostgresVerification",
      dependencies: [
        "Dflat", "DflatTestSupport", "DflatVerification", "Platform", "PostgresDflat",
        "PostgresTestSupport",
      ],
      path: "Tests/PostgresVerification", swiftSettings: strict),
    .executableTarget(
      name: "dflat-verify-postgres",
      dependencies: [
        "DflatTestSupport", "DflatVerification", "PostgresTestSupport", "PostgresVerification",
      ],
      path: "Tests/VerifyPostgresCommand", swiftSettings: strict),
    .testTarget(
      name: "PostgresVerificationTests",
      dependencies: [
        "DflatTestSupport", "DflatVerification", "PostgresTestSupport", "PostgresVerification",
        "dflat-verify-postgres",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FlatBuffersRuntimeTests", dependencies: ["FlatBuffersRuntime"],
      swiftSettings: strict),
    .testTarget(
      name: "DflatTests", dependencies: ["Dflat", "DflatTestSupport", "Platform", "SQLiteDflat"],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteAccessTests",
      dependencies: ["CSQLite", "CSQLiteProbe", "Platform", "SQLiteAccess", "DflatTestSupport"],
      swiftSettings: strict),
    .target(
      // A client that has not been changed for Swift 6.
      name: "SwiftFiveClient", dependencies: ["SQLiteDflat", "DflatTestSupport"],
      path: "Tests/SQLiteDflatTests/SwiftFiveClient",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "MainActorClient", dependencies: ["SQLiteAccess", "SQLiteDflat"],
      path: "Tests/SQLiteDflatTests/MainActorClient", exclude: ["Schemas"],
      swiftSettings: mainActor),
    .target(
      // An application of the README's calls, in Swift 5 mode and isolated to the main actor.
      name: "TrackerClient", dependencies: ["SQLiteDflat"],
      path: "Tests/SQLiteDflatTests/TrackerClient", exclude: ["Schemas"],
      swiftSettings: [
        .swiftLanguageMode(.v5), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error),
      ]),
    // What every engine promises, on each of them.
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "Dflat", "DflatTestSupport", "FlatBuffersRuntime", "MemoryDflat", "Platform",
        "PostgresTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresDflatTests",
      dependencies: [
        "Dflat", "DflatTestSupport", "Platform", "PostgresDflat", "PostgresTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "MemoryDflatTests", dependencies: ["DflatTestSupport", "MemoryDflat"],
      swiftSettings: strict),
    .testTarget(
      name: "SQLiteDflatTests",
      dependencies: [
        "SQLiteDflat", "SQLiteAccess", "DflatTestSupport", "MainActorClient", "MemoryDflat",
        "Platform", "SwiftFiveClient", "TrackerClient",
      ],
      exclude: ["MainActorClient", "SwiftFiveClient", "TrackerClient"],
      resources: [.copy("Fixtures")],
      swiftSettings: strict),
    .testTarget(
      name: "DflatSchemaTests", dependencies: ["DflatSchema", "SeededRandom"],
      resources: [.copy("Corpus")], swiftSettings: strict),
    .testTarget(
      name: "GraphQLSchemaTests", dependencies: ["GraphQLSchema", "SeededRandom"],
      resources: [.copy("Corpus"), .copy("Judge")], swiftSettings: strict),
    // A stand-in for the module of Apollo iOS 1.x that operations are generated for.
    .target(name: "ApolloAPI", path: "Tests/ApolloAPI", swiftSettings: strict),
    .testTarget(
      // Generated code is compiled against Dflat, MemoryDflat and ApolloAPI.
      name: "DflatGeneratorTests",
      dependencies: [
        "ApolloAPI", "Diagnostics", "Dflat", "DflatGenerator", "DflatGraphQL", "DflatSchema",
        "FlatBuffersRuntime", "GraphQLSchema", "MemoryDflat", "Platform", "SeededRandom",
      ],
      exclude: ["Golden", "Schemas", "Programs", "StarWars"], swiftSettings: strict),
    .testTarget(
      name: "DflatGraphQLTests", dependencies: ["DflatGraphQL", "DflatTestSupport"],
      swiftSettings: strict),

    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "DflatTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "PackedSerializeTests", dependencies: ["PackedSerialize", "DflatTestSupport"],
      swiftSettings: strict),
    .target(
      name: "MainActorRecords", dependencies: ["Empire"],
      path: "Tests/EmpireTests/MainActorClient", swiftSettings: mainActor),
    .testTarget(
      name: "EmpireTests",
      dependencies: ["Empire", "LMDB", "DflatTestSupport", "MainActorRecords"],
      exclude: ["MainActorClient"], swiftSettings: strict),
    .testTarget(
      name: "EmpireMacrosTests", dependencies: ["Empire", "Dflat", "DflatTestSupport"],
      exclude: ["Programs"], swiftSettings: strict),

    .testTarget(
      name: "SiloTests",
      dependencies: [
        "DflatSchema", "DflatTestSupport", "Empire", "EmpireSilo", "MemoryDflat", "Platform",
        "PostgresTestSupport", "SQLiteDflat", "Silo",
      ],
      exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(
      name: "SiloMacrosTests", dependencies: ["Silo", "DflatTestSupport"], exclude: ["Programs"],
      swiftSettings: strict),
  ] + standIns
)

// Building every test takes minutes. TESTS=EngineTests,SiloTests builds those test targets alone.
if let chosen = Context.environment["TESTS"].map({ $0.split(separator: ",").map(String.init) }) {
  package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
