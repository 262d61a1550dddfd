package toolmatch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestARegexThatBacktracksWithoutEndFailsItsCheck(t *testing.T) {
	r, err := newRegex(`(\w|\w\w)*[!?]`)
	if err != nil {
		t.Fatal(err)
	}
	if r.re.MatchTimeout != matchTimeout {
		t.Fatalf("a match may take %s, want %s", r.re.MatchTimeout, matchTimeout)
	}
	r.re.MatchTimeout = time.Millisecond
	arg, err := json.Marshal(strings.Repeat("a", 80))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.match(arg); err == nil || !strings.Contains(err.Error(), "took longer than 1ms") {
		t.Errorf("got %v, want an error that says it took too long", err)
	}
}
