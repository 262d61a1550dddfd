package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/holodeck-go/holodeck/internal/config"
)

// exposition is the page that Prometheus scrapes.
type exposition struct {
	server *http.Server
	done   chan error // what Serve returned
}

// expose offers the metrics at the address of the file.
func (t *Telemetry) expose(c *config.PrometheusExporter) (sdkmetric.Reader, error) {
	registry := prometheus.NewRegistry()
	reader, err := promexporter.New(promexporter.WithRegisterer(registry))
	if err != nil {
		return nil, fmt.Errorf("make the exporter: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port)))
	if err != nil {
		return nil, err
	}
	page := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	x := &exposition{
		server: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != c.Path {
				http.NotFound(w, r)
				return
			}
			page.ServeHTTP(w, r)
		}), ReadHeaderTimeout: 5 * time.Second},
		done: make(chan error, 1),
	}
	go func() { x.done <- x.server.Serve(listener) }()
	t.exposed = x
	return reader, nil
}

// Close ends the page and waits for its requests for a moment.
func (x *exposition) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := x.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = x.server.Close()
	}
	if served := <-x.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("close the page of prometheus: %w", err)
	}
	return nil
}
