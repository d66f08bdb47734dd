// swift-tools-version: 6.2
import PackageDescription

// The benchmark program: a package of its own, so that the library's manifest knows nothing of it.

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Dflat", path: "..")],
  targets: [
    // SQLite's C API under a name of its own: what the floor calls, past the library.
    .systemLibrary(
      name: "CSQLiteFloor", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .systemLibrary(name: "CLinux"),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CLinux",
        "CSQLiteFloor",
        .product(name: "Dflat", package: "Dflat"),
        .product(name: "DflatGraphQL", package: "Dflat"),
        .product(name: "MemoryDflat", package: "Dflat"),
        .product(name: "SQLiteAccess", package: "Dflat"),
        .product(name: "Silo", package: "Dflat"),
        .product(name: "SQLiteDflat", package: "Dflat"),
      ],
      // The operations and the schema of the files in Generated.
      exclude: ["GraphQL"],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    // Empire has a program of its own, so that measuring Dflat builds neither it nor LMDB.
    .systemLibrary(
      name: "CLMDBFloor", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .executableTarget(
      name: "bench-empire",
      dependencies: ["CLinux", "CLMDBFloor", .product(name: "Empire", package: "Dflat")],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        // Not MemberImportVisibility: LMDB's structs are the same types in CLMDBFloor and in the
        // library's own module.
      ]),
    // So has PostgreSQL: the other programs need neither libpq nor a server.
    .systemLibrary(
      name: "CPostgresFloor", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .executableTarget(
      name: "bench-postgres",
      dependencies: [
        "CLinux", "CPostgresFloor", .product(name: "Dflat", package: "Dflat"),
        .product(name: "PostgresDflat", package: "Dflat"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
  ]
)
