package chat

import (
	"os"
	"path/filepath"
	"strings"
)

// Complete returns the lines that a line may become by completing its last word:
// a command at its beginning, or the path of a file after an @.
func Complete(line, dir, home string) []string {
	if strings.HasPrefix(line, "/") && !strings.Contains(line, " ") {
		var out []string
		for _, c := range commands() {
			if strings.HasPrefix(c.name, line) {
				out = append(out, c.name+" ")
			}
		}
		return out
	}
	word := line[strings.LastIndexAny(line, " \n")+1:]
	path, ok := strings.CutPrefix(word, "@")
	if !ok {
		return nil
	}
	folder, begin := filepath.Split(path)
	at := folder
	if rest, ok := strings.CutPrefix(at, "~/"); ok && home != "" {
		at = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begin) || begin == "" && strings.HasPrefix(name, ".") || strings.ContainsAny(name, " \"\n\t") {
			continue // a name with spaces needs quotes
		}
		if e.IsDir() {
			name += "/"
		}
		out = append(out, strings.TrimSuffix(line, word)+"@"+folder+name)
	}
	return out
}
