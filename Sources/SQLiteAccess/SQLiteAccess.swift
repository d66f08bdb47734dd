// SQLiteAccess
