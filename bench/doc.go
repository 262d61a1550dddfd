// Package bench holds whole-program benchmarks: each builds the real binary
// once, runs it as a user would, and reports the process's own CPU time and
// peak memory. The figures in docs/performance.md come from
//
//	go test -bench . ./bench
//
// It owns no code of the product.
package bench
