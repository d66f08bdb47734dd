// The schemas as flatc reads them, and a C++ program that verifies their buffers and prints the
// values it reads.
//
// The program uses only the accessors and `Verify` functions that flatc generates. Values have the
// form of ReadValues.swift.

@testable import Dflat

enum CxxSource {
  static var schema: String {
    let layouts = JudgedSchemas.self
    var lines = [
      "enum Color : byte { Red, Green, Blue }"
    ]
    for layout in layouts.structs {
      let fields = layout.properties.map { "\($0.name): \(type($0.kind));" }
      lines.append("struct \(layout.name) { \(fields.joined(separator: " ")) }")
    }
    let members = layouts.pet.members.map { member in
      let alias = if case .string = member.kind { ": string" } else { "" }
      return "\(member.name)\(alias) = \(member.tag)"
    }
    lines.append("union Pet { \(members.joined(separator: ", ")) }")
    for layout in layouts.tables {
      lines.append("table \(layout.name) {\n\(fields(of: layout).joined(separator: "\n"))\n}")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One field for each slot. Slots that the layout does not know are deprecated fields.
  private static func fields(of layout: TableLayout) -> [String] {
    var fields: [String] = []
    var next = 4
    for property in layout.properties.sorted(by: { $0.offset < $1.offset }) {
      let slots = hasTag(property.kind) ? 4 : 2
      while next < property.offset + 2 - slots {
        fields.append("  gone_\(next): int (deprecated);")
        next += 2
      }
      let attribute = property.isRequired ? " (required)" : ""
      fields.append(
        "  \(property.name): \(type(property.kind))\(standard(property.kind))\(attribute);")
      next = property.offset + 2
    }
    while next < 4 + 2 * layout.slotCount {
      fields.append("  gone_\(next): int (deprecated);")
      next += 2
    }
    return fields
  }

  private static func hasTag(_ kind: Property.Kind) -> Bool {
    switch kind {
    case .union, .vector(.union): true
    default: false
    }
  }

  private static func type(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(let type, _): name(type)
    case .enumeration(let layout, _): layout().name
    case .string: "string"
    case .structure(let layout): layout().name
    case .table(let layout): layout().name
    case .union(let layout): layout().name
    case .vector(let element): "[\(type(element))]"
    case .array(let element, let count): "[\(type(element)):\(count)]"
    }
  }

  private static func name(_ type: ValueType) -> String {
    switch type {
    case .bool: "bool"
    case .int8: "byte"
    case .uint8: "ubyte"
    case .int16: "short"
    case .uint16: "ushort"
    case .int32: "int"
    case .uint32: "uint"
    case .int64: "long"
    case .uint64: "ulong"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    }
  }

  private static func standard(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(_, nil), .enumeration(_, nil): " = null"
    case .scalar(_, .bool(let value)?): " = \(value)"
    case .scalar(_, .integer(let value)?): " = \(value)"
    case .scalar(_, .unsigned(let value)?): " = \(value)"
    case .scalar(_, .real(let value)?): " = \(value)"
    case .enumeration(let layout, let value?): " = \(layout().values[Int(value)].name)"
    default: ""
    }
  }

  // MARK: The program

  static var program: String {
    let layouts = JudgedSchemas.self
    var lines = [prologue]
    for layout in layouts.structs {
      lines.append("static void put(Output &o, const \(layout.name) &s) {")
      lines += layout.properties.map { "  put(o, s.\($0.name)());" } + ["}"]
    }
    for layout in layouts.tables {
      lines.append("static void put(Output &o, const \(layout.name) *t);")
    }
    lines.append("static void put(Output &o, Pet tag, const void *value) {")
    lines.append("  if (!value) return o.byte(0);\n  switch (tag) {")
    for member in layouts.pet.members {
      let type =
        switch member.kind {
        case .string: "flatbuffers::String"
        default: member.name
        }
      let pointer = "reinterpret_cast<const \(type) *>(value)"
      let value = if case .structure = member.kind { "*" + pointer } else { pointer }
      lines.append("    case Pet_\(member.name): o.byte(\(member.tag)); put(o, \(value)); break;")
    }
    lines.append("    default: o.byte(0);\n  }\n}")
    lines.append(vectors)
    for layout in layouts.tables {
      lines.append("static void put(Output &o, const \(layout.name) *t) {")
      lines.append("  if (!present(o, t)) return;")
      lines += layout.properties.map { property in
        switch property.kind {
        case .union: "  put(o, t->\(property.name)_type(), t->\(property.name)());"
        case .vector(.union): "  putUnions(o, t->\(property.name)_type(), t->\(property.name)());"
        case .vector(.scalar(.bool, _)): "  putBools(o, t->\(property.name)());"
        case .structure: "  putStruct(o, t->\(property.name)());"
        default: "  put(o, t->\(property.name)());"
        }
      }
      lines.append("}")
    }
    lines.append(
      "extern \"C\" int32_t judge_verify(int32_t root, const uint8_t *bytes, size_t count, int32_t aligned) {"
    )
    lines.append(
      "  flatbuffers::Verifier verifier(bytes, count, 64, 1000000, aligned != 0);\n  switch (root) {"
    )
    for (number, root) in layouts.roots.enumerated() {
      lines.append("    case \(number): return verifier.VerifyBuffer<\(root.name)>(nullptr);")
    }
    lines.append("    default: abort();\n  }\n}")
    lines.append(
      "extern \"C\" size_t judge_read(int32_t root, const uint8_t *bytes, uint8_t *start, size_t room) {"
    )
    lines.append("  Output o{start, start, start + room};\n  switch (root) {")
    for (number, root) in layouts.roots.enumerated() {
      lines.append("    case \(number): put(o, flatbuffers::GetRoot<\(root.name)>(bytes)); break;")
    }
    lines.append("    default: abort();\n  }\n  return o.next - o.start;\n}")
    return lines.joined(separator: "\n") + "\n"
  }

