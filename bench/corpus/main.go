// Command corpus validates every agent file under a folder, each with the
// variables of the .env.example beside it and no others, so that a collection
// of agents can be held against this build. It prints what validate prints and
// ends with 1 when an agent has an error, and with 3 when there is none.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/joho/godotenv"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: corpus DIR")
		os.Exit(2)
	}
	code, err := run(os.Stdout, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	os.Exit(code)
}

// run validates the agents under dir and returns the exit code.
func run(w io.Writer, dir string) (int, error) {
	files, err := agentFiles(dir)
	if err != nil {
		return 3, err
	}
	if len(files) == 0 {
		return 3, fmt.Errorf("there is no agent file under %s", dir)
	}
	failed := 0
	for _, file := range files {
		environ, err := exampleEnviron(filepath.Join(filepath.Dir(file), ".env.example"))
		if err != nil {
			return 3, err
		}
		_, problems := check.Load(file, check.Options{Options: config.Options{Environ: environ, WorkDir: filepath.Dir(file)}})
		for _, p := range problems {
			fmt.Fprintln(w, p)
		}
		result := "ok"
		if config.HasErrors(problems) {
			result = "FAILED"
			failed++
		}
		fmt.Fprintf(w, "%s: %s\n", file, result)
	}
	fmt.Fprintf(w, "%d agents, %d failed\n", len(files), failed)
	if failed > 0 {
		return 1, nil
	}
	return 0, nil
}

// agentFiles returns the agent files under dir, in order.
func agentFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && slices.Contains(config.AgentFiles(), d.Name()) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for agent files: %w", err)
	}
	return files, nil
}

// exampleEnviron returns the variables of a .env.example, as an environment.
// Without such a file there are none.
func exampleEnviron(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the example variables: %w", err)
	}
	values, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var environ []string
	for name, value := range values {
		environ = append(environ, name+"="+value)
	}
	return environ, nil
}
