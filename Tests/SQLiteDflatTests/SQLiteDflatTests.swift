// SQLiteDflatTests
