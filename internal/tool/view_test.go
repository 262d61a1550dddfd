package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// allOffered returns what a model is told of.
func allOffered(s *Set) []string {
	var names []string
	for _, d := range s.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

func TestAChildAgentHasSomeOfTheTools(t *testing.T) {
	server := &fakeServer{}
	server.set("", named("read", "write")...)
	set := servedSet(t, mcpAgent(t, ""), server, nil)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "own"},
		{[]string{"docs"}, "docs_search own"},
		{[]string{"orders_search", "docs"}, "docs_search orders_search own"},
		{[]string{"s"}, "s__read s__write own"},
		{[]string{"s__write"}, "s__write own"},
	} {
		view, err := set.Only(tt.names, answering{"own", "mine"})
		if err != nil {
			t.Errorf("%v: %v", tt.names, err)
			continue
		}
		if got := strings.Join(allOffered(view), " "); got != tt.want {
			t.Errorf("%v offers %q, want %q", tt.names, got, tt.want)
		}
		if got := view.Call(t.Context(), Call{Name: "docs_search"}); (got.Err == "") != slices.Contains(tt.names, "docs") {
			t.Errorf("%v: a call of docs_search: %q", tt.names, got.Err)
		}
	}
	if _, err := set.Only([]string{"s__reed"}); err == nil || err.Error() != "there is no tool s__reed; there are: docs_search, orders_search, s__read, s__write" {
		t.Errorf("a tool that the server does not have: %v", err)
	}
	if _, err := set.Only([]string{"docs"}, answering{"docs_search", "mine"}); err == nil || !strings.Contains(err.Error(), "rename one of them") {
		t.Errorf("two tools of one name: %v", err)
	}
	server.set("it is down")
	if _, err := set.Only([]string{"s__reed"}); err != nil {
		t.Errorf("a tool that a lost server may have: %v", err)
	}
}

func TestAChildAgentFollowsTheServers(t *testing.T) {
	server := &fakeServer{}
	server.set("", named("read")...)
	view, err := servedSet(t, mcpAgent(t, ""), server, nil).Only([]string{"s__read"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := view.root.Only([]string{"s"})
	if err != nil {
		t.Fatal(err)
	}
	some, all := sessionOf(t, view, "a"), sessionOf(t, whole, "b")
	server.set("", named("read", "write")...)
	beginTurn(t, some, 1)
	beginTurn(t, all, 1)
	if got := strings.Join(allOffered(some), " "); got != "s__read" {
		t.Errorf("who may call one tool is offered %q", got)
	}
	if got := strings.Join(allOffered(all), " "); got != "s__read s__write" {
		t.Errorf("who may call all is offered %q", got)
	}
}

func TestASkillStandsInItsPlace(t *testing.T) {
	a := load(t, "  - {type: skill, name: first, description: d, instructions: x}\n  - {type: vectorstore, name: last, description: d, source: a.md}\n"+offlineModel+
		"permissions: {disallowed_tools: ['last(a=b)']}\nhooks: [{event: PreToolUse, tool: first, action: reject}]\n")
	set, err := Open(t.Context(), systemEnv(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got := strings.Join(allOffered(set), " "); got != "docs_search orders_search last_search" {
		t.Errorf("without its skill the set offers %q", got)
	}
	wider, err := set.WithSkill(a.Tools[2].(*config.SkillTool), answering{"first", "done"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(allOffered(wider), " "); got != "docs_search orders_search first last_search" {
		t.Errorf("with its skill the set offers %q", got)
	}
	if got := wider.Call(t.Context(), Call{Name: "first"}); got.Err != "first was rejected: a hook of the agent does not allow it" {
		t.Errorf("the skill passed by the hooks: %q", got.Err)
	}
	view, err := wider.Only([]string{"last", "first"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"first":       "first was rejected: a hook of the agent does not allow it",
		"last_search": `last_search may not be called: permissions.disallowed_tools has "last(a=b)"`,
	} {
		if got := view.Call(t.Context(), Call{Name: name, Arguments: json.RawMessage(`{"a": "b"}`)}); got.Err != want {
			t.Errorf("a child agent's call of %s: %q, want %q", name, got.Err, want)
		}
	}
	if _, err := set.WithSkill(&config.SkillTool{ToolBase: config.ToolBase{Name: "other"}}, answering{"other", ""}); err == nil {
		t.Error("a skill that the file does not have was taken in")
	}
}
