// Command modelserver serves a file of rules (see docs/offline.md) as a model of
// every provider: OpenAI, Azure, Anthropic, Google and Ollama. It prints its
// address and serves until it is interrupted. Benchmarks and checks against
// other programs use it.
//
//	modelserver RULES.yaml [HOST:PORT]
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/holodeck-go/holodeck/internal/llm/llmtest"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: modelserver RULES.yaml [HOST:PORT]")
		os.Exit(2)
	}
	address := "127.0.0.1:0"
	if len(os.Args) == 3 {
		address = os.Args[2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, os.Args[1], address)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1)
	}
}

// serve serves the rules at an address until ctx ends.
func serve(ctx context.Context, rules, address string) error {
	data, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	s, problems := script.ParseYAML(data)
	if len(problems) > 0 {
		return fmt.Errorf("%s:%s", rules, problems[0])
	}
	handler, err := llmtest.NewHandler(s, llmtest.Options{Forget: true})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: handler}
	stopped := context.AfterFunc(ctx, func() {
		handler.Close()
		server.Close()
	})
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
