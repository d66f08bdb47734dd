-- What is found in files that are older, or were written while indexes were being built:
-- a partial side table, an empty one, one that is missing, and one with holes and with rows whose objects are gone.
CREATE TABLE blog__post_v1_0__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
CREATE INDEX index__blog__post_v1_0__f10 ON blog__post_v1_0__f10 (f10);
CREATE TABLE blog__post_v1_0__f20__type (rowid INTEGER PRIMARY KEY, f20__type INTEGER);
CREATE TABLE blog__post_v1_0__f20__u2__f4 (rowid INTEGER PRIMARY KEY, f20__u2__f4 TEXT);
CREATE UNIQUE INDEX index__blog__post_v1_0__f20__u2__f4 ON blog__post_v1_0__f20__u2__f4 (f20__u2__f4);
INSERT INTO blog__post_v1_0__f10 VALUES (1, 5), (2, 0), (3, 9);
INSERT INTO blog__post_v1_0__f20__u2__f4 VALUES (1, '1.jpg'), (3, NULL), (6, 'gone.jpg'), (9, NULL);
