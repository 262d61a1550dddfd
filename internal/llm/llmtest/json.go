package llmtest

import (
	"encoding/json"
	"net/http"
)

// object is a JSON object that is written.
type object = map[string]any

// encode returns v as JSON.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // what the server writes is its own
	}
	return data
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(encode(v), '\n'))
}
