package pyre

import (
	"strings"
	"testing"
	"time"
)

// The wanted verdicts are what re.fullmatch and re.search gave in CPython 3.11.7.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		expr, text   string
		full, search bool
	}{
		{`A-\d+`, "A-17", true, true},
		{`A-\d+`, "order A-17.", false, true},
		{`A-\d+`, "A-17\n", false, true},
		{`a|ab`, "ab", true, true},
		{`^b`, "a\nb", false, false},
		{`(?m)^b`, "a\nb", false, true},
		{`a$`, "a\n", false, true},
		{`a\Z`, "a\n", false, false},
		{`(?i)paris`, "PARIS", true, true},
		{`(?s)a.b`, "a\nb", true, true},
		{`a.b`, "a\nb", false, false},
		{`(?x) a b # letters`, "ab", true, true},
		{`(?x) a b # letters`, "xaby", false, true},
		{`(?=.*\d)(?=.*[a-z]).{4,}`, "abc1", true, true},
		{`(?<!x)a`, "xa", false, false},
		{`(?P<c>.)(?P=c)`, "aa", true, true},
		{`(?P<c>.)(?P=c)`, "ab", false, false},
		{`a{,2}`, "aaa", false, true},
		{`[]a]+`, "]a", true, true},
		{`\U0001F600`, "😀", true, true},
		{``, "x", false, true},
		{`a*+a`, "aaa", false, false},
		{`a*+b`, "aab", true, true},
		{`(?:ab|a)++b`, "ab", false, false},
		{`[ab]?+b`, "b", false, false},
		{`a{1,2}+a`, "aa", false, false},
		{`a{1,2}+a`, "aaa", true, true},
		{`((a|b)c)*+d`, "acbcd", true, true},
		{`\d++\.`, "12.", true, true},
		{`é++x`, "ééx", true, true},
		{`(?x) a # (
		 ++ b`, "aab", true, true},
		{`a(?#note)b`, "ab", true, true},
		{`(?i:A)b`, "ab", true, true},
		{`(?u:a)`, "a", true, true},
		{`a{,x`, "a{,x", true, true},
		{`(?>a|ab)c`, "abc", false, false},
	} {
		for _, full := range []bool{true, false} {
			want := tt.search
			if full {
				want = tt.full
			}
			r, err := Compile(tt.expr, Options{Full: full})
			if err != nil {
				t.Errorf("%q: %v", tt.expr, err)
				continue
			}
			if got, err := r.Match(tt.text); got != want || err != nil {
				t.Errorf("%q and %q, full %v: %v (%v), want %v", tt.expr, tt.text, full, got, err, want)
			}
		}
	}
}

func TestIgnoreCase(t *testing.T) {
	r, err := Compile("paris", Options{IgnoreCase: true})
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := r.Match("In PARIS."); !ok {
		t.Error("letter case counts")
	}
}

func TestBadExpressions(t *testing.T) {
	for expr, says := range map[string]string{
		`a\z`: `\z means nothing in Python's re`, `\p{L}`: `\p means nothing`, `[\A]`: `\A means nothing`, `\N{DASH}`: `\N{…} is not supported`,
		`(?a:\w)`: "flag a is not supported", `(?<n>a)`: "(?P<name>…)", `a(?i)b`: "stand at the very front", `(?#a`: "not closed", `\k<n>`: `\k means nothing`,
		"(": `regex "("`, "(?P=c": "not closed", `\`: "ends in a backslash", `\U12`: "eight hexadecimal digits",
		`\U00110000`: "is not a character", `(?a)\w`: "flag a is not supported", `(?L)a`: "flag L is not supported",
	} {
		if _, err := Compile(expr, Options{}); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "error parsing") {
			t.Errorf("%q: %v, want %q", expr, err, says)
		}
	}
}

func TestAMatchWithoutEndIsAnError(t *testing.T) {
	r, err := Compile(`(\w|\w\w)*[!?]`, Options{Full: true, Limit: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Match(strings.Repeat("a", 80)); err == nil || !strings.Contains(err.Error(), "took longer than 1ms") {
		t.Errorf("got %v, want an error that says it took too long", err)
	}
	if r, err := Compile("a", Options{}); err != nil || r.re.MatchTimeout != DefaultLimit {
		t.Errorf("a match is bounded by %v, want %v", r.re.MatchTimeout, DefaultLimit)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`(?P<x>a)[^]b]{,3}\Z`, "ab")
	f.Add(`\U0001F600(?i)`, "😀")
	f.Add(`(?x)((?u-i:é)*+[^\]]{,2}+#(
)?`, "é")
	f.Fuzz(func(t *testing.T, expr, text string) {
		r, err := Compile(expr, Options{Limit: time.Millisecond})
		if err != nil {
			return
		}
		r.Match(text) // must return
	})
}
