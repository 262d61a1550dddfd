package mcp_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/netclient"
)

// BenchmarkCall is what a call costs on each transport: the tool says back what it
// is given.
func BenchmarkCall(b *testing.B) {
	for _, transport := range transports() {
		b.Run(string(transport), func(b *testing.B) {
			echo := echoOf(b, transport)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := echo.Call(b.Context(), []byte(`{"text":"hello"}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// echoOf returns the tool echo of a server over a transport, reached as the
// commands reach it.
func echoOf(b *testing.B, transport config.MCPTransport) agent.Tool {
	client, err := netclient.New(func(string) string { return "" })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.CloseIdleConnections)
	s := over(b, transport, "alpha")
	s.opts.HTTP = client
	return find(b, s.connect(b), "files__echo")
}

// BenchmarkThousandCalls is a thousand calls side by side on one connection.
func BenchmarkThousandCalls(b *testing.B) {
	for _, transport := range transports() {
		b.Run(string(transport), func(b *testing.B) {
			echo := echoOf(b, transport)
			for b.Loop() {
				var wg sync.WaitGroup
				for i := range 1000 {
					wg.Go(func() {
						if _, err := echo.Call(b.Context(), fmt.Appendf(nil, `{"text":"%d"}`, i)); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
			}
		})
	}
}
