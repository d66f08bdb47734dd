// SQLiteAccessTests
