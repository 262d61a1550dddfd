package semantickernel

import (
	"regexp"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func TestWireNames(t *testing.T) {
	long := strings.Repeat("handbook_", 7) + "x" // 64 characters
	for _, tt := range []struct{ name, source, want string }{
		{"kb_search", "vectorstore", "vectorstore-kb"},
		{"kb_search_search", "vectorstore", "vectorstore-kb_search"},
		{"law_search", "hierarchical_document", "hierarchical_document-law"},
		{"add", "function", "function_tools-add"},
		{"mine", "", "function_tools-mine"}, // the caller's own
		{"shout", "prompt", "function_tools-shout"},
		{"memory__read_graph", "mcp:memory", "memory-read_graph"},
		{"my.server__read:all", "mcp:my.server", "my-server-read-all"},
		{long, "function", "function_tools-handbook_handbook_handbook_handbook_handbo-382204"},
	} {
		got := wireName(agent.Definition{Name: tt.name, Source: tt.source})
		if got != tt.want {
			t.Errorf("%s of %q is %s, want %s", tt.name, tt.source, got, tt.want)
		}
		if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(got) {
			t.Errorf("no provider takes %q", got)
		}
	}
}

func TestSchemaNames(t *testing.T) {
	for name, want := range map[string]string{
		"Help desk": "Help-desk", "größe": "gr--e", strings.Repeat("a", 70): strings.Repeat("a", 57) + "-6bd5e5",
	} {
		if got := cut(plain(name)); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}
