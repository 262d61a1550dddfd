package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/eval/pystr"
)

// treebankWords splits s into sentences, and those into words as the Penn
// Treebank does: punctuation stands alone, "don't" is do and n't, "cannot" can
// and not, and straight quotes become two backticks or two apostrophes. Letter
// case is kept.
//
// The result is that of nltk's NLTKWordTokenizer on each sentence that its
// untrained Punkt splitter finds, the control characters U+001C to U+001F
// excepted. That is nltk.word_tokenize but for the abbreviations that the
// downloadable English model knows: "Dr." is Dr and a point here.
func treebankWords(s string) []string {
	var words []string
	for _, sentence := range sentences(s) {
		for _, piece := range strings.FieldsFunc(spacedOut(sentence), pystr.IsSpace) {
			words = appendClitics(words, piece)
		}
	}
	return words
}

// spacedOut puts white space between the words and marks of a sentence. Each
// step sees the spaces of those before it, so that their order matters.
func spacedOut(s string) string {
	s = pad(s, openingQuote)
	if rest, ok := strings.CutPrefix(s, `"`); ok {
		s = "``" + rest
	}
	s = pad(s, literal("``"))
	s = openQuotes(s)
	s = freeApostrophes(s)

	s = splitFinalPoint(s)
	s = splitColons(s)
	s = pad(s, mark)
	s = splitApostrophes(s)
	s = pad(s, bracket)

	s = pad(s, closingQuote)
	s = pad(s, literal("''"))
	return strings.ReplaceAll(s, `"`, " '' ")
}

