package dialog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/llm"
)

// Readable refuses a message of which the model would not see everything.
func Readable(info llm.Info, m agent.Message) error {
	empty := true
	for _, p := range m.Parts {
		switch p.Kind {
		case agent.PartText:
			empty = empty && strings.TrimSpace(p.Text) == ""
			continue
		case agent.PartImage:
			if !info.Capabilities.Images {
				return fmt.Errorf("%s model %s reads no images; send the message without %s", info.Provider, info.Name, p.Name)
			}
		case agent.PartDocument:
			if !info.Capabilities.Documents {
				return fmt.Errorf("%s model %s reads no documents; send the message without %s", info.Provider, info.Name, p.Name)
			}
		default:
			return fmt.Errorf("a person's message has no parts of kind %q", p.Kind)
		}
		empty = false
	}
	if empty {
		return errors.New("the message is empty")
	}
	return nil
}
