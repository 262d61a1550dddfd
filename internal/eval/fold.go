package eval

import (
	"strings"
	"unicode"
)

// fold returns s without differences of letter case: two texts are alike
// exactly when Unicode's full case folding (CaseFolding.txt, statuses C and F)
// makes them alike, so that "Straße" meets "STRASSE".
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if long := expand(r); long != "" {
			for _, r := range long {
				b.WriteRune(smallest(r))
			}
			continue
		}
		b.WriteRune(smallest(r))
	}
	return b.String()
}

// smallest returns the least of the letters that differ from r in case only.
func smallest(r rune) rune {
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	return least
}

// expand returns what a letter folds to that folds to several, and "" for all
// others: the entries of status F.
func expand(r rune) string {
	if r < 0xdf {
		return ""
	}
	switch r {
	case '\u00df', '\u1e9e':
		return "ss"
	case '\u0130':
		return "i\u0307"
	case '\u0149':
		return "\u02bcn"
	case '\u01f0':
		return "j\u030c"
	case '\u0390', '\u1fd3':
		return "\u03b9\u0308\u0301"
	case '\u03b0', '\u1fe3':
		return "\u03c5\u0308\u0301"
	case '\u0587':
		return "\u0565\u0582"
	case '\u1e96':
		return "h\u0331"
	case '\u1e97':
		return "t\u0308"
	case '\u1e98':
		return "w\u030a"
	case '\u1e99':
		return "y\u030a"
	case '\u1e9a':
		return "a\u02be"
	case '\u1f50':
		return "\u03c5\u0313"
	case '\u1f52':
		return "\u03c5\u0313\u0300"
	case '\u1f54':
		return "\u03c5\u0313\u0301"
	case '\u1f56':
		return "\u03c5\u0313\u0342"
	case '\u1f80', '\u1f88':
		return "\u1f00\u03b9"
	case '\u1f81', '\u1f89':
		return "\u1f01\u03b9"
	case '\u1f82', '\u1f8a':
		return "\u1f02\u03b9"
	case '\u1f83', '\u1f8b':
		return "\u1f03\u03b9"
	case '\u1f84', '\u1f8c':
		return "\u1f04\u03b9"
	case '\u1f85', '\u1f8d':
		return "\u1f05\u03b9"
	case '\u1f86', '\u1f8e':
		return "\u1f06\u03b9"
	case '\u1f87', '\u1f8f':
		return "\u1f07\u03b9"
	case '\u1f90', '\u1f98':
		return "\u1f20\u03b9"
	case '\u1f91', '\u1f99':
		return "\u1f21\u03b9"
	case '\u1f92', '\u1f9a':
		return "\u1f22\u03b9"
	case '\u1f93', '\u1f9b':
		return "\u1f23\u03b9"
	case '\u1f94', '\u1f9c':
		return "\u1f24\u03b9"
	case '\u1f95', '\u1f9d':
		return "\u1f25\u03b9"
	case '\u1f96', '\u1f9e':
		return "\u1f26\u03b9"
	case '\u1f97', '\u1f9f':
		return "\u1f27\u03b9"
	case '\u1fa0', '\u1fa8':
		return "\u1f60\u03b9"
	case '\u1fa1', '\u1fa9':
		return "\u1f61\u03b9"
	case '\u1fa2', '\u1faa':
		return "\u1f62\u03b9"
	case '\u1fa3', '\u1fab':
		return "\u1f63\u03b9"
	case '\u1fa4', '\u1fac':
		return "\u1f64\u03b9"
	case '\u1fa5', '\u1fad':
		return "\u1f65\u03b9"
	case '\u1fa6', '\u1fae':
		return "\u1f66\u03b9"
	case '\u1fa7', '\u1faf':
		return "\u1f67\u03b9"
	case '\u1fb2':
		return "\u1f70\u03b9"
	case '\u1fb3', '\u1fbc':
		return "\u03b1\u03b9"
	case '\u1fb4':
		return "\u03ac\u03b9"
	case '\u1fb6':
		return "\u03b1\u0342"
	case '\u1fb7':
		return "\u03b1\u0342\u03b9"
	case '\u1fc2':
		return "\u1f74\u03b9"
	case '\u1fc3', '\u1fcc':
		return "\u03b7\u03b9"
	case '\u1fc4':
		return "\u03ae\u03b9"
	case '\u1fc6':
		return "\u03b7\u0342"
	case '\u1fc7':
		return "\u03b7\u0342\u03b9"
	case '\u1fd2':
		return "\u03b9\u0308\u0300"
	case '\u1fd6':
		return "\u03b9\u0342"
	case '\u1fd7':
		return "\u03b9\u0308\u0342"
	case '\u1fe2':
		return "\u03c5\u0308\u0300"
	case '\u1fe4':
		return "\u03c1\u0313"
	case '\u1fe6':
		return "\u03c5\u0342"
	case '\u1fe7':
		return "\u03c5\u0308\u0342"
	case '\u1ff2':
		return "\u1f7c\u03b9"
	case '\u1ff3', '\u1ffc':
		return "\u03c9\u03b9"
	case '\u1ff4':
		return "\u03ce\u03b9"
	case '\u1ff6':
		return "\u03c9\u0342"
	case '\u1ff7':
		return "\u03c9\u0342\u03b9"
	case '\ufb00':
		return "ff"
	case '\ufb01':
		return "fi"
	case '\ufb02':
		return "fl"
	case '\ufb03':
		return "ffi"
	case '\ufb04':
		return "ffl"
	case '\ufb05', '\ufb06':
		return "st"
	case '\ufb13':
		return "\u0574\u0576"
	case '\ufb14':
		return "\u0574\u0565"
	case '\ufb15':
		return "\u0574\u056b"
	case '\ufb16':
		return "\u057e\u0576"
	case '\ufb17':
		return "\u0574\u056d"
	}
	return ""
}
