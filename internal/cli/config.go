package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/check"
	"github.com/holodeck-go/holodeck/internal/config"
)

func newConfigCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the configuration of an agent",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigShowCmd(a))
	return cmd
}

func newConfigShowCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [PATH]",
		Short: "Print every key in force and where its value comes from",
		Long: "Show prints the effective configuration of an agent: every key that has a value,\n" +
			"the value, and where it comes from (the agent file, config.yaml of the project or\n" +
			"of the user, the environment, or the default). Secrets are masked.",
		Example: "  holodeck config show\n  holodeck config show examples/support --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := "."
			if len(args) == 1 {
				path = args[0]
			}
			agent, problems := check.Load(path, a.loadOptions())
			if config.HasErrors(problems) {
				return &config.Error{Problems: problems}
			}
			if err := printSettings(a.Stdout, agent, asJSON); err != nil {
				return fmt.Errorf("write the configuration: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printSettings prints the effective configuration: a line a key, or JSON.
func printSettings(w io.Writer, agent *config.Agent, asJSON bool) error {
	settings := agent.Effective()
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			File     string           `json:"file"`
			Settings []config.Setting `json:"settings"`
		}{agent.File, settings})
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for _, s := range settings {
		line.Reset()
		if err := enc.Encode(s.Value); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		from := string(s.Layer)
		if s.Layer != config.LayerDefault {
			from += ", " + s.Pos.String()
		}
		if _, err := fmt.Fprintf(w, "%s: %s  # %s\n", s.Path, bytes.TrimSpace(line.Bytes()), from); err != nil {
			return err
		}
	}
	return nil
}
