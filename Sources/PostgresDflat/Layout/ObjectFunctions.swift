// Functions on the server that read fields of objects, for plain SQL.
//
//   _dflat_field(p, field, types)  the value of a field of the object `p`, as JSON; NULL if it is
//                                  absent and has no default
//
// What they need to know of a schema is JSON, made by `ObjectView`:
//
//   a field  [name, offset, kind, default]
//   types    the fields of tables and structs that fields refer to, by a name
//   a kind   ["i", size], ["u", size]  a signed or unsigned integer
//            ["b"]                     a Boolean
//            ["r", size]               a float or double
//            ["e", kind, names, bool]  an enum, by its numbers; whether they are combined
//            ["s"]                     a string
//            ["t", type]               a table
//            ["c", type]               a struct in place
//            ["p", type]               a struct elsewhere, as in unions
//            ["n", members]            a union, with [name, kind] by its tags
//            ["v", kind, stride]       a vector
//            ["w", members]            a vector of unions
//            ["a", kind, count, stride] an array
//
// A damaged object is an error of the server. JSON has no NUL: it becomes the symbol for it.

struct ObjectFunctions {
  /// The PostgreSQL schema of all tables, quoted.
  let schema: String

  /// The statements that create the functions, or replace those of an older version.
  var create: [String] {
    [number, offset, place, value, fields, fieldIn, field].map {
      "CREATE OR REPLACE FUNCTION \($0)".replacing("@", with: schema)
    }
  }

  private static let properties = "LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE"

  /// An unsigned integer; the bits of one with 64 bits.
  private let number = """
    @._dflat_number(p bytea, at int, size int) RETURNS bigint \(properties) AS $dflat$
    DECLARE number bigint := 0;
    BEGIN
      FOR i IN REVERSE size - 1 .. 0 LOOP number := (number << 8) | get_byte(p, at + i); END LOOP;
      RETURN number;
    END $dflat$
    """

  /// The place that is found at a place: the offset there is relative to it.
  private let offset = """
    @._dflat_offset(p bytea, at int) RETURNS int \(properties) AS $dflat$
    BEGIN RETURN at + @._dflat_number(p, at, 4)::int; END $dflat$
    """

  /// The place of a table's field; NULL if it is absent.
  private let place = """
    @._dflat_place(p bytea, tab int, slot int) RETURNS int \(properties) AS $dflat$
    DECLARE
      distance bigint := @._dflat_number(p, tab, 4);
      vtable int;
      at int;
    BEGIN
      IF distance >= 2147483648 THEN distance := distance - 4294967296; END IF;
      vtable := tab - distance;
      IF slot + 2 > @._dflat_number(p, vtable, 2) THEN RETURN NULL; END IF;
      at := @._dflat_number(p, vtable + slot, 2);
      RETURN CASE WHEN at = 0 THEN NULL ELSE tab + at END;
    END $dflat$
    """

