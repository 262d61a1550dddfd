package offline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// What the offline model says when it cannot answer.
const (
	// NothingFound is the whole answer when nothing that was found bears on the
	// question.
	NothingFound = "I found nothing about that in the documents I can search."
	// NothingToSearch begins the answer of an agent without a search tool; what
	// the person said follows.
	NothingToSearch = "I am the offline model: I answer from documents, and this agent has none I can search. You said: "
	// NothingSaid is the answer to an empty message.
	NothingSaid = "Your message is empty, so there is nothing I could look for."
	// SearchFailed begins the answer when every search failed; why follows.
	SearchFailed = "I could not search: "
)

// FewWords is how many content words a question has that stands alone. One with
// fewer is searched for together with the turn before.
const FewWords = 4

// Input is what the offline model knows at one model call.
type Input struct {
	// Users are the person's messages so far, oldest first; the last is this turn's.
	Users []string
	// Tools are what may be called.
	Tools []agent.Definition
	// Searched says that this turn's searches have been made.
	Searched bool
	// Passages are what they found, over all tools, in call order.
	Passages []agent.Passage
	// Failures are what the searches that failed said.
	Failures []string
	// Schema is the JSON Schema the answer must follow, or nil.
	Schema json.RawMessage
}

// Output is what the offline model does: calls, or else an answer.
type Output struct {
	Calls []Call
	Text  string
}

// Call is a search the offline model asks for.
type Call struct {
	Name string
	Args json.RawMessage
}

// Respond returns what the offline model does next. The same input gives the
// same output, always. There are calls, or there is a text; never both, never
// neither.
func Respond(in Input) Output {
	now, earlier := question(in.Users)
	if !in.Searched {
		if calls := searches(in.Tools, strings.TrimSpace(earlier+" "+now)); len(calls) > 0 {
			return Output{Calls: calls}
		}
	}
	a := respond(in, now, earlier)
	if in.Schema == nil {
		return Output{Text: a.text()}
	}
	return Output{Text: structured(in.Schema, a, now)}
}

// question returns the person's words of this turn, and those of the turn
// before where this turn has too few to stand alone. White space is evened out.
func question(users []string) (now, earlier string) {
	if len(users) == 0 {
		return "", ""
	}
	now = oneLine(users[len(users)-1])
	if len(users) > 1 && contentWords(now) < FewWords {
		earlier = oneLine(users[len(users)-2])
	}
	return now, earlier
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
}

func contentWords(s string) int {
	n := 0
	for w := range words.All(s) {
		if content(w) {
			n++
		}
	}
	return n
}

// searches returns a call of every search tool. A blank query searches nothing.
func searches(tools []agent.Definition, query string) []Call {
	if query == "" {
		return nil
	}
	var calls []Call
	for _, t := range tools {
		if !t.Retrieval {
			continue
		}
		key, ok := queryKey(t.Schema)
		if !ok {
			continue // it wants more than a query
		}
		args, err := json.Marshal(map[string]string{key: query})
		if err != nil {
			continue // strings can be encoded
		}
		calls = append(calls, Call{Name: t.Name, Args: args})
	}
	return calls
}

// queryKey returns the argument of a search tool that takes the query: the one
// string it requires, when that is all it requires.
func queryKey(schema json.RawMessage) (string, bool) {
	var s struct {
		Required   []string
		Properties map[string]struct {
			Type string
			Enum []any
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil || len(s.Required) != 1 {
		return "", false
	}
	key := s.Required[0]
	argument, ok := s.Properties[key]
	return key, ok && argument.Type == "string" && argument.Enum == nil
}

// respond answers from what was found.
func respond(in Input, now, earlier string) answer {
	switch {
	case in.Searched && len(in.Passages) == 0 && len(in.Failures) > 0:
		return answer{plain: SearchFailed + reasons(in.Failures)}
	case now == "" && earlier == "":
		return answer{plain: NothingSaid}
	case !in.Searched:
		return answer{plain: NothingToSearch + fmt.Sprintf("%q", now)}
	}
	return rank(now, earlier, units(in.Passages))
}

// reasons joins what failed searches said.
func reasons(failures []string) string {
	list := make([]string, len(failures))
	for i, f := range failures {
		list[i] = strings.TrimPrefix(oneLine(f), "Error: ")
	}
	return strings.Join(list, "; ")
}
