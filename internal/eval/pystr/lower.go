package pystr

import (
	"strings"
	"unicode"
)

// Lower returns s in lower case by Unicode's full, language-independent rules,
// as Python's str.lower does. Beyond [strings.ToLower], İ becomes i with a
// combining dot, and Σ at the end of a word becomes ς.
//
// Source: The Unicode Standard, section 3.13, and SpecialCasing.txt.
func Lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && endsWord(s[:i], s[i+len("Σ"):]):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord is the condition Final_Sigma of a letter that stands between before
// and after.
func endsWord(before, after string) bool {
	last := strings.LastIndexFunc(before, caseRelevant)
	next := strings.IndexFunc(after, caseRelevant)
	return last >= 0 && firstIsCased(before[last:]) && (next < 0 || !firstIsCased(after[next:]))
}

func firstIsCased(s string) bool {
	for _, r := range s {
		return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
	}
	return false
}

// caseRelevant is the opposite of Unicode's property Case_Ignorable.
func caseRelevant(r rune) bool {
	return !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) &&
		!strings.ContainsRune("'.:··՟״‘’․‧︓﹒﹕＇．：", r)
}
