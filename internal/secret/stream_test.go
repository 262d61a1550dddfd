package secret_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// begin opens a block in PEM; the file itself must not seem to hold a key.
const begin = "-----BEGIN "

// pieces cuts a text into pieces of so many bytes.
func pieces(text string, size int) []string {
	var list []string
	for len(text) > size {
		list = append(list, text[:size])
		text = text[size:]
	}
	return append(list, text)
}

// stream masks pieces and returns what was shown before the end, and at it.
func stream(r *secret.Redactor, list []string) (early, rest string) {
	s := r.Stream()
	var shown strings.Builder
	for _, piece := range list {
		shown.WriteString(s.Push(piece))
	}
	return shown.String(), s.Rest()
}

func TestStreamMasksAcrossPieces(t *testing.T) {
	key := begin + "RSA PRIVATE KEY-----\nMIIE abc\ndef=\n-----END RSA PRIVATE KEY-----"
	for _, tt := range []struct{ name, in, want string }{
		{"a value", "The token is hunter2-hunter2, keep it.", "The token is [redacted], keep it."},
		{"a value with blanks", "Say open sesame now please.", "Say [redacted] please."},
		{"the longer of two", "x hunter2-hunter2-longer y", "x [redacted] y"},
		{"the shorter of two", "x hunter2-hunter2-lon y", "x [redacted]-lon y"},
		{"the shorter at the end", "x hunter2-hunter2-lon", "x [redacted]-lon"},
		{"a value that begins within another", "open sesame now or never", "[redacted] or never"},
		{"a beginning that leads nowhere", "hunter2-hunter3 hunter2-", "hunter2-hunter3 hunter2-"},
		{"a credential by shape", "key sk-proj-abcdefghij0123456789ABCD end", "key [redacted] end"},
		{"a bearer token", "Bearer  abcdefghij0123456789xyz end", "Bearer  [redacted] end"},
		{"a URL", "at postgres://bob:s3cret@db:5432/x end", "at postgres://[redacted]@db:5432/x end"},
		{"a URL with an ideograph", "at x://港:s3cret@db end", "at x://[redacted]@db end"},
		{"a private key", "Here: " + key + " and more.", "Here: [redacted] and more."},
		{"two private keys", key + "\n" + key, "[redacted]\n[redacted]"},
		{"a private key without an end", "Here: " + begin + "PRIVATE KEY----- MIIE abc", "Here: " + begin + "PRIVATE KEY----- MIIE abc"},
		{"a key within a private key", strings.Replace(key, "abc", "sk-aaaaaaaaaaaaaaaaaaaaaaaaa", 1) + " y -----END PRIVATE KEY-----", "[redacted] y -----END PRIVATE KEY-----"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n", "-----BEGIN CERTIFICATE-----\nMIIE\n"},
		{"Japanese", "港は hunter2-hunter2 毎日開いています。", "港は [redacted] 毎日開いています。"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := secret.NewRedactor([]string{"hunter2-hunter2", "hunter2-hunter2-longer", "open sesame now", "sesame now or never"})
			for size := 1; size <= len(tt.in)+1; size++ {
				early, rest := stream(r, pieces(tt.in, size))
				if got := early + rest; got != tt.want {
					t.Errorf("in pieces of %d bytes it is %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

func TestStreamKeepsBackNoMoreThanItMust(t *testing.T) {
	r := secret.NewRedactor([]string{"hunter2-hunter2"})
	for _, tt := range []struct{ name, in, early string }{
		{"the last word", "The answer is yes", "The answer is "},
		{"nothing behind a blank", "The answer ", "The answer "},
		{"the beginning of a value", "The token hunter2-", "The token "},
		{"a word that might be a scheme", "Yes: https", "Yes: "},
		{"behind bearer", "A bearer ", "A "},
		{"a private key", "A " + begin + "PRIVATE KEY----- of many words", "A "},
		{"no certificate", "A -----BEGIN CERTIFICATE----- of words", "A -----BEGIN CERTIFICATE----- of "},
		{"no ideograph", "駐車場は無料です", "駐車場は無料です"},
		{"what follows a private key", begin + "PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nThat is", "[redacted]\nThat "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, len(tt.in)} {
				early, rest := stream(r, pieces(tt.in, size))
				if early != tt.early || early+rest != r.String(tt.in) {
					t.Errorf("in pieces of %d bytes it shows %q and then %q, want %q", size, early, rest, tt.early)
				}
			}
		})
	}
}

func TestStreamTakesOneTextAfterAnother(t *testing.T) {
	s := secret.NewRedactor([]string{"hunter2-hunter2"}).Stream()
	if got := s.Push("one hunter2-") + s.Rest(); got != "one hunter2-" || !s.Empty() {
		t.Errorf("the first text is %q, empty: %t", got, s.Empty())
	}
	if got := s.Push("hunter2 two") + s.Rest(); got != "hunter2 two" {
		t.Errorf("the second text is %q: it must not go on where the first ended", got)
	}
}

func TestStreamOfANilRedactorMasksByShape(t *testing.T) {
	var r *secret.Redactor
	early, rest := stream(r, []string{"AKIAABCD", "EFGHIJKLMNOP"})
	if early+rest != secret.Mask {
		t.Errorf("got %q", early+rest)
	}
}

// FuzzStream holds a text that comes in pieces against the same text as a whole.
func FuzzStream(f *testing.F) {
	for _, text := range []string{
		"token hunter2-hunter2 and hunter2-hunter2-longer",
		"Bearer abcdefghij0123456789xyz sig=abcdefghij0123456789xyz",
		begin + "PRIVATE KEY-----\nx y\n-----END PRIVATE KEY-----://example:b@c",
		"x-----BEGIN A" + begin + "PRIVATE KEY----- 港 -----END PRIVATE KEY-----",
		"https://港:x@host 港sk-abcdefghij0123456789 \xff\xe6\xb8",
		"eyJexample.eyJexample.c2lnbmF0dXJl ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		f.Add(text, []byte{1, 5, 2}, "open sesame")
	}
	f.Fuzz(func(t *testing.T, text string, sizes []byte, value string) {
		r := secret.NewRedactor([]string{"hunter2-hunter2", "hunter2-hunter2-longer", value})
		var list []string
		for rest := text; rest != ""; {
			size := len(rest)
			if len(sizes) > 0 {
				size = min(size, 1+int(sizes[len(list)%len(sizes)]))
			}
			list = append(list, rest[:size])
			rest = rest[size:]
		}
		early, rest := stream(r, list)
		if got, want := early+rest, r.String(text); got != want {
			t.Errorf("in pieces it is %q, as a whole %q", got, want)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	r := secret.NewRedactor([]string{"hunter2-hunter2", "correct horse battery staple"})
	text := strings.Repeat("The harbour is open from six to ten, and closed in storms. ", 100)
	list := pieces(text, 4)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		stream(r, list)
	}
}
