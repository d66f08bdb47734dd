// The texts of `dflatc --help` and `dflatc help`.

enum Help {
  static let usage = """
    usage: dflatc [compile] -o DIR [--keep-json] [--access LEVEL] [-I DIR]... FILE.fbs...
           dflatc module -o DIR [--module NAME=DIR]... [--swift FILE]... FILE.fbs...
           dflatc check [--json] [-I DIR]... OLD.fbs NEW.fbs
           dflatc graphql -o DIR -S SCHEMA --entity NAME... FILE.graphql...
           dflatc help [COMMAND]
           dflatc --version
    """

  static func text(for command: String?) -> String {
    switch command {
    case "graphql":
      graphQL
    case "module":
      """
      usage: dflatc module -o DIR [--config FILE] [--module NAME=DIR]... [--swift FILE]...
                           [--access LEVEL] FILE.fbs...

      Looks at all schemas of a Swift module together. It refuses types that two of them
      declare, and writes dflat_namespaces_generated.swift into DIR, with the enums that serve
      as their namespaces.

      options:
        -o, --output DIR         where the file goes; made if it is not there
            --config FILE        takes further modules from a JSON file,
                                 {"modules": {"dir": "Name"}}, relative to the file's directory,
                                 and the access level, {"access": "internal"}
            --module NAME=DIR    a module with schemas of its own: their namespaces are declared
                                 there. Those that others depend on come first
            --swift FILE         a Swift file of the module: what it declares is not declared
                                 again
            --access LEVEL       public (default), package or internal enums
        -h, --help               print this text

      exit status: 0 if the file is right, 1 after errors in the schemas or in writing, 64 for
      a command line that makes no sense.

      """
    case "check":
      """
      usage: dflatc check [--json] [-I DIR]... [--old-include DIR]... OLD.fbs NEW.fbs

      Compares two versions of a schema, each with what it includes: can programs of the new
      one read what is stored with the old one, and the other way round? Each change is told
      with its effect and both places, as an error (something is lost or misread), a warning
      (something reads differently, or is refused) or a note (nothing stored is concerned).

      options:
        -I, --include DIR        searched for included files, after the directory of the
                                 including file; may be given several times, in order
            --old-include DIR    the same for OLD.fbs alone, which then ignores -I
            --config FILE        takes further include directories from a JSON file,
                                 {"include": ["dir"]}, relative to the file's directory
            --json               print one JSON object instead: "format" (1), "verdict"
                                 ("compatible" or "incompatible"), "old", "new" (the two
                                 files) and "changes", each with "kind", "severity"
                                 ("compatible", "caution" or "incompatible"), "subject",
                                 "message", "effect", and "old" and "new", the places, with
                                 "file", "line" and "column"
        -h, --help               print this text

      exit status: 0 if the new version is compatible, 2 if it is not, 1 if a schema cannot
      be read, 64 for a command line that makes no sense.

      """
    case "help":
      """
      usage: dflatc help [COMMAND]

      Explains a command: compile, module, check, graphql or help.

      """
    default:
      """
      dflatc writes Swift for FlatBuffers schemas, and compares versions of them (see
      'dflatc help check').

      \(usage)

      For each base.fbs it writes four files into DIR:
        base_generated.swift             enums, structs, unions and nested tables
        base_data_model_generated.swift  the entity that root_type names, and its builder
        base_mutating_generated.swift    the entity's change request
        base_query_generated.swift       the names that queries use
      Files whose text has not changed are left alone. For an input with errors nothing is
      written; the other inputs are still compiled.

      options:
        -o, --output DIR         where the files go; made if it is not there
        -I, --include DIR        searched for included files, after the directory of the
                                 including file; may be given several times, in order
            --config FILE        takes further include directories from a JSON file,
                                 {"include": ["dir"]}, relative to the file's directory,
                                 and modules, {"modules": {"dir": "Name"}}, and the access
                                 level, {"access": "internal"}, if --access is not given
            --module NAME=DIR    the schemas below DIR are compiled in the Swift module NAME,
                                 which generated code imports; they are found when included
            --beside FILE        a schema of the same module that another call compiles. With
                                 this option every type has to be in the inputs, in such a
                                 file, or in a module
            --swift FILE         a Swift file of the module: generated code says which type it
                                 means where that file has one of the same name
            --access LEVEL       the access level of what is generated: public (default),
                                 package, or internal, which is compiled in less time
            --keep-json          also write base_generated.json, which describes the schema
            --declare-namespaces also declare the enums that serve as namespaces, which
                                 otherwise you declare: namespace A.B is
                                 public enum A { public enum B {} }
        -h, --help               print this text
            --version            print the version

      exit status: 0 if everything was generated, 1 after errors in the inputs or in writing,
      64 for a command line that makes no sense.

      """
    }
  }

