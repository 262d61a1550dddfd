package grader

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// FuzzVerdict: whatever a grader says is an error, or a verdict that is one in
// full: a score that can be judged and stored, details that are an object, and the
// same verdict when it is said in full.
func FuzzVerdict(f *testing.F) {
	for _, seed := range []string{"true", "0.5", `{"score": 1, "passed": false, "reason": "r", "details": {"a": [1]}}`, `{"score": {"score": 1}}`, "null", "", "[", `"a"`, "1e999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		v, err := parseVerdict(said)
		if err != nil {
			if !reflect.DeepEqual(v, Verdict{}) {
				t.Errorf("%s: an error, and %+v", said, v)
			}
			return
		}
		if math.IsNaN(v.Score) || math.IsInf(v.Score, 0) {
			t.Errorf("%s has the score %v", said, v.Score)
		}
		var details map[string]json.RawMessage
		if len(v.Details) > 0 && json.Unmarshal(v.Details, &details) != nil {
			t.Errorf("%s has the details %s", said, v.Details)
		}
		full, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %+v: %v", said, v, err)
		}
		again, err := parseVerdict(full)
		if err != nil || again.Score != v.Score || again.Reason != v.Reason || !reflect.DeepEqual(again.Passed, v.Passed) {
			t.Errorf("%s is %+v, and %s is %+v, %v", said, v, full, again, err)
		}
	})
}
