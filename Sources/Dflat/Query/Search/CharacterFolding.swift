// The folding of characters for the tokenizers that a full-text table is given the tokens of: case,
// accents and width.
//
//  - A character comes with the accents behind it, which do not count: "é" is "e", whether it is
//    one character or two. A letter with several accents is the letter without any.
//  - A character of full or half width is the one of usual width: "ｆ" is "f", and "ｶﾞ" is "ガ".
//  - A kana with a voiced sound mark behind it is the character of both.
//
// So canonically equivalent texts in Latin, Greek, Cyrillic and kana are the same. Like those of
// `WordCharacters` the tables never change: an index that was built with them must keep its meaning
// permanently.

enum CharacterFolding {
  /// The folded forms of characters up to `end`; 0 for accents.
  private static let forms: [UInt16] = {
    var forms = (0..<end).map { UInt16(SearchFolding.shared.lowercase($0)) }
    for group in accented {
      for letter in group.letters.unicodeScalars {
        forms[Int(letter.value)] = UInt16(group.plain.value)
      }
    }
    return forms.enumerated().map { code, lowercase in
      isAccent(UInt32(code)) ? 0 : lowercase < end ? forms[Int(lowercase)] : lowercase
    }
  }()
  /// No folded letter without an accent is beyond it.
  private static let end: UInt32 = 0x2000

  /// The folded character at a position, which moves behind it and its accents.
  /// - Returns: 0 for a NUL, and for an accent that has no character before it.
  @inline(__always)
  static func character(in text: UnsafeRawBufferPointer, at position: inout Int) -> UInt32 {
    var code = UInt32(text[position])
    if code < 0x80 {
      position &+= 1
      code = code &- 0x41 < 26 ? code | 0x20 : code
    } else {
      code = letter(in: text, at: &position)
    }
    skipAccents(in: text, from: &position)
    return code
  }

  /// Moves a position behind the accents there.
  @inline(__always)
  static func skipAccents(in text: UnsafeRawBufferPointer, from position: inout Int) {
    // Their first byte is one of two.
    while position < text.count, text[position] & 0xFE == 0xCC {
      var next = position
      if !isAccent(SearchFolding.character(in: text, at: &next)) { return }
      position = next
    }
  }

  @inline(never)
  private static func letter(in text: UnsafeRawBufferPointer, at position: inout Int) -> UInt32 {
    let code = SearchFolding.character(in: text, at: &position)
    if code < end { return UInt32(forms[Int(code)]) }
    // Most are ideographs.
    if code >= 0x3400, code < 0xFF00 {
      return code &- 0xA640 < 0x200 ? SearchFolding.shared.lowercase(code) : code
    }
    if code < 0x3000 {
      let lowercase = SearchFolding.shared.lowercase(code)
      return lowercase < end ? UInt32(forms[Int(lowercase)]) : lowercase
    }
    if code > 0xFFFF { return SearchFolding.shared.lowercase(code) }
    let usual = code == 0x3000 || code >= 0xFF00 ? usualWidth(code) : code
    if usual < end { return UInt32(forms[Int(usual)]) }
    guard usual >= 0x3046, usual <= 0x30FD, position < text.count, text[position] >= 0xE3 else {
      return usual
    }
    var next = position
    let mark = usualWidth(SearchFolding.character(in: text, at: &next))
    guard mark == voiced || mark == semivoiced, let both = kana(usual, with: mark) else {
      return usual
    }
    position = next
    return both
  }

  /// Whether a character is an accent. Those that strike through signs are none.
  @inline(__always)
  private static func isAccent(_ code: UInt32) -> Bool {
    code &- 0x300 < 0x70 && code &- 0x334 >= 5
  }

  /// Whether a character is one of Chinese, Japanese or Korean, of which each is a word.
  @inline(__always)
  static func isIdeograph(_ code: UInt32) -> Bool { code >= 0x3005 && isInScript(code) }

