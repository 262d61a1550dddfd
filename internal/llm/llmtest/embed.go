package llmtest

import (
	"hash/fnv"
	"math"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// embedding is a request for vectors.
type embedding struct {
	texts      []string
	dimensions int // 0: the server's own
}

// defaultDimensions is the width of a vector when nobody asks for another.
const defaultDimensions = 8

// vector returns the vector of a text: the same for the same text, of length
// one, and never zero.
func vector(text string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	sum := 0.0
	for i := range v {
		h := fnv.New64a()
		h.Write([]byte{byte(i), byte(i >> 8)})
		h.Write([]byte(text))
		v[i] = float64(h.Sum64()>>11)/(1<<53) - 0.5
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}

// vectorVoice answers with vectors, whatever a script says but failures.
type vectorVoice struct {
	w       *writer
	vectors func(u agent.Usage) any
}

func (*vectorVoice) text(string)              {}
func (*vectorVoice) thinking(string)          {}
func (*vectorVoice) call(string, script.Call) {}
func (*vectorVoice) fail(script.Error)        {}

func (v *vectorVoice) garbage(s string) {
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Write([]byte(s))
}

func (v *vectorVoice) finish(_ string, u agent.Usage) {
	writeJSON(v.w, http.StatusOK, v.vectors(u))
}
