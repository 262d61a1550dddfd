package grader

import "testing"

// FuzzVerdict: whatever a grader says is a verdict or an error.
func FuzzVerdict(f *testing.F) {
	for _, seed := range []string{"true", "0.5", `{"score": 1, "passed": false, "reason": "r", "details": {"a": [1]}}`, `{"score": {"score": 1}}`, "null", "", "[", `"a"`, "1e999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		v, err := parseVerdict(said)
		if err == nil && len(v.Details) > 0 && v.Details[0] != '{' {
			t.Errorf("details %s", v.Details)
		}
	})
}
