package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/fetch"
)

// server answers with what handle writes.
func server(t *testing.T, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s
}

// options keeps files in a folder of the test and does not wait.
func options(t *testing.T) fetch.Options {
	t.Helper()
	return fetch.Options{Dir: filepath.Join(t.TempDir(), "kept"), Limit: 1000, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// content returns what a file holds.
func content(t *testing.T, f fetch.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAFileIsSentOnceUntilItChanges(t *testing.T) {
	text, sent := "one", 0
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf("%q", text)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		w.Header().Set("Content-Type", "text/markdown")
		fmt.Fprint(w, text)
	})
	opts := options(t)
	get := func() fetch.File {
		t.Helper()
		f, err := fetch.Get(t.Context(), s.URL+"/docs/a.md?token=secret", opts)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := get()
	if first.Name != "a.md" || first.ContentType != "text/markdown" || content(t, first) != "one" {
		t.Errorf("%+v", first)
	}
	if again := get(); again != first || sent != 1 {
		t.Errorf("%+v, sent %d times", again, sent)
	}
	text = "two"
	changed := get()
	if changed.Path == first.Path || content(t, changed) != "two" {
		t.Errorf("%+v: %q", changed, content(t, changed))
	}
	if files, err := os.ReadDir(opts.Dir); err != nil || len(files) != 3 { // the file, what is known of it, and the lock
		t.Errorf("kept %v, %v", files, err)
	}
	for _, file := range []string{first.Path, filepath.Dir(first.Path)} {
		if strings.Contains(file, "secret") {
			t.Errorf("the path %s has the query", file)
		}
	}
	s.Close()
	for _, opts.Once = range []bool{true, false} {
		opts.Kept = !opts.Once
		if f := get(); f != changed {
			t.Errorf("without a server: %+v", f)
		}
	}
	if _, err := fetch.Get(t.Context(), s.URL+"/other", opts); err == nil || err.Error() != s.URL+"/other was not fetched before, and nothing is fetched here" {
		t.Errorf("error %v", err)
	}
}

func TestRevalidationByDate(t *testing.T) {
	const date = "Mon, 02 Nov 2026 10:00:00 GMT"
	sent := 0
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-Modified-Since") == date {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		w.Header().Set("Last-Modified", date)
	})
	opts := options(t)
	for range 2 {
		if _, err := fetch.Get(t.Context(), s.URL, opts); err != nil {
			t.Fatal(err)
		}
	}
	if sent != 1 {
		t.Errorf("sent %d times", sent)
	}
}

func TestFailuresOfTheServerAreTriedAgain(t *testing.T) {
	asked := 0
	s := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "there")
	})
	opts := options(t)
	var waits []time.Duration
	opts.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	f, err := fetch.Get(t.Context(), s.URL+"/a", opts)
	if err != nil || content(t, f) != "there" || fmt.Sprint(waits) != "[7s 7s]" {
		t.Errorf("%v after waiting %v", err, waits)
	}
	asked = -100
	_, err = fetch.Get(t.Context(), s.URL+"/b?key=secret", opts)
	if want := "fetch " + s.URL + "/b: the server answers HTTP 503 Service Unavailable; try again later"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAServerThatIsGoneLeavesTheCopy(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "copy") })
	opts := options(t)
	if _, err := fetch.Get(t.Context(), s.URL, opts); err != nil {
		t.Fatal(err)
	}
	s.Close()
	f, err := fetch.Get(t.Context(), s.URL, opts)
	if err != nil || content(t, f) != "copy" || !strings.Contains(f.Stale, "could not be fetched anew") {
		t.Errorf("%+v, %v", f, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch.Get(ctx, s.URL, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestATimeout(t *testing.T) {
	hang := make(chan struct{})
	slow := false
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		if slow {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, "copy")
	})
	defer close(hang)
	opts := options(t)
	if _, err := fetch.Get(t.Context(), s.URL+"/kept", opts); err != nil {
		t.Fatal(err)
	}
	slow = true
	opts.Timeout = 30 * time.Millisecond
	if f, err := fetch.Get(t.Context(), s.URL+"/kept", opts); err != nil || !strings.Contains(f.Stale, "it took longer than 30ms") {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := fetch.Get(t.Context(), s.URL+"/new", opts); err == nil || !strings.Contains(err.Error(), "it took longer than 30ms") {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/large":
			w.Header().Set("Content-Length", "5000")
			fmt.Fprint(w, strings.Repeat("x", 5000))
		case "/endless":
			for range 100 {
				fmt.Fprint(w, strings.Repeat("x", 100))
				w.(http.Flusher).Flush()
			}
		case "/elsewhere":
			http.Redirect(w, r, "ftp://example.com/a.md", http.StatusFound)
		case "/private":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	secure := httptest.NewTLSServer(http.RedirectHandler(s.URL+"/large", http.StatusFound))
	t.Cleanup(secure.Close)
	opts := options(t)
	opts.HTTP = secure.Client()
	opts.Wait = func(context.Context, time.Duration) error { return errors.New("tried again") }
	for address, want := range map[string]string{
		s.URL + "/loop":      "is redirected more than 5 times; give the address where it ends",
		s.URL + "/elsewhere": "is redirected to an address that begins with ftp:, which is not followed; give one",
		s.URL + "/large":     "is larger than 0.0009537 MiB",
		s.URL + "/endless":   "is larger than 0.0009537 MiB",
		s.URL + "/private":   "HOLODECK_HTTP_AUTH_HEADER",
		s.URL + "/gone":      "the server answers HTTP 404 Not Found; check the address",
		secure.URL:           "is redirected from https to http, which is not followed; give that address",
		strings.Replace(s.URL, "http:", "https:", 1): "the server speaks http there, and no https; write the address with http://",
		"ftp://example.com":                          "is not an address that begins with http:// or https://",
		"http://":                                    "is not an address",
		"http://[":                                   "is not an address",
	} {
		_, err := fetch.Get(t.Context(), address, opts)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	files, err := os.ReadDir(opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".lock" {
			t.Errorf("kept %s", f.Name())
		}
	}
}

func TestAConnectionThatBreaks(t *testing.T) {
	asked := 0
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/long" {
			w.Header().Set("Content-Length", "500")
		}
		fmt.Fprint(w, "a beginning")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	opts := options(t)
	for path, want := range map[string]string{
		"/long":    "the server closed the connection early, after 11 of 500 bytes; try again later",
		"/chunked": "the server closed the connection early, after 11 bytes; try again later",
	} {
		if _, err := fetch.Get(t.Context(), s.URL+path, opts); err == nil || err.Error() != "fetch "+s.URL+path+": "+want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if asked != 6 {
		t.Errorf("asked %d times, want 3 for each", asked)
	}
	s.Close()
	if _, err := fetch.Get(t.Context(), s.URL, opts); err == nil || !strings.Contains(err.Error(), "check the address, and whether its server runs") {
		t.Errorf("a server that is away: %v", err)
	}
	files, err := os.ReadDir(opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".lock" {
			t.Errorf("kept %s", f.Name())
		}
	}
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	var got []string
	other := server(t, func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Authorization")) })
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	})
	opts := options(t)
	opts.Authorization = "Bearer x"
	if _, err := fetch.Get(t.Context(), s.URL, opts); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "|") != "Bearer x|" {
		t.Errorf("sent %q", got)
	}
}

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pass@example.com/a.md?sig=x#y": "https://example.com/a.md", "http://[?x": "http://[",
	} {
		if got := fetch.Shown(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
