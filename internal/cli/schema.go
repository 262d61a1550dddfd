package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holodeck-go/holodeck/internal/config"
)

func newSchemaCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of agent.yaml, for editors",
		Long: "Schema prints the JSON Schema (draft 2020-12) of an agent file. Saved as\n" +
			"agent.schema.json, an editor checks and completes files that begin with\n" +
			"# yaml-language-server: $schema=agent.schema.json",
		Example: "  holodeck schema > agent.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := a.Stdout.Write(config.JSONSchema()); err != nil {
				return fmt.Errorf("write the schema: %w", err)
			}
			return nil
		},
	}
}
