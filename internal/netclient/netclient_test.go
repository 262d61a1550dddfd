package netclient_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/netclient"
)

// variables returns a getenv of a map.
func variables(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

func newClient(t *testing.T, m map[string]string) *http.Client {
	t.Helper()
	c, err := netclient.New(variables(m))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), nil
}

func TestRequestsGoThroughTheProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "by proxy to "+r.Host)
	}))
	defer proxy.Close()
	for name, variable := range map[string]string{"upper case": "HTTP_PROXY", "lower case": "http_proxy"} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, map[string]string{variable: proxy.URL, "NO_PROXY": "direct.invalid"})
			if got, err := get(t, c, "http://models.invalid/v1"); err != nil || got != "by proxy to models.invalid" {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := get(t, c, "http://direct.invalid/"); err == nil {
				t.Error("NO_PROXY was not heeded")
			}
		})
	}
}

func TestAnOwnCertificateIsTrusted(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, newClient(t, nil), server.URL); err == nil {
		t.Error("an unknown certificate was trusted")
	}
	for _, name := range []string{netclient.CAVariable, "SSL_CERT_FILE"} {
		if got, err := get(t, newClient(t, map[string]string{name: file}), server.URL); err != nil || got != "hello" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestBadVariablesAreNamed(t *testing.T) {
	const password = "not-to-be-shown"
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		variables map[string]string
		want      []string
	}{
		"no such file":   {map[string]string{netclient.CAVariable: filepath.Join(dir, "none.pem")}, []string{netclient.CAVariable, "none.pem"}},
		"no certificate": {map[string]string{"SSL_CERT_FILE": empty}, []string{"SSL_CERT_FILE", "empty.pem", "no PEM certificate"}},
		"a bad proxy":    {map[string]string{"https_proxy": "http://someone:" + password + "@[::1"}, []string{"https_proxy", "http://host:port"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := netclient.New(variables(tt.variables))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}
