// Mcpstart measures how long the MCP servers of an agent file take to start, one
// after another and side by side, and prints both and their ratio.
//
//	mcpstart [-rounds N] AGENT
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/tool/mcp"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each is measured; the shortest counts")
	flag.Parse()
	if err := measure(flag.Arg(0), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "mcpstart:", err)
		os.Exit(1)
	}
}

func measure(path string, rounds int) error {
	a, problems := config.Load(path, config.Options{Environ: os.Environ()})
	if config.HasErrors(problems) {
		return &config.Error{Problems: problems}
	}
	var servers []*config.MCPTool
	for _, t := range a.Tools {
		if server, ok := t.(*config.MCPTool); ok && server.Transport == config.MCPStdio {
			servers = append(servers, server)
		}
	}
	var serial, parallel time.Duration
	for round := range rounds {
		for _, way := range []struct {
			best  *time.Duration
			start func(context.Context, []*mcp.Client) error
		}{{&serial, oneAfterAnother}, {&parallel, sideBySide}} {
			took, err := start(a, servers, way.start)
			if err != nil {
				return err
			}
			if round == 0 || took < *way.best {
				*way.best = took
			}
		}
	}
	fmt.Printf("%d servers: %.2f s one after another, %.2f s side by side: %.1f times faster\n",
		len(servers), serial.Seconds(), parallel.Seconds(), serial.Seconds()/parallel.Seconds())
	return nil
}

// start starts the servers in a way, lists their tools and ends them. It returns
// how long it took until all were there.
func start(a *config.Agent, servers []*config.MCPTool, way func(context.Context, []*mcp.Client) error) (took time.Duration, err error) {
	clients := make([]*mcp.Client, len(servers))
	for i, s := range servers {
		if clients[i], err = mcp.New(agent.SystemEnv(slog.New(slog.DiscardHandler)), s, mcp.Options{Dir: a.Dir, Lookup: os.LookupEnv}); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, clients[i].Close()) }()
	}
	begin := time.Now()
	err = way(context.Background(), clients)
	return time.Since(begin), err
}

func oneAfterAnother(ctx context.Context, clients []*mcp.Client) error {
	var errs []error
	for _, c := range clients {
		errs = append(errs, c.Connect(ctx))
	}
	return errors.Join(errs...)
}

func sideBySide(ctx context.Context, clients []*mcp.Client) error {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { errs[i] = c.Connect(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