  /// The value at a place.
  private let value = """
    @._dflat_value(p bytea, at int, kind jsonb, types jsonb) RETURNS jsonb \(properties) AS $dflat$
    DECLARE
      number bigint;
      size int := 1;
      items jsonb[] := '{}';
      bytes bytea;
      name text;
      exponent int;
      digits bigint;
      result float8;
    BEGIN
      CASE kind ->> 0
      WHEN 'b' THEN RETURN to_jsonb(get_byte(p, at) <> 0);
      WHEN 'i', 'u' THEN
        size := (kind ->> 1)::int;
        number := @._dflat_number(p, at, size);
        IF kind ->> 0 = 'u' THEN
          RETURN to_jsonb(number + CASE WHEN number < 0 THEN 18446744073709551616 ELSE 0 END);
        END IF;
        IF size < 8 AND number >= 1::bigint << (8 * size - 1) THEN
          number := number - (1::bigint << (8 * size));
        END IF;
        RETURN to_jsonb(number);
      WHEN 'r' THEN
        size := (kind ->> 1)::int;
        number := @._dflat_number(p, at, size);
        exponent := CASE size WHEN 4 THEN number >> 23 & 255 ELSE number >> 52 & 2047 END;
        digits := number & CASE size WHEN 4 THEN 8388607 ELSE 4503599627370495 END;
        IF exponent = (CASE size WHEN 4 THEN 255 ELSE 2047 END) THEN
          result := CASE WHEN digits = 0 THEN 'Infinity'::float8 ELSE 'NaN' END;
        ELSE
          IF exponent = 0 THEN exponent := 1;
          ELSE digits := digits + CASE size WHEN 4 THEN 8388608 ELSE 4503599627370496 END;
          END IF;
          result := digits * power(2::float8, exponent - CASE size WHEN 4 THEN 150 ELSE 1075 END);
        END IF;
        IF number >> (8 * size - 1) & 1 = 1 THEN result := -result; END IF;
        RETURN to_jsonb(result);
      WHEN 'e' THEN
        number := (@._dflat_value(p, at, kind -> 1, types) #>> '{}')::numeric
          - CASE WHEN kind -> 1 = '["u", 8]' AND get_byte(p, at + 7) > 127
            THEN 18446744073709551616 ELSE 0 END;
        name := kind -> 2 ->> number::text;
        IF name IS NULL AND (kind -> 3)::bool THEN
          SELECT string_agg(names.value, ' ' ORDER BY names.key::bigint) INTO name
          FROM jsonb_each_text(kind -> 2) AS names WHERE names.key::bigint & number <> 0;
        END IF;
        RETURN to_jsonb(coalesce(name, number::text));
      WHEN 's' THEN
        at := @._dflat_offset(p, at);
        bytes := substring(p FROM at + 5 FOR @._dflat_number(p, at, 4)::int);
        IF position(decode('00', 'hex') IN bytes) > 0 THEN
          bytes := decode(replace(regexp_replace(
            encode(bytes, 'hex'), '(..)', E'\\\\1 ', 'g'), '00 ', 'e29080 '), 'hex');
        END IF;
        RETURN to_jsonb(convert_from(bytes, 'UTF8'));
      WHEN 't' THEN
        RETURN @._dflat_fields(p, @._dflat_offset(p, at), true, types -> (kind ->> 1), types);
      WHEN 'c' THEN RETURN @._dflat_fields(p, at, false, types -> (kind ->> 1), types);
      WHEN 'p' THEN
        RETURN @._dflat_fields(p, @._dflat_offset(p, at), false, types -> (kind ->> 1), types);
      WHEN 'v' THEN
        at := @._dflat_offset(p, at);
        size := (kind ->> 2)::int;
        FOR i IN 0 .. @._dflat_number(p, at, 4)::int - 1 LOOP
          items := items || @._dflat_value(p, at + 4 + i * size, kind -> 1, types);
        END LOOP;
        RETURN to_jsonb(items);
      WHEN 'a' THEN
        size := (kind ->> 3)::int;
        FOR i IN 0 .. (kind ->> 2)::int - 1 LOOP
          items := items || @._dflat_value(p, at + i * size, kind -> 1, types);
        END LOOP;
        RETURN to_jsonb(items);
      END CASE;
    END $dflat$
    """

  /// All fields of a table or struct that are present or have a default.
  private let fields = """
    @._dflat_fields(p bytea, at int, is_table bool, fields jsonb, types jsonb) \
    RETURNS jsonb \(properties) AS $dflat$
    DECLARE
      field jsonb;
      value jsonb;
      object jsonb := '{}';
    BEGIN
      FOR field IN SELECT jsonb_array_elements(fields) LOOP
        value := CASE WHEN is_table THEN @._dflat_field_in(p, at, field, types)
          ELSE @._dflat_value(p, at + (field ->> 1)::int, field -> 2, types) END;
        IF value IS NOT NULL THEN
          object := object || jsonb_build_object(field ->> 0, value);
        END IF;
      END LOOP;
      RETURN object;
    END $dflat$
    """

  /// A field of a table.
  private let fieldIn = """
    @._dflat_field_in(p bytea, tab int, field jsonb, types jsonb) RETURNS jsonb \(properties) AS $dflat$
    DECLARE
      kind jsonb := field -> 2;
      at int := @._dflat_place(p, tab, (field ->> 1)::int);
      tags int;
      member jsonb;
      items jsonb[] := '{}';
    BEGIN
      IF at IS NULL THEN RETURN nullif(field -> 3, 'null'); END IF;
      IF kind ->> 0 NOT IN ('n', 'w') THEN RETURN @._dflat_value(p, at, kind, types); END IF;
      tags := @._dflat_place(p, tab, (field ->> 1)::int - 2);
      IF tags IS NULL THEN RETURN NULL; END IF;
      IF kind ->> 0 = 'n' THEN
        member := kind -> 1 -> get_byte(p, tags)::text;
        RETURN CASE WHEN member IS NULL THEN NULL ELSE jsonb_build_object(
          'type', member ->> 0, 'value', @._dflat_value(p, at, member -> 1, types)) END;
      END IF;
      tags := @._dflat_offset(p, tags);
      at := @._dflat_offset(p, at);
      FOR i IN 0 .. @._dflat_number(p, at, 4)::int - 1 LOOP
        member := kind -> 1 -> get_byte(p, tags + 4 + i)::text;
        items := items || CASE WHEN member IS NULL THEN 'null' ELSE jsonb_build_object(
          'type', member ->> 0,
          'value', @._dflat_value(p, at + 4 + 4 * i, member -> 1, types)) END;
      END LOOP;
      RETURN to_jsonb(items);
    END $dflat$
    """

  private let field = """
    @._dflat_field(p bytea, field jsonb, types jsonb) RETURNS jsonb \(properties) AS $dflat$
    BEGIN RETURN @._dflat_field_in(p, @._dflat_number(p, 0, 4)::int, field, types); END $dflat$
    """
}
