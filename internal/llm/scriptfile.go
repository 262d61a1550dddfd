package llm

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// readScript returns the rules of a model: those of script, or those in
// script_file. That a model has only one of the two is checked by config.
func readScript(c *config.Model) (script.Script, []config.Problem) {
	switch {
	case c.Script != nil:
		s, found := script.Parse(c.Script)
		problems := make([]config.Problem, len(found))
		for i, p := range found {
			problems[i] = c.Problem(config.SeverityError, "script", config.CodeValue, p.Text, p.Hint)
			problems[i].Path += p.Path
			problems[i].Pos = c.PosWithin("script", p.Path)
		}
		return s, problems
	case c.ScriptFile != nil:
		return readScriptFile(c)
	}
	return script.Script{}, nil
}

func readScriptFile(c *config.Model) (script.Script, []config.Problem) {
	file := c.File("script_file", *c.ScriptFile)
	data, err := readBounded(file, script.MaxFileBytes)
	if err != nil {
		return script.Script{}, []config.Problem{c.Problem(config.SeverityError, "script_file", config.CodeReference,
			err.Error(), "name a file of rules, relative to the file that mentions it")}
	}
	s, found := script.ParseYAML(data)
	problems := make([]config.Problem, len(found))
	for i, p := range found {
		problems[i] = config.Problem{
			Path:     p.Path,
			Pos:      config.Pos{File: file, Line: p.Line, Column: p.Column},
			Severity: config.SeverityError, Code: config.CodeValue,
			Text: p.Text, Hint: p.Hint,
		}
	}
	return s, problems
}

// readBounded reads a file of at most limit bytes. It never reads more.
func readBounded(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("is a folder, not a file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("is larger than " + strconv.FormatInt(limit, 10) + " bytes")}
	}
	return data, nil
}
