package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
)

// Options are what loading takes from outside the files.
type Options struct {
	// Environ is the process environment, as NAME=value entries.
	Environ []string
	// Home is the user's home folder; empty means that there is none.
	Home string
	// WorkDir is the working folder, where a .env file is looked for; empty
	// means the process's own.
	WorkDir string
	// Flags are execution settings from the command line.
	Flags []Flag
	// Model is the name of the model in place of the file's; empty leaves that.
	Model string
	// Strict requires embedding_provider with every claude and google_adk
	// agent that has retrieval tools.
	Strict bool
}

// Getenv returns a variable of the process environment, or "" when it is not
// set. As in os.Environ, the last of two settings wins.
func (o Options) Getenv(name string) string {
	for _, entry := range slices.Backward(o.Environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Flag is an execution setting from the command line.
type Flag struct {
	Name  string // as the user types it, such as "--timeout"
	Key   string // of the execution section, such as "llm_timeout"
	Value string
}

// AgentFiles are the names an agent file may have within a folder, the
// preferred first.
func AgentFiles() []string { return []string{"agent.yaml", "agent.yml"} }

// Load reads the agent file at path, or the one in the folder at path, with
// the config.yaml, .env and other files it draws on. It returns all problems
// of all files, sorted by position; when one of them is an error the agent is
// incomplete, and nil if the file could not be read at all.
//
// Load starts nothing, connects to nothing and runs no code of the user's.
func Load(path string, opts Options) (*Agent, []Problem) {
	l := &loader{opts: opts, shapes: &shapes{}}
	agent := l.load(path)
	redactor := secret.NewRedactor(l.secrets)
	if agent != nil {
		agent.Redactor = redactor
	}
	problems := l.rep.problems
	for i := range problems {
		problems[i].Text = redactor.String(problems[i].Text)
		problems[i].Hint = redactor.String(problems[i].Hint)
	}
	SortProblems(problems)
	return agent, problems
}

// loader is one load under way.
type loader struct {
	opts    Options
	shapes  *shapes
	rep     report
	env     *environment
	secrets []string
}

// load reads, merges, decodes and checks.
func (l *loader) load(path string) *Agent {
	file, ok := l.find(path)
	if !ok {
		return nil
	}
	dir := filepath.Dir(file)
	workDir := l.opts.WorkDir
	if workDir == "" {
		workDir = "."
	}
	folders := []string{dir, workDir}
	if l.opts.Home != "" {
		folders = append(folders, filepath.Join(l.opts.Home, ".holodeck"))
	}
	l.env = newEnvironment(l.opts.Environ, folders, &l.rep)
	l.secrets = append(l.secrets, l.env.secrets()...)

	root := l.readTree(l.source(file, LayerAgent))
	project := l.settings(dir, LayerProject)
	var user *node
	if l.opts.Home != "" {
		if home := filepath.Join(l.opts.Home, ".holodeck"); !sameFolder(home, dir) {
			user = l.settings(home, LayerUser)
		}
	}
	if root == nil {
		return nil
	}
	if root.kind == kindNull {
		root = &node{kind: kindMap, src: root.src, line: root.line, col: root.col}
	}
	if root.kind != kindMap {
		l.rep.add(Problem{
			Pos: root.pos(), Severity: SeverityError, Code: CodeType,
			Text: fmt.Sprintf("an agent file is a mapping with name, model and instructions, and this is %s", root.kind),
		})
		return nil
	}
	root = renameOld(l.testCases(root), &l.rep)
	m := &merger{settings: mergeSettings(project, user), rep: &l.rep}
	root = m.agent(root)
	execution := firstWritten(l.flags(), root.get("execution"), project.get("execution"), user.get("execution"), l.execution(workDir))
	if execution != nil {
		root = root.with("execution", execution)
	}
	root = mapKey(root, "model", l.model)
	agent := &Agent{File: file, Dir: dir, env: l.env}
	d := l.decoder(SeverityError)
	d.profiles = m.profileNames()
	d.prepare = l.prepare(root.get(casesKey), m.settings)
	schemas := map[string][]byte{} // of the cases' metrics, by their places
	d.eachCase = l.eachCase(agent, schemas)
	d.block(root, rootPath(), reflect.ValueOf(agent).Elem(), "")
	if len(schemas) > 0 {
		agent.TestCases.Edit(func(tc *TestCase) {
			tc.eachStandard(func(m *StandardMetric) { m.JSONSchema = schemas[m.Path()] })
		})
	}
	l.secrets = append(l.secrets, d.secrets...)
	l.finish(agent)
	return agent
}

// eachCase returns what is done with every case while the agent is loaded: it
// is checked, and the schemas of its metrics are resolved. A case itself is not
// kept, so its schemas are.
func (l *loader) eachCase(a *Agent, schemas map[string][]byte) func(*TestCase) {
	c := l.checker(a)
	ids, names := map[string]bool{}, map[string]bool{}
	return func(tc *TestCase) {
		c.testCase(tc, ids, names)
		tc.eachStandard(func(m *StandardMetric) {
			if m.Schema != nil {
				schemas[m.Path()] = l.schema(m.Block, "schema", m.Schema)
			}
		})
	}
}

// prepare returns what makes an entry of the list of cases ready to be decoded:
// the substitution of its variables, unless the whole tree had it, and what
// config.yaml adds. The secrets that are found while the agent is loaded are
// kept.
func (l *loader) prepare(list, settings *node) func(*node, *report) *node {
	if list == nil {
		return nil
	}
	return func(item *node, rep *report) *node {
		if list.long != nil && list.long.substitutes() {
			s := &substitution{env: l.env, seen: map[*node]bool{}}
			s.tree(item, casesKey)
			if rep == &l.rep {
				l.secrets = append(l.secrets, s.secrets...)
			}
		}
		return (&merger{settings: settings, rep: rep}).testCase(item)
	}
}

// decoder returns a decoder that reports to the loader.
func (l *loader) decoder(unset Severity) *decoder {
	if l.env.incomplete {
		unset = "" // what is missing may stand in the file that could not be read
	}
	return &decoder{shapes: l.shapes, rep: &l.rep, unset: unset}
}

// source returns a file as a source.
func (l *loader) source(file string, layer Layer) *source {
	return &source{name: file, dir: filepath.Dir(file), home: l.opts.Home, layer: layer}
}

// find returns the agent file that path means.
func (l *loader) find(path string) (string, bool) {
	if path == "" {
		path = "."
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.refuse(path, CodeReference, "does not exist", "give the path of an agent.yaml, or of the folder that holds one")
		return "", false
	case err != nil:
		l.refuse(path, CodeReference, "cannot be opened: "+cause(err), "")
		return "", false
	case !info.IsDir():
		return path, true
	}
	for _, name := range AgentFiles() {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return filepath.Join(path, name), true
		}
	}
	l.refuse(path, CodeReference, "holds no agent.yaml", "give the path of an agent file, or of the folder that holds one")
	return "", false
}

// refuse reports an error of a file as a whole.
func (l *loader) refuse(file, code, text, hint string) {
	l.rep.add(Problem{Pos: Pos{File: file}, Severity: SeverityError, Code: code, Text: text, Hint: hint})
}

// cause returns the reason of a file error without the path, which the message
// names already.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// sameFolder reports whether two paths name one folder.
func sameFolder(a, b string) bool {
	ai, errA := os.Stat(a)
	bi, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ai, bi)
}

