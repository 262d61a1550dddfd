// Command holodeck builds, tests, serves and ships agents that are described
// in an agent.yaml.
package main

import (
	"os"

	"github.com/holodeck-go/holodeck/internal/cli"
)

// version is set by the release build.
var version = ""

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System(version)))
}
