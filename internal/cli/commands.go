package cli

import "github.com/spf13/cobra"

// commands returns the commands in the order in which help lists them.
func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newValidateCmd(a),
		newConfigCmd(a),
		newSchemaCmd(a),
		newRunCmd(a),
		newChatCmd(a),
		newTestCmd(a),
		newIndexCmd(a),
		newSearchCmd(a),
		newRunsCmd(a),
		newVersionCmd(a),
	}
}