// readFile reads a file of at most limit bytes, reporting what is wrong with
// it under the source's name.
func readFile(src *source, path string, limit int64, rep *report) ([]byte, bool) {
	refuse := func(code, text, hint string) ([]byte, bool) {
		rep.add(Problem{Pos: Pos{File: src.name}, Severity: SeverityError, Code: code, Text: text, Hint: hint})
		return nil, false
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return refuse(CodeReference, "cannot be read: "+cause(err), "")
	case info.IsDir():
		return refuse(CodeReference, "is a folder, and a file is expected", "")
	case !info.Mode().IsRegular():
		return refuse(CodeReference, "is not a regular file", "")
	case info.Size() > limit:
		return refuse(CodeSyntax, fmt.Sprintf("is %d MiB large, and at most %d MiB are read", info.Size()>>20, limit>>20), "is this the right file?")
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse(CodeReference, "cannot be read: "+cause(err), "")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // the file may grow while it is read
	switch {
	case err != nil:
		return refuse(CodeReference, "cannot be read: "+cause(err), "")
	case int64(len(data)) > limit:
		return refuse(CodeSyntax, fmt.Sprintf("is more than %d MiB large", limit>>20), "is this the right file?")
	}
	return data, true
}

// readTree reads a YAML file and substitutes its variables. It returns nil
// after reporting why there is no tree.
func (l *loader) readTree(src *source) *node {
	data, ok := readFile(src, src.name, MaxFileSize, &l.rep)
	if !ok {
		return nil
	}
	root := parseYAML(src, data, &l.rep)
	if root != nil {
		l.substitute(root)
	}
	return root
}

// substitute substitutes the variables of a tree.
func (l *loader) substitute(root *node) {
	s := &substitution{env: l.env, seen: map[*node]bool{}}
	s.tree(root, "")
	l.secrets = append(l.secrets, s.secrets...)
}

// settings reads and checks the config.yaml of a folder. It returns nil when
// there is none or it cannot be used.
func (l *loader) settings(dir string, layer Layer) *node {
	var found []string
	for _, name := range []string{"config.yml", "config.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			found = append(found, filepath.Join(dir, name))
		}
	}
	if len(found) == 0 {
		return nil
	}
	if len(found) == 2 {
		l.rep.add(Problem{
			Pos: Pos{File: found[1]}, Severity: SeverityWarning, Code: CodeNoEffect,
			Text: "is not read, because config.yml stands beside it", Hint: "keep one of them",
		})
	}
	root := l.readTree(l.source(found[0], layer))
	switch {
	case root == nil || root.kind == kindNull:
		return nil
	case root.kind != kindMap:
		l.rep.add(Problem{
			Pos: root.pos(), Severity: SeverityError, Code: CodeType,
			Text: fmt.Sprintf("is %s; it must be a mapping", root.kind), Hint: "its keys are " + strings.Join(l.shapes.of(reflect.TypeFor[Settings]()).keys(), ", "),
		})
		return nil
	}
	root = renameOld(root, &l.rep)
	// A variable that is missing in a part the agent does not use stops
	// nothing; in a part it does use the agent's own decoding reports it.
	d := l.decoder(SeverityWarning)
	d.toolType = ToolMCP
	d.block(root, rootPath(), reflect.New(reflect.TypeFor[Settings]()).Elem(), "")
	l.secrets = append(l.secrets, d.secrets...)
	return root
}

