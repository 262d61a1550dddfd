package mcp_test

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkCall is what a call costs on each transport: the tool says back what it
// is given.
func BenchmarkCall(b *testing.B) {
	for _, transport := range transports() {
		b.Run(string(transport), func(b *testing.B) {
			echo := find(b, over(b, transport, "alpha").connect(b), "files__echo")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := echo.Call(b.Context(), []byte(`{"text":"hello"}`)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkThousandCalls is a thousand calls side by side on one connection.
func BenchmarkThousandCalls(b *testing.B) {
	for _, transport := range transports() {
		b.Run(string(transport), func(b *testing.B) {
			echo := find(b, over(b, transport, "alpha").connect(b), "files__echo")
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
