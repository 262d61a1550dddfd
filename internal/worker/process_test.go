package worker

import (
	"bufio"
	"bytes"
	"errors"
	"testing"
)

// FuzzResponse: whatever an interpreter says is an answer or an error, and its end
// is found.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		`{"id": 1, "result": {"a": 1}}` + "\n", `{"id": 1, "error": {"kind": "exit", "message": "1"}}` + "\n" + `{"ready": 1}` + "\n", "\n\n", "{", "null\n", "[1]\n",
		`{"id": -1}` + "\n", `{"error": {"kind": "no_module", "module": ".."}}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(said), 16)
		for range len(said) + 1 {
			answer, err := readResponse(r)
			if err != nil {
				return
			}
			if answer.Error != nil {
				_ = answer.Error.text("/agent", request{File: "/agent/tool.py", Function: "f"})
			}
		}
		t.Error("there is no end to it")
	})
}

func TestWhoseCodeEndedTheInterpreter(t *testing.T) {
	for want, death := range map[string]deathError{
		"the Python interpreter was ended during the call (signal: killed), which may have taken effect; the next call starts another":                                     {},
		"the Python interpreter was ended by pay, which ran beside it, during the call (signal: killed), which may have taken effect; the next call starts another":        {culprit: "pay"},
		"the Python interpreter was ended while a, b, c, others ran beside it during the call (signal: killed), which may have taken effect; the next call starts another": {beside: []string{"b", "a", "d", "c", "b"}},
	} {
		death.why = errors.New("signal: killed")
		if got := death.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWhatAProgramThatFailedSaid(t *testing.T) {
	for want, exit := range map[string]Exit{
		"p ended with exit status 2":                {Code: 2},
		"p ended with exit status 2: on stderr":     {Code: 2, LastLine: "on stderr", Stdout: []byte("on stdout\n")},
		"p ended with exit status 2: no such order": {Code: 2, Stdout: []byte("looking\nno such order\n\n")},
	} {
		if got := exit.Err("p").Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
