-- All side tables with all rows. An empty union has the tag 0 in one row and NULL in the others: both are met.
CREATE TABLE blog__post_v1_0__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
CREATE INDEX index__blog__post_v1_0__f10 ON blog__post_v1_0__f10 (f10);
CREATE TABLE blog__post_v1_0__f20__type (rowid INTEGER PRIMARY KEY, f20__type INTEGER);
CREATE INDEX index__blog__post_v1_0__f20__type ON blog__post_v1_0__f20__type (f20__type);
CREATE TABLE blog__post_v1_0__f20__u1__f4 (rowid INTEGER PRIMARY KEY, f20__u1__f4 TEXT);
CREATE INDEX index__blog__post_v1_0__f20__u1__f4 ON blog__post_v1_0__f20__u1__f4 (f20__u1__f4);
CREATE TABLE blog__post_v1_0__f20__u2__f4 (rowid INTEGER PRIMARY KEY, f20__u2__f4 TEXT);
CREATE UNIQUE INDEX index__blog__post_v1_0__f20__u2__f4 ON blog__post_v1_0__f20__u2__f4 (f20__u2__f4);
INSERT INTO blog__post_v1_0__f10 VALUES (1, 5), (2, 0), (3, 9), (4, -3), (5, 120), (7, 5), (8, 5), (9, 77);
INSERT INTO blog__post_v1_0__f20__type VALUES (1, 2), (2, 0), (3, 1), (4, NULL), (5, 2), (7, NULL), (8, 1), (9, NULL);
INSERT INTO blog__post_v1_0__f20__u1__f4 VALUES (1, NULL), (2, NULL), (3, 'https://one.example'), (4, NULL), (5, NULL),
  (7, NULL), (8, NULL), (9, NULL);
INSERT INTO blog__post_v1_0__f20__u2__f4 VALUES (1, '1.jpg'), (2, NULL), (3, NULL), (4, NULL), (5, '5.jpg'), (7, NULL), (8, NULL),
  (9, NULL);
