// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// MARK: Settings
// What a later language mode will demand, in all targets that name no settings: see the end.
let strict =
  [.swiftLanguageMode(.v6)]
  + upcoming("ExistentialAny InternalImportsByDefault MemberImportVisibility")
// A program whose module belongs to the main actor, as new application templates have it, with all
// that the language offers today and will demand later.
let mainActor =
  strict + [.defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]
  + upcoming("ImmutableWeakCaptures InferIsolatedConformances NonisolatedNonsendingByDefault")
// Types that live no longer than the bytes that they read.
let lifetimes = strict + [.enableExperimentalFeature("Lifetimes")]
// Programs that run for some milliseconds while another package is built: the schema compiler and
// the macros. A clean build waits for them first, and builds the schema compiler twice. Without
// optimisation that takes a third of the time, and it still writes 100,000 lines in a second.
// SwiftPM allows unsafe flags in dependencies since tools version 6.2.
let tool: [SwiftSetting] = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// Macros are built against the SwiftSyntax that the compiler itself is made of, which stands beside
// the library that manifests are built against: nothing is fetched, a clean build takes seconds.
let swiftSyntax: String = {
  #if canImport(Darwin)
    var info = Dl_info()
    _ = dladdr(unsafeBitCast(Package.self, to: UnsafeRawPointer.self), &info)
    let manifestLibrary = String(cString: info.dli_fname)
  #else
    let maps = FileHandle(forReadingAtPath: "/proc/self/maps")?.readDataToEndOfFile() ?? Data()
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .last { $0.hasSuffix("/libPackageDescription.so") }
    let manifestLibrary = String(line?.drop { $0 != "/" } ?? "")
  #endif
  // From usr/lib/swift/pm/ManifestAPI/libPackageDescription.so to usr/lib/swift/host.
  return URL(fileURLWithPath: manifestLibrary + "/../../../host").standardized.path
}()
let macroSettings = tool + [.unsafeFlags(["-I", swiftSyntax])]
let macroLinking: [LinkerSetting] =
  [.unsafeFlags(["-L", swiftSyntax, "-Xlinker", "-rpath", "-Xlinker", swiftSyntax])]
  + words(
    "SwiftSyntax SwiftParser SwiftSyntaxMacros SwiftSyntaxBuilder SwiftDiagnostics "
      + "SwiftCompilerPluginMessageHandling"
  ).map { .linkedLibrary($0) }

// On Linux only the tests build what needs CloudKit, Combine or SwiftUI, against stand-ins.
#if os(Linux)
  let isLinux = true
#else
  let isLinux = false
#endif

// MARK: Vocabulary. Lists of names are written as words
func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
func names(_ text: String) -> [Target.Dependency] { words(text).map { .byName(name: $0) } }
func upcoming(_ text: String) -> [SwiftSetting] { words(text).map { .enableUpcomingFeature($0) } }
func target(
  _ name: String, _ uses: String = "", in folder: String? = nil, exclude: String = "",
  settings: [SwiftSetting]? = nil
) -> Target {
  .target(
    name: name, dependencies: names(uses), path: folder, exclude: words(exclude),
    swiftSettings: settings)
}

/// Tests of a target, which they use in any case.
func tests(
  of subject: String, _ name: String? = nil, with uses: String = "DflatTestSupport",
  exclude: String = "", copy: String = ""
) -> Target {
  .testTarget(
    name: name ?? "\(subject)Tests", dependencies: names("\(subject) \(uses)"),
    exclude: words(exclude), resources: words(copy).map { .copy($0) })
}

func support(_ name: String, _ uses: String = "", exclude: String = "") -> Target {
  target(name, uses, in: "Tests/\(name)", exclude: exclude)
}

/// A C library of the system: its name for pkg-config, and its packages.
func system(_ name: String, _ library: String, apt: String, brew: String) -> Target {
  .systemLibrary(name: name, pkgConfig: library, providers: [.apt([apt]), .brew([brew])])
}

/// What is below all libraries, what every engine is built on, and what tests of servers share.
let base = "Platform StandardConformances"
let engine = "Dflat FlatBuffersRuntime Platform"
let servers = "DflatTestSupport PostgresTestSupport"