// pad puts a space on both sides of each piece of s. The function piece returns
// the length of the one that its argument begins with, or 0.
func pad(s string, piece func(string) int) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if isPlain(s[i]) {
			i++
			continue
		}
		n := piece(s[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteByte(' ')
		b.WriteString(s[i : i+n])
		b.WriteByte(' ')
		i += n
		done = i
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// isPlain reports whether c is a letter or space of ASCII, which need no look.
func isPlain(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == ' ' }

func literal(text string) func(string) int {
	return func(s string) int {
		if strings.HasPrefix(s, text) {
			return len(text)
		}
		return 0
	}
}

// leading returns the length of the first rune of s if it is one of runes.
func leading(s, runes string) int {
	if r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError && strings.ContainsRune(runes, r) {
		return size
	}
	return 0
}

// run returns the length of the run of c that s begins with.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func openingQuote(s string) int {
	if n := run(s, '`'); n > 0 {
		return n
	}
	return leading(s, "«“‘„")
}

func closingQuote(s string) int { return leading(s, "»”’") }

// mark is an ellipsis, or a mark that stands alone wherever it is; the last four
// are dashes.
func mark(s string) int {
	if n := run(s, '.'); n > 1 {
		return n
	}
	return leading(s, ";@#$%&?!\u2012\u2013\u2014\u2015")
}

func bracket(s string) int {
	if strings.HasPrefix(s, "--") {
		return 2
	}
	return leading(s, "*[](){}<>")
}

// openQuotes writes two backticks for a quote that a space or an opening bracket
// precedes, be it a straight one or two apostrophes.
func openQuotes(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i+1 < len(s); i++ {
		if !strings.ContainsRune(" ([{<", rune(s[i])) {
			continue
		}
		rest, ok := strings.CutPrefix(s[i+1:], `"`)
		if !ok {
			rest, ok = strings.CutPrefix(s[i+1:], "''")
		}
		if ok {
			b.WriteString(s[done : i+1])
			b.WriteString(" `` ")
			done = len(s) - len(rest)
			i = done - 1
		}
	}
	return b.String() + s[done:]
}

// freeApostrophes puts a space after an apostrophe that a word begins with,
// unless it is the beginning of a clitic, such as 's or 'll.
func freeApostrophes(s string) string {
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if s[i] != '\'' {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		if isTokenRune(before) || !isTokenRune(after) {
			continue
		}
		word := s[i+1:]
		if n := strings.IndexFunc(word, func(r rune) bool { return !isTokenRune(r) }); n >= 0 {
			word = word[:n]
		}
		if !isClitic(word) {
			b.WriteString(s[done : i+1])
			b.WriteByte(' ')
			done = i + 1
		}
	}
	return b.String() + s[done:]
}

// isClitic reports whether an apostrophe and word are a word of their own.
func isClitic(word string) bool {
	for _, clitic := range []string{"re", "ve", "ll", "m", "t", "s", "d", "n"} {
		if strings.EqualFold(word, clitic) {
			return true
		}
	}
	return false
}

// splitFinalPoint splits off the point that a sentence ends with. Quotes and
// brackets may follow it.
func splitFinalPoint(s string) string {
	trimmed := strings.TrimRightFunc(s, unicode.IsSpace)
	body, ok := strings.CutSuffix(strings.TrimRight(trimmed, "])}>\"'»”’ "), ".")
	if !ok || body == "" || strings.HasSuffix(body, ".") {
		return s
	}
	return body + " . " + trimmed[len(body)+1:] + " "
}

// splitColons splits off colons and commas that no digit follows. Of two in a
// row the second stays with what comes after it.
func splitColons(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		next, _ := utf8.DecodeRuneInString(s[i+1:])
		if !isColon(s[i]) || unicode.IsDigit(next) {
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(' ')
		b.WriteByte(s[i])
		b.WriteByte(' ')
		if i+2 < len(s) && isColon(s[i+1]) {
			i++
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func isColon(c byte) bool { return c == ':' || c == ',' }

// splitApostrophes puts a space before an apostrophe that a word ends with.
func splitApostrophes(s string) string {
	var b strings.Builder
	done := 0
	for i := 1; i+1 < len(s); i++ {
		if s[i] == '\'' && s[i+1] == ' ' && s[i-1] != '\'' {
			b.WriteString(s[done:i])
			b.WriteByte(' ')
			done = i
		}
	}
	return b.String() + s[done:]
}

// appendClitics appends the words of piece, which has no white space. A clitic
// at its end, such as 's, 'll or n't, is a word of its own, and so is an
// apostrophe.
func appendClitics(words []string, piece string) []string {
	piece, last := cutClitic(piece, "'s", "'S", "'m", "'M", "'d", "'D", "'")
	piece, middle := cutClitic(piece, "'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T")
	words = appendContractions(words, piece)
	for _, clitic := range []string{middle, last} {
		if clitic != "" {
			words = append(words, clitic)
		}
	}
	return words
}

// cutClitic cuts off the end of piece that is one of clitics, if something
// stands before it that is no apostrophe.
func cutClitic(piece string, clitics ...string) (rest, clitic string) {
	for _, c := range clitics {
		if rest, ok := strings.CutSuffix(piece, c); ok && rest != "" && !strings.HasSuffix(rest, "'") {
			return rest, c
		}
	}
	return piece, ""
}

// appendContractions appends the words of piece: some that are written as one
// are two, such as cannot and gonna.
func appendContractions(words []string, piece string) []string {
	done := 0
	before := ' '
	for i, r := range piece {
		if i >= done && !isWordRune(before) {
			if first, whole := contraction(piece[i:]); whole > 0 {
				if done < i {
					words = append(words, piece[done:i])
				}
				words = append(words, piece[i:i+first], piece[i+first:i+whole])
				done = i + whole
			}
		}
		before = r
	}
	if done < len(piece) {
		words = append(words, piece[done:])
	}
	return words
}

// contraction returns the length of the word that s begins with and that is
// two, and of its first part; or 0, 0.
func contraction(s string) (first, whole int) {
	for _, c := range [...]struct{ first, second string }{
		{"can", "not"}, {"d", "'ye"}, {"gim", "me"}, {"gon", "na"},
		{"got", "ta"}, {"lem", "me"}, {"more", "'n"}, {"wan", "na"},
	} {
		first, whole := len(c.first), len(c.first)+len(c.second)
		if len(s) < whole || !strings.EqualFold(s[:first], c.first) || !strings.EqualFold(s[first:whole], c.second) {
			continue
		}
		after, size := utf8.DecodeRuneInString(s[whole:])
		if size == 0 || c.first != "wan" && !isWordRune(after) {
			return first, whole
		}
	}
	return 0, 0
}