  private static let prologue = """
    #include "judged_generated.h"
    #include <cstdlib>
    #include <cstring>
    #include <type_traits>

    // Output that does not fit is left out; `next` counts one more byte to show this.
    struct Output {
      uint8_t *start, *next, *end;
      bool isFull() const { return next >= end; }
      void bytes(const void *source, size_t count) {
        if (count > size_t(end - next)) { next = end; return; }
        if (count) memcpy(next, source, count);
        next += count;
      }
      void byte(uint8_t value) { bytes(&value, 1); }
      void size(uint32_t value) { bytes(&value, 4); }
    };

    template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
    static void put(Output &o, T value) { o.bytes(&value, sizeof value); }
    static void put(Output &o, bool value) { o.byte(value ? 1 : 0); }
    static void put(Output &o, float value) {
      uint32_t bits = 0x7FC00000;
      if (value == value) memcpy(&bits, &value, sizeof bits);
      put(o, bits);
    }
    static void put(Output &o, double value) {
      uint64_t bits = 0x7FF8000000000000;
      if (value == value) memcpy(&bits, &value, sizeof bits);
      put(o, bits);
    }
    static void put(Output &o, Color value) {
      int8_t raw = value;
      o.byte(uint8_t(raw >= 0 && raw <= 2 ? raw : 1));
    }
    template <typename T> static void put(Output &o, flatbuffers::Optional<T> value) {
      o.byte(value ? 1 : 0);
      if (value) put(o, *value);
    }
    static bool present(Output &o, const void *value) {
      if (o.isFull()) return false;
      o.byte(value ? 1 : 0);
      return value != nullptr;
    }
    static void put(Output &o, const flatbuffers::String *value) {
      if (!present(o, value)) return;
      o.size(value->size());
      o.bytes(value->Data(), value->size());
    }
    template <typename T, uint16_t n> static void put(Output &o, const flatbuffers::Array<T, n> *value) {
      for (uint16_t i = 0; i < n; i++) put(o, value->Get(i));
    }
    """

  private static let vectors = """
    template <typename S> static void putStruct(Output &o, const S *value) {
      if (present(o, value)) put(o, *value);
    }
    template <typename T> static void putElement(Output &o, T value) { put(o, value); }
    static void putElement(Output &o, const Point *value) { put(o, *value); }
    template <typename T> static void put(Output &o, const flatbuffers::Vector<T> *vector) {
      o.size(vector ? vector->size() : 0);
      if (vector) for (uint32_t i = 0; i < vector->size() && !o.isFull(); i++) putElement(o, vector->Get(i));
    }
    static void put(Output &o, const flatbuffers::Vector<uint8_t> *vector) {
      o.size(vector ? vector->size() : 0);
      if (vector) o.bytes(vector->Data(), vector->size());
    }
    static void putBools(Output &o, const flatbuffers::Vector<uint8_t> *vector) {
      o.size(vector ? vector->size() : 0);
      if (vector) for (uint32_t i = 0; i < vector->size() && !o.isFull(); i++) put(o, vector->Get(i) != 0);
    }
    static void putUnions(
        Output &o, const flatbuffers::Vector<uint8_t> *tags,
        const flatbuffers::Vector<flatbuffers::Offset<void>> *values) {
      o.size(tags ? tags->size() : 0);
      if (tags) for (uint32_t i = 0; i < tags->size() && !o.isFull(); i++) {
        put(o, Pet(tags->Get(i)), values->Get(i));
      }
    }
    """
}
