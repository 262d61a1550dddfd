package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

// verdict is what validate says of one agent. Its JSON form is what --json
// prints, one a line.
type verdict struct {
	Path     string           `json:"path"`
	File     string           `json:"file,omitempty"` // empty when there is none
	OK       bool             `json:"ok"`
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Problems []config.Problem `json:"problems"`
}

func newValidateCmd(a *app) *cobra.Command {
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Check agent files without running anything",
		Long: "Validate checks agent files and everything they refer to: keys, values, variables,\n" +
			"files, and whether the parts fit together. It starts nothing and contacts nobody.\n" +
			"A PATH is an agent file or the folder of one; without any it is the working folder.",
		Example: "  holodeck validate\n  holodeck validate examples/support --json\n  holodeck validate agents/* --strict",
		RunE: func(_ *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				paths = []string{"."}
			}
			opts := a.loadOptions()
			opts.Strict = strict
			ok := true
			for _, path := range paths {
				v := validate(path, opts)
				ok = ok && v.OK
				if err := printVerdict(a.Stdout, v, asJSON); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
			}
			if !ok {
				return exitStatus(exitUsage)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object an agent")
	cmd.Flags().BoolVar(&strict, "strict", false, "let warnings count as errors, and require embedding_provider on claude and google_adk")
	return cmd
}

// validate checks one agent. Under strict a warning makes it fail, too.
func validate(path string, opts check.Options) verdict {
	agent, problems := check.Load(path, opts)
	v := verdict{Path: path, Problems: problems}
	if agent != nil {
		v.File = agent.File
	}
	if problems == nil {
		v.Problems = []config.Problem{}
	}
	for _, p := range problems {
		if p.Severity == config.SeverityError {
			v.Errors++
		} else {
			v.Warnings++
		}
	}
	v.OK = v.Errors == 0 && (v.Warnings == 0 || !opts.Strict)
	return v
}

// printVerdict prints the problems of an agent and one line that sums them up.
func printVerdict(w io.Writer, v verdict, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
	for _, p := range v.Problems {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return err
		}
	}
	name, sum := v.File, "ok"
	if name == "" {
		name = v.Path
	}
	if v.Errors > 0 || !v.OK {
		sum = countProblems(v.Problems)
	} else if v.Warnings > 0 {
		sum = "ok, " + plural(v.Warnings, "warning")
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", name, sum)
	return err
}