// MARK: - Products
let generate = PluginCommandIntent.custom(
  verb: "dflat-generate", description: "Writes Swift for the .fbs files of a target")
let writing = PluginPermission.writeToPackageDirectory(
  reason: "It writes the generated Swift beside the schemas.")
let libraries: [Target] = [
  // What more than one library needs and none owns. `Platform` is for this package only; what is
  // public of it stands in `StandardConformances`.
  target("Platform"), target("StandardConformances"),
  // MARK: Dflat
  target("FlatBuffersRuntime"),
  target("Dflat", "FlatBuffersRuntime \(base)", exclude: isLinux ? "Publishers Views" : ""),
  // MARK: MemoryDflat
  target("MemoryDflat", engine),
  // MARK: SQLiteAccess, SQLiteDflat
  system("CSQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite3"),
  target("CSQLiteThreads", "CSQLite", settings: []),
  target("SQLiteAccess", "CSQLite CSQLiteThreads Platform"),
  target("SQLiteDflat", "\(engine) CSQLiteThreads SQLiteAccess"),
  // MARK: PostgresDflat. No other library links the server's client library
  system("CPostgres", "libpq", apt: "libpq-dev", brew: "libpq"),
  target("PostgresDflat", "CPostgres StandardConformances \(engine)"),
  // MARK: DflatGraphQL: what code generated for GraphQL operations is compiled against
  target("DflatGraphQL", "Dflat Platform"),
  // A library of its own, so that only those who use it link URLSession
  target("DflatGraphQLURLSession", "DflatGraphQL Platform"),
  // MARK: LMDB, Empire: records in sorted-key storage, which know nothing of the targets above
  system("CLMDB", "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
  target("LMDB", "CLMDB \(base)", settings: lifetimes),
  target("PackedSerialize", base, settings: lifetimes),
  target(
    "Empire", "EmpireMacros LMDB PackedSerialize \(base)", exclude: isLinux ? "CloudKit" : "",
    settings: lifetimes),
  // MARK: Silo: plain Swift values over Dflat's entities
  target("Silo", "\(engine) MemoryDflat SiloMacros StandardConformances"),
  // MARK: EmpireSilo: a library of its own, so that only those who use it link LMDB
  target("EmpireSilo", "\(engine) Empire Silo"),
  // MARK: dflatc, DflatPlugin, DflatCommand
  // Below both front ends: sources, places in them, and messages about them.
  target("Diagnostics", settings: tool), target("DflatSchema", "Diagnostics", settings: tool),
  target("GraphQLSchema", "Diagnostics", settings: tool),
  target("DflatGenerator", "Diagnostics DflatSchema GraphQLSchema Platform", settings: tool),
  .executableTarget(
    name: "dflatc", dependencies: ["DflatGenerator", "DflatSchema", "Platform"], swiftSettings: tool
  ),
  .plugin(name: "DflatPlugin", capability: .buildTool(), dependencies: ["dflatc"]),
  .plugin(
    name: "DflatCommand", capability: .command(intent: generate, permissions: [writing]),
    dependencies: ["dflatc"]),
  // MARK: DflatTools, dflat: looking inside. Programs that store objects build none of it. The
  // command's module cannot be called `dflat`, since some file systems ignore case
  target(
    "DflatTools",
    "Dflat DflatSchema Diagnostics FlatBuffersRuntime Platform SQLiteAccess SQLiteDflat"
  ),
  // MARK: DflatInspector: the page that shows a file. Only it and the command link a server of HTTP
  system("CMicroHTTP", "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
  .target(
    name: "DflatInspector",
    dependencies: names("CMicroHTTP Dflat DflatTools Platform SQLiteDflat"),
    resources: [.embedInCode("Page/inspector.html")]),
  // MARK: DflatServerTools: the same for databases on servers. It links libpq, as the command does
  target("DflatServerTools", "Dflat DflatTools Platform PostgresDflat SQLiteDflat"),
  .executableTarget(
    name: "DflatShell",
    dependencies: names("Dflat DflatInspector DflatServerTools DflatTools Diagnostics Platform")
  ),
]

// MARK: Macros. Only the compiler runs them
let macros: [Target] =
  [target("MacroSupport", settings: macroSettings)]
  + ["EmpireMacros", "SiloMacros"].map {
    .macro(
      name: $0, dependencies: ["MacroSupport"], swiftSettings: macroSettings,
      linkerSettings: macroLinking)
  }

// MARK: What tests share: folders of `Tests`, and part of no product
let testSupport: [Target] = [
  support("SeededRandom", "Platform"),  // Random numbers that a seed repeats.
  // What is generated for these is committed: a plugin here would have the schema compiler built
  // before anything else. It is used by the examples and the benchmarks.
  support(
    "DflatTestSupport", "\(engine) DflatSchema MemoryDflat SeededRandom SQLiteAccess SQLiteDflat",
    exclude: "Schemas"),
  // A server of the tests' own, for the tests that run on every engine.
  support("PostgresTestSupport", "CPostgres Dflat DflatTestSupport Platform PostgresDflat"),
  target("CFaultVFS", "CSQLite", in: "Tests/CFaultVFS", settings: []),
  target("CSQLiteProbe", "CSQLite", in: "Tests/CSQLiteProbe", settings: []),
  support(
    "DflatVerification",
    "CFaultVFS Dflat DflatTestSupport MemoryDflat Platform SQLiteAccess SQLiteDflat Silo",
    exclude: "Schemas"),
  .executableTarget(
    name: "dflat-verify", dependencies: ["DflatVerification", "DflatTestSupport", "CFaultVFS"],
    path: "Tests/VerifyCommand"),
  // The same for the engine over a server, which alone needs libpq.
  support("PostgresVerification", "\(servers) Dflat DflatVerification Platform PostgresDflat"),
  .executableTarget(
    name: "dflat-verify-postgres",
    dependencies: names("\(servers) DflatVerification PostgresVerification"),
    path: "Tests/VerifyPostgresCommand"),
]

// MARK: Stand-ins, for Apple's modules and for the one of Apollo iOS 1.x
let apollo = support("ApolloAPI")
let apple: [Target] = [
  support("Combine"), support("SwiftUI"), support("CloudKit"),
  target("DflatCombine", "Dflat Combine", in: "Sources/Dflat/Publishers"),
  target("DflatSwiftUI", "Dflat SwiftUI", in: "Sources/Dflat/Views"),
  target("EmpireCloudKit", "Empire EmpireMacros CloudKit", in: "Sources/Empire/CloudKit"),
  tests(of: "DflatSwiftUI", with: "DflatTestSupport SwiftUI"),
  tests(of: "EmpireCloudKit", with: "Empire CloudKit"),
]

// MARK: Clients: programs of users, in the folders of the tests that run them
let swiftFive: [SwiftSetting] = [.swiftLanguageMode(.v5)]
let tracker = swiftFive + [.defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]
let sqliteClients = "MainActorClient SwiftFiveClient TrackerClient"
func client(_ name: String, _ uses: String, exclude: String, _ settings: [SwiftSetting]) -> Target {
  target(name, uses, in: "Tests/SQLiteDflatTests/\(name)", exclude: exclude, settings: settings)
}
let clients: [Target] = [
  // A client that has not been changed for Swift 6, and an application of the README's calls.
  client("SwiftFiveClient", "SQLiteDflat DflatTestSupport", exclude: "", swiftFive),
  client("TrackerClient", "SQLiteDflat", exclude: "Schemas", tracker),
  client("MainActorClient", "SQLiteAccess SQLiteDflat", exclude: "Schemas", mainActor),
  target(
    "MainActorRecords", "Empire", in: "Tests/EmpireTests/MainActorClient", settings: mainActor),
]

// MARK: Tests
let testing: [Target] = [
  tests(of: "FlatBuffersRuntime", with: ""),
  tests(of: "DflatSchema", with: "SeededRandom", copy: "Corpus"),
  tests(of: "Dflat", with: "DflatTestSupport Platform SQLiteDflat"),
  tests(
    of: "SQLiteDflat", "DflatCombineTests",
    with: "DflatTestSupport" + (isLinux ? " DflatCombine Combine" : "")),
  tests(of: "MemoryDflat"), tests(of: "LMDB", with: "DflatTestSupport Platform"),
  tests(of: "DflatGraphQL", with: "DflatTestSupport Platform SeededRandom", copy: "Judge"),
  tests(
    of: "DflatGraphQLURLSession", with: "DflatGraphQL DflatTestSupport Platform", copy: "Server"),
  tests(of: "PackedSerialize"), tests(of: "PostgresDflat", with: "\(servers) Dflat Platform"),
  tests(of: "SQLiteAccess", with: "CSQLite CSQLiteProbe Platform DflatTestSupport"),
  tests(
    of: "SQLiteDflat",
    with: "CSQLiteThreads SQLiteAccess DflatTestSupport MemoryDflat Platform \(sqliteClients)",
    exclude: sqliteClients, copy: "Fixtures"),
  // What every engine promises, on each of them.
  tests(of: "Dflat", "EngineTests", with: "\(servers) FlatBuffersRuntime MemoryDflat Platform"),
  tests(of: "DflatVerification", with: "DflatTestSupport CFaultVFS Platform dflat-verify"),
  tests(of: "PostgresVerification", with: "\(servers) DflatVerification dflat-verify-postgres"),
  tests(of: "GraphQLSchema", with: "SeededRandom", copy: "Corpus Judge"),
  tests(
    of: "DflatGenerator",
    with: "\(engine) ApolloAPI Diagnostics DflatGraphQL DflatSchema GraphQLSchema MemoryDflat "
      + "SeededRandom",
    exclude: "Golden Schemas Programs StarWars"),
  tests(of: "Empire", with: "LMDB DflatTestSupport MainActorRecords", exclude: "MainActorClient"),
  tests(of: "Empire", "EmpireMacrosTests", with: "Dflat DflatTestSupport", exclude: "Programs"),
  tests(
    of: "Silo",
    with: "\(servers) DflatSchema Empire EmpireSilo MemoryDflat Platform SQLiteDflat",
    exclude: "Fixtures"),
  tests(of: "Silo", "SiloMacrosTests", exclude: "Programs"),
  tests(
    of: "DflatTools",
    with: "Dflat DflatSchema DflatTestSupport Platform Silo SQLiteAccess SQLiteDflat"),
  tests(
    of: "DflatShell",
    with: "\(servers) Dflat DflatServerTools DflatTools Platform PostgresDflat SQLiteAccess "
      + "SQLiteDflat"),
  tests(
    of: "DflatInspector",
    with: "\(servers) Dflat DflatServerTools DflatTools Platform PostgresDflat SeededRandom "
      + "SQLiteAccess SQLiteDflat"),
]

// MARK: - The package
let package = Package(
  name: "Dflat",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  // Generated code imports FlatBuffersRuntime, so it travels with all libraries that it may import.
  products: [.library(name: "Dflat", targets: ["Dflat", "FlatBuffersRuntime"])]
    + words("SQLiteDflat MemoryDflat PostgresDflat DflatGraphQL Silo").map {
      .library(name: $0, targets: [$0, "Dflat", "FlatBuffersRuntime"])
    }
    + words(
      "SQLiteAccess Empire LMDB EmpireSilo DflatTools DflatServerTools DflatInspector "
        + "DflatGraphQLURLSession"
    ).map {
      .library(name: $0, targets: [$0])
    }
    + [("dflatc", "dflatc"), ("dflat", "DflatShell")].map {
      .executable(name: $0.0, targets: [$0.1])
    }
    + words("DflatPlugin DflatCommand").map { .plugin(name: $0, targets: [$0]) },
  targets: libraries + macros + testSupport + [apollo] + (isLinux ? apple : []) + clients + testing
)

for target in package.targets
where target.swiftSettings == nil && target.type != .system && target.type != .plugin {
  target.swiftSettings = strict
}

// Building every test takes minutes. TESTS=EngineTests,SiloTests builds those test targets alone.
if let chosen = Context.environment["TESTS"].map({ $0.split(separator: ",").map(String.init) }) {
  package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