// testCases puts the cases of test_cases_file in the place of test_cases.
func (l *loader) testCases(root *node) *node {
	ref := root.get("test_cases_file")
	if ref == nil || ref.kind != kindText || ref.unresolved() || strings.TrimSpace(ref.text) == "" {
		return root
	}
	refuse := func(code, text, hint string) *node {
		l.rep.add(Problem{Path: "test_cases_file", Pos: ref.pos(), Severity: SeverityError, Code: code, Text: text, Hint: hint})
		return root
	}
	if inline := root.get("test_cases"); inline != nil && inline.kind != kindNull {
		return refuse(CodeConflict, "test_cases is given, too", "keep one of the two")
	}
	file := ref.src.resolve(ref.text)
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return refuse(CodeReference, notAFile(file, info, err), "the path is relative to the file that mentions it")
	}
	tree := l.readCases(l.source(file, LayerAgent))
	if tree == nil {
		return root
	}
	if cases := tree.get("test_cases"); cases != nil {
		for _, f := range tree.fields {
			if f.key != "test_cases" && !strings.HasPrefix(f.key, "x-") {
				l.rep.add(Problem{
					Path: f.key, Pos: f.keyPos(), Severity: SeverityError, Code: CodeUnknownKey,
					Text: "unknown key", Hint: "a file of test cases is a list, or a mapping with the key test_cases",
				})
			}
		}
		tree = cases
	}
	switch tree.kind {
	case kindNull:
		return root.with("test_cases", &node{kind: kindList, src: tree.src, line: tree.line, col: tree.col})
	case kindList:
		return root.with("test_cases", tree)
	}
	l.rep.add(Problem{
		Pos: tree.pos(), Severity: SeverityError, Code: CodeType,
		Text: "a file of test cases is a list, or a mapping with the key test_cases, and this is " + tree.kind.String(),
	})
	return root
}

