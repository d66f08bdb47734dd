-- The tables of a post and of the dictionary, in the names, columns and types of upstream Dflat. No auto-vacuum, no metadata.
CREATE TABLE blog__post_v1_0 (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 INTEGER, p BLOB,
  UNIQUE(__pk0, __pk1));
CREATE TABLE dictitem_v_dflat_internal__ (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 TEXT, p BLOB,
  UNIQUE(__pk0, __pk1));
-- A table of an earlier version of the program, which the schema knows nothing of.
CREATE TABLE blog__post_v0_9 (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, p BLOB, UNIQUE(__pk0));
INSERT INTO blog__post_v0_9 VALUES (1, 'kept', x'00');