  private static let graphQL = """
    usage: dflatc graphql -o DIR -S SCHEMA [-S SCHEMA]... --entity NAME... [--primary-key FIELD]
                          [--primary-key TYPE=FIELD]... [--primary-key-type TYPE]
                          [--scalar NAME=TYPE]... [--client CLIENT] [--access LEVEL]
                          [--api-namespace NAME] [--import MODULE]...
                          [--evolve[=DIR]] [--config FILE] [--incremental]
                          [--fragments] [--files N | --schemas-only]
                          [--check | --locked[=COMMAND]] FILE.graphql...

    Writes a FlatBuffers schema for each entity: a type of a GraphQL schema, with the fields
    that the operations in the files select. 'dflatc compile' makes Swift of it.

      NAME_generated.fbs              the schema
      NAME_fields_generated.swift     conditions on fields that all types of an interface have
      OPERATION_generated.swift       an operation with its variables and data, which can be
                                      stored, for --client dflat
      FRAGMENT_generated.swift        the fields of a fragment, with --fragments
      GraphQLTypes_generated.swift    what these have in common
      NAME_inits_generated.swift      initialisers of whole objects, from the structures of
                                      operations or from Apollo's classes, if an operation
                                      reaches the entity

    options:
      -o, --output DIR         where the files go; made if it is not there
      -S, --schema FILE        the GraphQL schema, as text or as the JSON of an introspection
                               query; several files make one schema
          --entity NAME        an object type, interface or union to store; may be given
                               several times: entities refer to each other by key
          --primary-key FIELD  the field that identifies an object; without it entities are
                               plain values. Several fields are sku,region; a field of an
                               object inside is sys.id; __typename,id keeps the types of an
                               interface or union apart
          --primary-key TYPE=FIELD
                               the field that identifies an object of one type, or of the types
                               of one interface or union; may be given for several
          --primary-key-type TYPE
                               the type of a key that the entity does not have as a field:
                               Bool, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64,
                               UInt64, Float, Double or String (default)
          --scalar NAME=TYPE   the stored type of a custom scalar, which is string otherwise; or,
                               for --client dflat, a Swift type such as Date, which is stored
                               as text, or both: long:Date is a number, and Date in Swift. For
                               an enum, string or string:ENUM: an unknown value keeps its text
          --client CLIENT      dflat (default), apollo for the classes of Apollo iOS 1.x, or
                               apollo-classic for those of earlier ones
          --access LEVEL       the access level of the Swift: public (default), package or
                               internal
          --api-namespace NAME the enum or module that has Apollo's classes
          --import MODULE      a module that the initialisers import
          --evolve[=DIR]       keep what is stored: read the earlier schema in DIR, or in the
                               output folder, keep its slots and version, and append what is
                               new. Only an incompatible change gives a new version
          --hash-versions      a new version with each change of the selected fields (default);
                               references are strings, whatever the type of the key
          --config FILE        takes what is not given here from a JSON file, {"graphql":
                               {"schema": "FILE", "entities": ["NAME"], "primaryKey": "FIELD",
                               "primaryKeys": {"TYPE": "FIELD", "TYPE": ["FIELD", "FIELD"]},
                               "primaryKeyType": "TYPE",
                               "scalars": {"NAME": "TYPE", "NAME": {"type": "long", "swift": "Date"}},
                               "client": "CLIENT", "apiNamespace": "NAME", "imports": ["MODULE"],
                               "incremental": true, "fragments": true, "evolve": false}}; paths
                               are relative to the file, and evolving from the schemas in its
                               folder is the rule there. The access level stands beside it, {"access":
                               "internal", "graphql": …}
          --incremental        send @defer and @stream to the server, which answers in parts;
                               what is deferred is optional
          --fragments          a structure for each fragment, and a property with it in all
                               structures that spread it, for views that several operations
                               feed
          --files N            all Swift in N files: graphql_generated.swift, and
                               graphql_2_generated.swift and so on
          --single-file        the same as --files 1
          --schemas-only       no Swift
          --check              write nothing, and fail if what is there differs from what would
                               be written: the schemas in the folder that they evolve from,
                               and, if -o is given, all files in DIR, which are to be no more
                               than those
          --locked[=COMMAND]   fail if there is a schema in the folder that the entity evolves
                               from, and it is out of date. The message names the command
      -h, --help               print this text

    exit status: 0 if everything was generated, or is there with --check; 1 after errors in the
    inputs or in writing, or if something is out of date; 64 for a command line that makes no
    sense.

    """
}
