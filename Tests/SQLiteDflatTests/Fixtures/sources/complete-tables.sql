-- All side tables of a post, with the indexes that upstream gives them.
CREATE TABLE blog__post_v1_0__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
CREATE INDEX index__blog__post_v1_0__f10 ON blog__post_v1_0__f10 (f10);
CREATE TABLE blog__post_v1_0__f20__type (rowid INTEGER PRIMARY KEY, f20__type INTEGER);
CREATE INDEX index__blog__post_v1_0__f20__type ON blog__post_v1_0__f20__type (f20__type);
CREATE TABLE blog__post_v1_0__f20__u1__f4 (rowid INTEGER PRIMARY KEY, f20__u1__f4 TEXT);
CREATE INDEX index__blog__post_v1_0__f20__u1__f4 ON blog__post_v1_0__f20__u1__f4 (f20__u1__f4);
CREATE TABLE blog__post_v1_0__f20__u2__f4 (rowid INTEGER PRIMARY KEY, f20__u2__f4 TEXT);
CREATE UNIQUE INDEX index__blog__post_v1_0__f20__u2__f4 ON blog__post_v1_0__f20__u2__f4 (f20__u2__f4);
