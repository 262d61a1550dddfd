package check

import (
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
)

// excuseReplay removes the problems of what a replay does without: variables
// that only say how something outside is reached, and with what credentials,
// and the documents and programs of tools.
func excuseReplay(problems []config.Problem) []config.Problem {
	outside := []string{
		"model", "embedding_provider", "evaluations", "tools", "hooks",
		"providers", "vectorstores", "mcp_servers", "deployment", "observability",
	}
	return slices.DeleteFunc(problems, func(p config.Problem) bool {
		switch p.Code {
		case config.CodeVariable:
			return slices.ContainsFunc(outside, func(section string) bool { return below(p.Path, section) })
		case config.CodeReference:
			return below(p.Path, "tools")
		}
		return strings.HasSuffix(p.Path, ".env_file")
	})
}

// below reports whether a path is that of a key or leads into its value.
func below(path, key string) bool {
	rest, ok := strings.CutPrefix(path, key)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
