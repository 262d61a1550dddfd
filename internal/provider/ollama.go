package provider

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// ollamaPort is where an Ollama server listens when nobody says otherwise.
const ollamaPort = "11434"

// ollamaHost returns the address that a value of OLLAMA_HOST means. The server
// reads the variable too, so that it may be without a scheme or a port, or name
// all interfaces, of which a client takes this machine.
func ollamaHost(text string) (string, error) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	scheme, rest, ok := strings.Cut(text, "://")
	port := ollamaPort
	switch {
	case !ok:
		scheme, rest = "http", text
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return "", fmt.Errorf("is not an http or https address")
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host := hostport
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host = h
		if p != "" {
			if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
				return "", fmt.Errorf("has the port %q, which is not a number from 1 to 65535", p)
			}
			port = p
		}
	}
	host = strings.Trim(host, "[]")
	switch ip := net.ParseIP(host); {
	case host == "":
		host = "localhost"
	case ip != nil && ip.IsUnspecified():
		host = "localhost"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: strings.TrimRight("/"+path, "/")}
	if _, err := url.Parse(u.String()); err != nil {
		return "", fmt.Errorf("is not the address of a server")
	}
	return u.String(), nil
}
