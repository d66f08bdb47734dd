// SQLiteDflat
