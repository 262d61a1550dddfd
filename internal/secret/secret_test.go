package secret_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/secret"
)

func TestStringNeverPrintsItself(t *testing.T) {
	s := secret.New("canary-value-1")
	type holder struct{ Key secret.String }
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s)
	encoded, err := json.Marshal(holder{Key: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, holder{s}, holder{s}, s, s), string(encoded), log.String(),
	} {
		if strings.Contains(printed, "canary") {
			t.Errorf("the secret was printed: %s", printed)
		}
	}
	if s.Reveal() != "canary-value-1" {
		t.Errorf("Reveal() = %q", s.Reveal())
	}
}

func TestRedactor(t *testing.T) {
	r := secret.NewRedactor([]string{"hunter2-hunter2", "hunter2-hunter2-longer", "short", `pass"word\9"`})
	for _, tt := range []struct{ name, in, want string }{
		{"by value", "pw=hunter2-hunter2.", "pw=[redacted]."},
		{"longest first", "hunter2-hunter2-longer", "[redacted]"},
		{"short values stay", "a short note", "a short note"},
		{"in a string of JSON", `{"pw": "pass\"word\\9\""}`, `{"pw": "[redacted]"}`},
		{"openai key", "key sk-proj-abcdefghij0123456789ABCD end", "key [redacted] end"},
		{"anthropic key", "sk-ant-api03-" + strings.Repeat("a", 90), "[redacted]"},
		{"aws", "AKIAABCDEFGHIJKLMNOP", "[redacted]"},
		{"github", "ghp_" + strings.Repeat("a", 36), "[redacted]"},
		{"jwt", "eyJexample.eyJexample.c2lnbmF0dXJl", "[redacted]"},
		{"bearer keeps the word", "Authorization: Bearer abcdefghij0123456789xyz", "Authorization: Bearer [redacted]"},
		{"azure", "AccountKey=abcdefghij0123456789xyz==;x", "AccountKey=[redacted];x"},
		{"url user-info", "postgres://bob:s3cret@db:5432/x", "postgres://[redacted]@db:5432/x"},
		{"ordinary text", "Ask http://localhost:8000/docs?x=1 or mail a@b.example.", "Ask http://localhost:8000/docs?x=1 or mail a@b.example."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.String(tt.in); got != tt.want {
				t.Errorf("String(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestRedactorWalksValues(t *testing.T) {
	r := secret.NewRedactor([]string{"hunter2-hunter2"})
	in := map[string]any{"a": []any{"x hunter2-hunter2", 1.5, true, nil, map[string]any{"hunter2-hunter2": 1}}}
	got := fmt.Sprint(r.Any(in))
	if want := "map[a:[x [redacted] 1.5 true <nil> map[[redacted]:1]]]"; got != want {
		t.Errorf("Any = %s, want %s", got, want)
	}
	if !strings.Contains(fmt.Sprint(in), "hunter2") {
		t.Error("Any changed its argument")
	}
}

func TestNilRedactorMasksByShape(t *testing.T) {
	var r *secret.Redactor
	if got := r.String("AKIAABCDEFGHIJKLMNOP"); got != secret.Mask {
		t.Errorf("got %q", got)
	}
}

func TestRedactorMasksJSON(t *testing.T) {
	r := secret.NewRedactor([]string{"hunter2-hunter2", `pass"word\9`})
	for _, tt := range []struct{ name, in, want string }{
		{"a string", `"x hunter2-hunter2"`, `"x [redacted]"`},
		{"anywhere", `{"hunter2-hunter2": [{"b": "hunter2-hunter2"}], "a": "<b>"}`, `{"[redacted]":[{"b":"[redacted]"}],"a":"<b>"}`},
		{"behind escapes", `["hunter\u0032-hunter2", "pass\"word\\9"]`, `["[redacted]","[redacted]"]`},
		{"numbers keep their digits", `{"a": 12345678901234567890, "b": 1.50, "c": "hunter2-hunter2"}`, `{"a":12345678901234567890,"b":1.50,"c":"[redacted]"}`},
		{"nothing to mask", `{"b": 1, "a": "\n"}`, `{"b": 1, "a": "\n"}`},
		{"no JSON", `{"a": hunter2-hunter2`, `"{\"a\": [redacted]"`},
		{"empty", ``, ``},
	} {
		if got := string(r.JSON(json.RawMessage(tt.in))); got != tt.want {
			t.Errorf("%s: %s became %s, want %s", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzRedactorJSON(f *testing.F) {
	f.Add(`{"a": ["hunter2-hunter2", 1e400, null]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		r := secret.NewRedactor([]string{"hunter2-hunter2"})
		got := r.JSON(json.RawMessage(doc))
		if doc != "" && !json.Valid(got) {
			t.Errorf("%q became %q, which is no JSON", doc, got)
		}
		if strings.Contains(string(got), "hunter2-hunter2") {
			t.Errorf("%q became %q, which shows the secret", doc, got)
		}
	})
}