  private static func isInScript(_ code: UInt32) -> Bool {
    switch code {
    case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C, 0x3041...0x3096,
      0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x3105...0x312F, 0x3131...0x318E,
      0x31A0...0x31BF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
      true
    default: false
    }
  }

  // MARK: Width

  /// The character of usual width.
  private static func usualWidth(_ code: UInt32) -> UInt32 {
    switch code {
    case 0x3000: 0x20
    case 0xFF01...0xFF5E: code - 0xFEE0
    case 0xFF5F, 0xFF60: code - 0xFF5F + 0x2985
    case 0xFF61...0xFF9F: halfwidthKana[Int(code - 0xFF61)]
    case 0xFFA0: 0x3164
    case 0xFFA1...0xFFBE: code - 0xFFA1 + 0x3131
    case 0xFFC2...0xFFC7: code - 0xFFC2 + 0x314F
    case 0xFFCA...0xFFCF: code - 0xFFCA + 0x3155
    case 0xFFD2...0xFFD7: code - 0xFFD2 + 0x315B
    case 0xFFDA...0xFFDC: code - 0xFFDA + 0x3161
    case 0xFFE0...0xFFE6: signs[Int(code - 0xFFE0)]
    case 0xFFE8...0xFFEE: signs[Int(code - 0xFFE1)]
    default: code
    }
  }

  private static let halfwidthKana: [UInt32] = Array(
    ("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホ"
      + "マミムメモヤユヨラリルレロワン\u{3099}\u{309A}").unicodeScalars.map(\.value))
  private static let signs: [UInt32] = Array("¢£¬¯¦¥₩│←↑→↓■○".unicodeScalars.map(\.value))

  // MARK: Kana

  private static let voiced: UInt32 = 0x3099
  private static let semivoiced: UInt32 = 0x309A

  /// The character of a kana and a sound mark; nil if there is none.
  private static func kana(_ code: UInt32, with mark: UInt32) -> UInt32? {
    // The katakana follow the hiragana, in the same order.
    let hiragana = code > 0x30A0 ? code - 0x60 : code
    switch hiragana {
    case 0x306F, 0x3072, 0x3075, 0x3078, 0x307B: return code + (mark == voiced ? 1 : 2)
    case _ where mark == semivoiced: return nil
    case 0x304B...0x3061 where hiragana & 1 == 1: return code + 1
    case 0x3064, 0x3066, 0x3068, 0x309D: return code + 1
    case 0x3046: return code + 0x4E
    case 0x308F...0x3092 where code > 0x30A0: return code + 8
    default: return nil
    }
  }

  // MARK: Accents

  /// Letters with accents, by the letter without any, as Unicode 14 decomposes them.
  private static let accented: [(plain: Unicode.Scalar, letters: String)] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįİǐȉȋḭḯỉị"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľḷḹḻḽ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšșṡṣṥṧṩ"),
    ("t", "ţťțṫṭṯṱẗ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("æ", "ǣǽ"),
    ("ø", "ǿ"),
    ("ʒ", "ǯ"),
    ("α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"),
    ("ε", "έἐἑἒἓἔἕὲέ"),
    ("η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("ι", "ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ"),
    ("ο", "όὀὁὂὃὄὅὸό"),
    ("ρ", "ῤῥ"),
    ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"),
    ("ϒ", "ϓϔ"),
    ("а", "ӑӓ"),
    ("г", "ѓ"),
    ("е", "ѐёӗ"),
    ("ж", "ӂӝ"),
    ("з", "ӟ"),
    ("и", "йѝӣӥ"),
    ("к", "ќ"),
    ("о", "ӧ"),
    ("у", "ўӯӱӳ"),
    ("ч", "ӵ"),
    ("ы", "ӹ"),
    ("э", "ӭ"),
    ("і", "ї"),
    ("ѵ", "ѷ"),
    ("ә", "ӛ"),
    ("ө", "ӫ"),
  ]
}
