package llm

import "github.com/holodeck-go/holodeck/internal/llm/offline"

// respond answers where no rule applies.
func respond(in offline.Input) offline.Output {
	return offline.Output{Text: "You said: " + in.Users[len(in.Users)-1]}
}
