package words_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// stems returns the words of text; stop words are put in parentheses.
func stems(text string) []string {
	var out []string
	for w := range words.All(text) {
		s := string(w.Stem)
		if w.Stop {
			s = "(" + s + ")"
		}
		out = append(out, s)
	}
	return out
}

func TestAll(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"punctuation", "Hello, world! (twice)", "(hello) world twic"},
		{"stop words", "How do I reset my password?", "(how) (do) (i) reset (my) password"},
		{"contraction", "I don't; they've", "(i) (don) (t) (they) (ve)"},
		{"numbers", "10,000 calls at 4.2 or v1.2.3. End 5.", "10000 cal (at) 4.2 (or) v1.2.3 end 5"},
		{"codes", "ERR-0042 api_key", "err 0042 api key"},
		{"greek and cyrillic", "ΑΘΗΝΑ Москва", "αθηνα москва"},
		{"accents", "Café ÜBER", "café über"},
		{"decomposed accent is the accent", "Cafe\u0301", "café"},
		{"decomposed hangul", "\u1112\u116A\u11AB\u1107\u116E\u11AF", "환불"},
		{"ligatures", "eﬃcient oﬀice ﬂow", "efficient offic flow"},
		{"soft hyphens", "Ver\u00ADtrags\u00ADende", "vertragsend"},
		{"sharp s", "Straße STRASSE STRAẞE", "stras stras stras"},
		{"final sigma", "ΟΔΟΣ οδος οδός", "οδοσ οδοσ οδόσ"},
		{"dotted I", "İzmir", "izmir"},
		{"raised and circled figures", "m² ①", "m2 1"},
		{"numbers in wide figures", "１０，０００ ４．２", "10000 4.2"},
		{"half-width kana", "ｻｰﾊﾞｰ", "サー ーバ バー"},
		{"joiners", "a\u200Db word\u2060s", "ab word"},
		{"han", "退货政策", "退货 货政 政策"},
		{"single han", "A 好 b", "(a) 好 b"},
		{"kana with a long vowel", "サーバー", "サー ーバ バー"},
		{"han beside latin", "api密钥", "api 密钥"},
		{"hangul", "환불 정책", "환불 정책"},
		{"full width", "ＡＰＩ", "api"},
		{"invalid utf-8", "a\xffb", "(a) b"},
		{"only symbols", "!? 😀 —", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(stems(tt.text), " "); got != tt.want {
				t.Errorf("words of %q\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

func TestInflectionsMeet(t *testing.T) {
	for _, family := range []string{
		"refund refunds refunded refunding refundable",
		"cancel cancels cancelled canceled cancelling cancellation cancellations",
		"charge charges charged charging",
		"policy policies",
		"ship ships shipped shipping shipment",
		"pay pays paying payment payments",
		"bill bills billed billing",
		"add adds added adding",
		"address addresses addressed",
		"agree agrees agreed agreement",
		"document documents documentation",
		"integrate integrated integration integrations",
		"activate activated activation",
		"deliver delivers delivered delivery deliveries",
		"approve approved approval",
		"try tries tried",
		"set sets setting settings",
		"business businesses",
		"format formats formatted",
		"immediate immediately",
	} {
		forms := strings.Fields(family)
		got := stems(family)
		for i, s := range got {
			if s != got[0] {
				t.Errorf("%s has the stem %s, %s has %s", forms[i], s, forms[0], got[0])
			}
		}
	}
}

func TestDifferentWordsStayApart(t *testing.T) {
	for _, pair := range [][2]string{{"policy", "police"}, {"customer", "custom"}, {"factory", "factor"}, {"status", "stat"}, {"universe", "unit"}} {
		if a, b := stems(pair[0])[0], stems(pair[1])[0]; a == b {
			t.Errorf("%s and %s have the same stem %s", pair[0], pair[1], a)
		}
	}
}

func TestAllStopsWhenToldTo(t *testing.T) {
	for _, text := range []string{"one two three", "退货政策", "a b"} {
		n := 0
		for range words.All(text) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%q: %d words after a break", text, n)
		}
	}
}

func FuzzAll(f *testing.F) {
	for _, s := range []string{"How do I reset?", "退货 政策 1,000.5", "eed ied ies\xff", "ＡＢＣ", "ẞ\u0130e\u0301\u00ad"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for w := range words.All(text) {
			if len(w.Stem) == 0 || !utf8.Valid(w.Stem) && utf8.ValidString(text) {
				t.Errorf("a word of %q is %q", text, w.Stem)
			}
		}
	})
}

func BenchmarkAll(b *testing.B) {
	text := strings.Repeat("You may cancel your subscription at any time in the billing settings. ", 30)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range words.All(text) {
		}
	}
}

func BenchmarkUnicode(b *testing.B) {
	text := strings.Repeat("Sie können das Abonnement jederzeit in den Einstellungen für die Zahlung kündigen. ", 30)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range words.All(text) {
		}
	}
}
