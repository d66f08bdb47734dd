# Made empty-tables.db once: python3 empty-tables.py | sqlite3 ../empty-tables.db
#
# The rows are written byte by byte, as Google's builder for Swift writes them: a table without
# fields has a vtable of 2 bytes that holds nothing but its own size.
import struct


class Table:
    """Fields by vtable offset: (format, number), a string, a list of strings, bytes, or a Table."""

    def __init__(self, fields):
        self.fields = fields


class Buffer:
    def __init__(self, root, shares=False):
        self.bytes = bytearray(4)
        # Whether all empty tables have one vtable.
        self.shares = shares
        self.empty = None
        struct.pack_into("<I", self.bytes, 0, self.table(root))

    def pad(self, alignment, ahead=0):
        while (len(self.bytes) + ahead) % alignment:
            self.bytes.append(0)

    def table(self, table):
        if not table.fields:
            if self.empty is None or not self.shares:
                self.pad(4, 2)
                self.empty = len(self.bytes)
                self.bytes += struct.pack("<H", 2)
            self.pad(4)
            place = len(self.bytes)
            self.bytes += struct.pack("<i", place - self.empty)
            return place
        slots = (max(table.fields) - 4) // 2 + 1
        entries, inline, children = [0] * slots, bytearray(4), []
        for offset, value in sorted(table.fields.items(), key=lambda f: (-self.size(f[1]), f[0])):
            while len(inline) % self.size(value):
                inline.append(0)
            entries[(offset - 4) // 2] = len(inline)
            if isinstance(value, tuple):
                inline += struct.pack("<" + value[0], value[1])
            else:
                children.append((len(inline), value))
                inline += bytes(4)
        self.pad(8, 4 + 2 * slots)
        vtable = len(self.bytes)
        self.bytes += struct.pack("<HH", 4 + 2 * slots, len(inline))
        for entry in entries:
            self.bytes += struct.pack("<H", entry)
        place = len(self.bytes)
        self.bytes += inline
        struct.pack_into("<i", self.bytes, place, place - vtable)
        for offset, value in children:
            struct.pack_into("<I", self.bytes, place + offset, self.child(value) - place - offset)
        return place

    @staticmethod
    def size(value):
        return struct.calcsize(value[0]) if isinstance(value, tuple) else 4

    def child(self, value):
        if isinstance(value, Table):
            return self.table(value)
        self.pad(4)
        place = len(self.bytes)
        if isinstance(value, str):
            text = value.encode()
            self.bytes += struct.pack("<I", len(text)) + text + b"\0"
        elif isinstance(value, bytes):
            self.bytes += struct.pack("<I", len(value)) + value
        else:
            self.bytes += struct.pack("<I", len(value)) + bytes(4 * len(value))
            for index, element in enumerate(value):
                at = place + 4 + 4 * index
                struct.pack_into("<I", self.bytes, at, self.child(element) - at)
        return place


def text(value):
    return "NULL" if value is None else "'" + value + "'"


def number(value):
    return "NULL" if value is None else str(value)


LINK, PHOTO = 1, 2
empty = Table({})
print(open("tables.sql").read())
print(open("complete-tables.sql").read())
for row in range(1, 41):
    likes, tag, url, path = row, None, None, None
    fields = {4: "notes", 6: ("i", row), 10: ("i", row)}
    if row <= 6:
        fields[14] = empty
    elif row <= 11:
        tag, fields[20] = LINK, empty
    elif row <= 15:
        tag, fields[20] = PHOTO, empty
    elif row <= 18:
        fields[14] = empty
        tag, fields[20] = LINK, empty
    elif row == 19:
        fields, likes = {}, 0
    elif row % 3 == 0:
        fields[14] = Table({4: "ada"})
    elif row % 3 == 1:
        url = f"u{row}"
        tag, fields[20] = LINK, Table({4: url})
    else:
        path = f"{row}.jpg"
        tag, fields[20] = PHOTO, Table({4: path, 6: ("i", 640)})
    if row != 19:
        if tag:
            fields[18] = ("B", tag)
        if row % 4 == 0:
            fields[16] = ["a", "b"]
        if row % 5 == 0:
            fields[24] = ("B", 1)
    data = Buffer(Table(fields), shares=row >= 16).bytes
    key = "'', 0" if row == 19 else f"'notes', {row}"
    print(f"INSERT INTO blog__post_v1_0 VALUES ({row}, {key}, x'{data.hex()}');")
    print(f"INSERT INTO blog__post_v1_0__f10 VALUES ({row}, {likes});")
    print(f"INSERT INTO blog__post_v1_0__f20__type VALUES ({row}, {number(tag)});")
    print(f"INSERT INTO blog__post_v1_0__f20__u1__f4 VALUES ({row}, {text(url)});")
    print(f"INSERT INTO blog__post_v1_0__f20__u2__f4 VALUES ({row}, {text(path)});")

items = [
    ("author", None, Buffer(empty).bytes),
    ("post", "1.0", Buffer(empty).bytes),
    ("wrapped", "1.0", Buffer(Table({4: "s", 6: ("i", 7), 14: empty, 18: ("B", LINK), 20: empty})).bytes),
]
for key, version, value in items:
    fields = {4: key, 6: "", 10: ("b", 7), 24: bytes(value)}
    if version:
        fields[8] = version
    data = Buffer(Table(fields)).bytes
    print(f"INSERT INTO dictitem_v_dflat_internal__ (__pk0, __pk1, p) VALUES ('{key}', '', x'{data.hex()}');")
