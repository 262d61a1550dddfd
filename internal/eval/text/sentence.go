package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences splits s as the Punkt algorithm does that has not been trained and
// so knows no abbreviations: a word with a point, and any "?" or "!", ends a
// sentence if white space or a closing mark follows. An ellipsis does not, nor
// does an initial (J. Smith) or a number (3. edition) when what follows reads
// on. Closing quotes and brackets go with the sentence they close.
//
// Source: Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary
// Detection", Computational Linguistics 32 (2006). The result is that of nltk's
// PunktSentenceTokenizer().
func sentences(s string) []string {
	type span struct{ start, end int }
	var spans []span
	start := 0
	for _, c := range candidates(s) {
		if c.endsSentence(s) {
			spans = append(spans, span{start, c.mark + 1})
			start = c.next
		}
	}
	if end := len(strings.TrimRightFunc(s, unicode.IsSpace)); start < end {
		spans = append(spans, span{start, end})
	}

	var out []string
	moved := 0 // how much of the span the sentence before has taken
	for i, p := range spans {
		p.start += moved
		moved = 0
		if i+1 < len(spans) {
			var closing int
			next := s[spans[i+1].start:spans[i+1].end]
			if closing, moved = closingMarks(next); closing > 0 {
				p.end = spans[i+1].start + closing
			}
		}
		if p.start < p.end {
			out = append(out, s[p.start:p.end])
		}
	}
	return out
}

// candidate is a mark that may end a sentence, as byte offsets in a text.
type candidate struct {
	word    int // the start of the word that the mark ends
	mark    int // ".", "?" or "!"
	context int // the end of what decides: the word or mark that follows
	next    int // the start of the next sentence if this ends one
}

// candidates returns the marks of s that a closing mark, or white space and
// then something else, follows; of several in one word, the last.
func candidates(s string) []candidate {
	var out []candidate
	var last candidate
	found := false
	for i := range len(s) {
		if !isEndMark(s[i]) {
			continue
		}
		c := candidate{word: last.word, mark: i}
		after, size := utf8.DecodeRuneInString(s[i+1:])
		switch {
		case isBreakRune(after):
			c.next, c.context = i+1, i+1+size
		case unicode.IsSpace(after):
			rest := strings.TrimLeftFunc(s[i+1:], unicode.IsSpace)
			if rest == "" {
				continue
			}
			c.next, c.context = len(s)-len(rest), len(s)
			if n := strings.IndexFunc(rest, unicode.IsSpace); n >= 0 {
				c.context = c.next + n
			}
		default:
			continue
		}
		if n := strings.LastIndexAny(s[last.mark:i], " \t\n\r\v\f"); n > 0 {
			c.word = last.mark + n + 1
		}
		if found && c.word >= last.mark {
			out = append(out, last)
		}
		last, found = c, true
	}
	if found {
		out = append(out, last)
	}
	return out
}

// endsSentence decides about c, a candidate of s.
func (c candidate) endsSentence(s string) bool {
	var before string
	for token := range punktTokens(s[c.word:c.context]) {
		if before != "" && isSentenceEnd(before, token) {
			return true
		}
		before = token
	}
	return false
}

// isSentenceEnd reports whether a sentence ends between two adjacent tokens.
func isSentenceEnd(token, next string) bool {
	if token == "." || token == "?" || token == "!" {
		return true
	}
	if !strings.HasSuffix(token, ".") || strings.HasSuffix(token, "..") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next)
	readsOn := unicode.IsLower(first) || len(next) == 1 && strings.Contains(";:,.!?", next)
	switch {
	case isInitial(token):
		return !readsOn && !unicode.IsUpper(first)
	case isPunktNumber(token):
		return !readsOn
	}
	return true
}

// isInitial reports whether token is a letter and a point.
func isInitial(token string) bool {
	r, size := utf8.DecodeRuneInString(token)
	return size+1 == len(token) && isTokenRune(r) && !unicode.IsDigit(r)
}

// isPunktNumber reports whether token is digits, points, commas and hyphens.
func isPunktNumber(token string) bool {
	token = strings.TrimPrefix(token, "-")
	if strings.HasPrefix(token, ".") || strings.HasPrefix(token, ",") {
		token = token[1:]
	}
	first, _ := utf8.DecodeRuneInString(token)
	return unicode.IsDigit(first) && strings.IndexFunc(token, func(r rune) bool {
		return !unicode.IsDigit(r) && r != ',' && r != '.' && r != '-'
	}) < 0
}

// punktTokens yields words with the points that belong to them, and marks.
func punktTokens(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			r, size := utf8.DecodeRuneInString(s)
			if unicode.IsSpace(r) {
				s = s[size:]
				continue
			}
			n := multiMark(s)
			if n == 0 {
				n = size
				if !strings.ContainsRune("(\"`{[:;&#*@)}]-,", r) {
					for n < len(s) && !endsToken(s[n:]) {
						_, size := utf8.DecodeRuneInString(s[n:])
						n += size
					}
				}
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// endsToken reports whether a word cannot go on with s, which is not empty. A
// comma ends a word only where the word could end without it: 10,000 is one.
func endsToken(s string) bool {
	if rest, ok := strings.CutPrefix(s, ","); ok {
		if rest == "" {
			return true
		}
		s = rest
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r) || isBreakRune(r) || multiMark(s) > 0
}

// multiMark returns the length of the dash of hyphens or the ellipsis that s
// begins with, or 0. An ellipsis is two points or more, or three or more with
// white space between them.
func multiMark(s string) int {
	if n := max(run(s, '-'), run(s, '.')); n >= 2 {
		return n
	}
	points, length := 0, 0
	for rest := s; strings.HasPrefix(rest, "."); {
		points++
		length = len(s) - len(rest) + 1
		r, size := utf8.DecodeRuneInString(rest[1:])
		if r == '\n' || !unicode.IsSpace(r) {
			break
		}
		rest = rest[1+size:]
	}
	if points < 3 {
		return 0
	}
	return length
}

// closingMarks returns the length of the closing quotes and brackets that s
// begins with, alone and with the white space after them. They count only
// before white space, a dash or the end of s; else both lengths are 0.
func closingMarks(s string) (marks, withSpace int) {
	n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("\"')]}‘’“”«»", r) })
	if n < 0 {
		return len(s), len(s)
	}
	if n == 0 {
		return 0, 0
	}
	rest := strings.TrimLeftFunc(s[n:], unicode.IsSpace)
	if len(rest) == len(s)-n && !strings.HasPrefix(rest, "--") {
		return 0, 0
	}
	return n, len(s) - len(rest)
}

func isEndMark(c byte) bool { return c == '.' || c == '?' || c == '!' }

// isBreakRune reports whether r never stands within a word.
func isBreakRune(r rune) bool { return strings.ContainsRune(")\";}]*:@'({[‘’“”«»?!", r) }

// isTokenRune is \w as Unicode defines it in UTS #18, annex C.
func isTokenRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) ||
		unicode.In(r, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
