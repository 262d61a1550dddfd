package netclient

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"golang.org/x/net/http/httpproxy"
)

// CAVariable names a file of PEM certificates that are trusted beside the
// system's own. SSL_CERT_FILE, which other programs read, does the same.
const CAVariable = "HOLODECK_CA_FILE"

// maxIdlePerHost is how many connections to one host are kept for the next
// call. It is at least as many as calls usually run side by side: a connection
// that is not kept costs a handshake.
const maxIdlePerHost = 64

// New returns a client that heeds the variables getenv knows: HTTP_PROXY,
// HTTPS_PROXY and NO_PROXY (in capitals or not), HOLODECK_CA_FILE and
// SSL_CERT_FILE. The error names the variable whose value cannot be used.
//
// Whoever calls New calls CloseIdleConnections of the client in the end.
func New(getenv func(name string) string) (*http.Client, error) {
	proxy, err := proxies(getenv)
	if err != nil {
		return nil, err
	}
	roots, err := trusted(getenv)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	t.MaxIdleConnsPerHost = maxIdlePerHost
	if roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t}, nil
}

// proxies returns which proxy a URL is reached through.
func proxies(getenv func(string) string) (func(*url.URL) (*url.URL, error), error) {
	either := func(upper, lower string) (value, name string) {
		if v := getenv(upper); v != "" {
			return v, upper
		}
		return getenv(lower), lower
	}
	var c httpproxy.Config
	var httpName, httpsName string
	c.HTTPProxy, httpName = either("HTTP_PROXY", "http_proxy")
	c.HTTPSProxy, httpsName = either("HTTPS_PROXY", "https_proxy")
	c.NoProxy, _ = either("NO_PROXY", "no_proxy")
	// Where a script is answered over HTTP, HTTP_PROXY comes from whoever asks.
	c.CGI = getenv("REQUEST_METHOD") != ""
	for _, v := range []struct{ value, name string }{{c.HTTPProxy, httpName}, {c.HTTPSProxy, httpsName}} {
		if _, err := url.Parse(v.value); err != nil && v.value != "" {
			// The value may hold a password, so it is not shown.
			return nil, fmt.Errorf("%s is not the address of a proxy; write it as http://host:port", v.name)
		}
	}
	return c.ProxyFunc(), nil
}

// trusted returns the certificates to trust, or nil for the system's alone.
func trusted(getenv func(string) string) (*x509.CertPool, error) {
	var pool *x509.CertPool
	for _, name := range []string{CAVariable, "SSL_CERT_FILE"} {
		file := getenv(name)
		if file == "" {
			continue
		}
		if pool == nil {
			var err error
			if pool, err = x509.SystemCertPool(); err != nil {
				pool = x509.NewCertPool() // a system without any
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; name a file of PEM certificates", name, err)
		}
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s: %s holds no PEM certificate; name a file that does", name, file)
		}
	}
	return pool, nil
}