// notAFile says why a path is not a file that can be read.
func notAFile(file string, info fs.FileInfo, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + absolute(file)
	case err != nil:
		return fmt.Sprintf("%s cannot be opened: %s", absolute(file), cause(err))
	case info.IsDir():
		return absolute(file) + " is a folder, and a file is expected"
	}
	return absolute(file) + " is not a regular file"
}

// absolute returns path as an absolute path, for messages that say where a
// file was looked for.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// flags returns the execution settings of the command line as a tree.
func (l *loader) flags() *node {
	if len(l.opts.Flags) == 0 {
		return nil
	}
	out := &node{kind: kindMap, src: &source{name: "command line", layer: LayerFlag}}
	for _, f := range l.opts.Flags {
		src := &source{name: f.Name, dir: l.opts.WorkDir, home: l.opts.Home, layer: LayerFlag}
		out.fields = append(out.fields, field{key: f.Key, value: &node{kind: kindText, plain: true, text: f.Value, src: src}})
	}
	return out
}

// model returns a model section with the name that the command line gives.
func (l *loader) model(n *node) *node {
	if l.opts.Model == "" || n.kind != kindMap {
		return n
	}
	src := &source{name: "--model", dir: l.opts.WorkDir, home: l.opts.Home, layer: LayerFlag}
	return n.with("name", &node{kind: kindText, text: l.opts.Model, src: src})
}

// execution returns the execution settings of the HOLODECK_* variables as a
// tree.
func (l *loader) execution(workDir string) *node {
	out := &node{kind: kindMap, src: &source{name: "environment", layer: LayerEnvironment}}
	for _, key := range l.shapes.of(reflect.TypeFor[Execution]()).keys() {
		name := "HOLODECK_" + strings.ToUpper(key)
		if value, ok := l.env.lookup(name); ok && value != "" {
			src := &source{name: name, dir: workDir, home: l.opts.Home, layer: LayerEnvironment}
			out.fields = append(out.fields, field{key: key, value: &node{kind: kindText, plain: true, text: value, src: src, secret: secretName(name)}})
		}
	}
	if len(out.fields) == 0 {
		return nil
	}
	return out
}

// finish makes what the files say into what an agent is.
func (l *loader) finish(a *Agent) {
	a.Execution.CacheDir = l.cacheDir(a)
	if a.Hooks == nil && a.Claude != nil {
		a.Hooks = a.Claude.Hooks
	}
	for _, tool := range a.Tools {
		switch t := tool.(type) {
		case *MCPTool:
			t.ToolBase.Timeout = float64(t.RequestTimeout)
			l.envFile(t)
		case *PromptTool:
			l.promptTool(a, t)
		case *SkillTool:
			if !t.Wrote("timeout") { // it makes model calls, and may ask a person
				t.ToolBase.Timeout = float64(a.Execution.TurnTimeout)
			}
		}
	}
	l.prompt(a)
	l.schemas(a)
	l.runtime(a)
	l.check(a)
}

// cacheDir returns the cache folder as a path from the working folder.
func (l *loader) cacheDir(a *Agent) string {
	if dir := a.Execution.CacheDir; a.Execution.Wrote("cache_dir") {
		return a.Execution.File("cache_dir", dir)
	}
	return l.source(a.File, LayerAgent).resolve(a.Execution.CacheDir)
}

// runtime resolves the backend.
func (l *loader) runtime(a *Agent) {
	if a.Model == nil || !slices.Contains(a.Model.Provider.Values(), string(a.Model.Provider)) {
		return // reported as such
	}
	var explicit Backend
	if a.Backend != nil {
		explicit = *a.Backend
	}
	backend, err := Resolve(a.Model.Provider, explicit)
	if err != nil {
		l.rep.add(a.Problem(SeverityError, "backend", CodeConflict, err.Error(), ""))
		return
	}
	a.Runtime = backend
}
