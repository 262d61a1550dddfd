package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
)

// FilesTool is what the tool that reads a skill's files is called.
const FilesTool = "read_skill_file"

const (
	maxListed   = 100     // files that the description of the tool names
	maxFileSize = 1 << 20 // bytes of a file that is read
)

// Files lets a child agent read the files of its skill's folder, which its
// instructions refer to. It never leaves the folder, and runs nothing.
type Files struct {
	root  *os.Root
	names []string // slash-separated, sorted
}

// OpenFiles returns the files of a skill beside its SKILL.md, or nil when there
// are none. Whoever calls it closes what it returns.
func OpenFiles(t *config.SkillTool) (*Files, error) {
	if t.Folder == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(t.Folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of the skill: %w", err)
	}
	f := &Files{root: root}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular(), hidden, name == "SKILL.md":
			return nil
		}
		f.names = append(f.names, name)
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list the folder of the skill: %w", err), root.Close())
	}
	if len(f.names) == 0 {
		return nil, root.Close()
	}
	slices.Sort(f.names)
	return f, nil
}

// Close closes the folder.
func (f *Files) Close() error { return f.root.Close() }

// Definition implements agent.Tool.
func (f *Files) Definition() agent.Definition {
	list := strings.Join(f.names[:min(len(f.names), maxListed)], ", ")
	if more := len(f.names) - maxListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return agent.Definition{
		Name:        FilesTool,
		Description: "Read a file that belongs to your instructions. The files are: " + list,
		Schema:      json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file, as your instructions name it."}},"required":["path"],"additionalProperties":false}`),
		ReadOnly:    true, Source: string(config.ToolSkill),
	}
}

// Call implements agent.Tool.
func (f *Files) Call(_ context.Context, args json.RawMessage) (agent.ToolResult, error) {
	var a struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return agent.ToolResult{}, fmt.Errorf("read the arguments: %w", err)
	}
	name := path.Clean(strings.ReplaceAll(a.Path, `\`, "/"))
	if !slices.Contains(f.names, name) {
		return agent.ToolResult{}, fmt.Errorf("the skill has no file %q; it has %s", a.Path, strings.Join(f.names[:min(len(f.names), maxListed)], ", "))
	}
	file, err := f.root.Open(name)
	if err != nil {
		return agent.ToolResult{}, fmt.Errorf("open %s: %w", name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	switch {
	case err != nil:
		return agent.ToolResult{}, fmt.Errorf("read %s: %w", name, err)
	case len(data) > maxFileSize:
		return agent.ToolResult{}, fmt.Errorf("%s has more than %d bytes, and cannot be read", name, maxFileSize)
	case !utf8.Valid(data):
		return agent.ToolResult{}, fmt.Errorf("%s is not a text in UTF-8", name)
	}
	return agent.TextResult(string(data)), nil
}
