package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/durable"
)

const (
	tries        = 3
	maxRedirects = 5
	// firstWait is how long the first pause between tries is; the next is twice
	// as long, and none that a server asks for is longer than longestWait.
	firstWait, longestWait = time.Second, 30 * time.Second
)

// Options says how files are fetched.
type Options struct {
	// HTTP makes the requests; nil is http.DefaultClient.
	HTTP *http.Client
	// Dir is where files are kept.
	Dir string
	// Limit is the largest file, in bytes.
	Limit int64
	// Timeout bounds all tries together; zero is no bound.
	Timeout time.Duration
	// Authorization, if set, is sent as that header.
	Authorization string
	// Once uses a file that was fetched before without asking the server.
	Once bool
	// Kept asks no server at all: a file that was not fetched before is an error.
	Kept bool
	// Wait pauses between tries; nil waits by the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// File is a fetched file.
type File struct {
	// Path is where it is kept. Another content has another path.
	Path string
	// Name is the last part of the address it was found at, and ContentType what
	// the server says it is. Both may be empty.
	Name, ContentType string
	// Stale says, when it is not empty, why a copy from before was used.
	Stale string
}

// kept is what is known of a file that was fetched.
type kept struct {
	URL          string `json:"url"`
	Body         string `json:"body"` // file name
	Name         string `json:"name"`
	ContentType  string `json:"content_type"`
	ETag         string `json:"etag"`
	LastModified string `json:"last_modified"`
}

// Get returns the file at an address. The error names the address without its
// password and query, which may be secret.
func Get(ctx context.Context, address string, opts Options) (File, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return File{}, fmt.Errorf("%q is not an address that begins with http:// or https://", Shown(address))
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return File{}, fmt.Errorf("keep %s: %w", Shown(address), err)
	}
	g := &getter{opts: opts, address: u, client: restricted(opts.HTTP)}
	sum := sha256.Sum256([]byte(address))
	g.stem = hex.EncodeToString(sum[:8])
	// Whoever wants the same file at the same time gets it once.
	lock, err := durable.Lock(ctx, filepath.Join(opts.Dir, g.stem+".lock"), durable.LockOptions{})
	if err != nil {
		return File{}, fmt.Errorf("keep %s: %w", Shown(address), err)
	}
	f, err := g.get(ctx)
	return f, errors.Join(err, lock.Unlock())
}

// get returns the file, from the server or from before.
func (g *getter) get(ctx context.Context) (File, error) {
	have, ok := g.load()
	switch {
	case ok && (g.opts.Once || g.opts.Kept):
		return g.file(have), nil
	case g.opts.Kept:
		return File{}, fmt.Errorf("%s was not fetched before, and nothing is fetched here", Shown(g.address.String()))
	}
	f, err := g.inTime(ctx, have)
	if err == nil {
		return f, nil
	}
	if ok && ctx.Err() == nil && !errors.As(err, new(*refusedError)) {
		f = g.file(have)
		f.Stale = fmt.Sprintf("could not be fetched anew (%v); the copy from before is used", err)
		return f, nil
	}
	return File{}, fmt.Errorf("fetch %s: %w", Shown(g.address.String()), err)
}

// Shown returns an address as people may see it: without user, query and
// fragment.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		before, _, _ := strings.Cut(address, "?")
		return before
	}
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	return u.String()
}

// refusedError is a definite answer that a file cannot be had: the copy from
// before does not stand in for it.
type refusedError struct{ text string }

// Error implements error.
func (e *refusedError) Error() string { return e.text }

// getter fetches one file.
type getter struct {
	opts    Options
	address *url.URL
	client  *http.Client
	stem    string // of the names of its files
}

// restricted returns the client, with a bound on redirects.
func restricted(client *http.Client) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return &refusedError{fmt.Sprintf("is redirected more than %d times; give the address where it ends", maxRedirects)}
		case req.URL.Scheme != "https" && req.URL.Scheme != "http":
			return &refusedError{"is redirected to an address that begins with " + req.URL.Scheme + ":, which is not followed; give one that begins with http:// or https://"}
		case req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https":
			return &refusedError{"is redirected from https to " + req.URL.Scheme + ", which is not followed; give that address, if what is sent need not be secret"}
		}
		return nil
	}
	return &own
}

// load returns what is known of the file, if it is there.
func (g *getter) load() (kept, bool) {
	var k kept
	data, err := os.ReadFile(filepath.Join(g.opts.Dir, g.stem+".json"))
	if err != nil || json.Unmarshal(data, &k) != nil || k.Body == "" || k.Body != filepath.Base(k.Body) {
		return kept{}, false
	}
	if _, err := os.Stat(filepath.Join(g.opts.Dir, k.Body)); err != nil {
		return kept{}, false
	}
	return k, true
}

// file returns a file that is kept.
func (g *getter) file(k kept) File {
	return File{Path: filepath.Join(g.opts.Dir, k.Body), Name: k.Name, ContentType: k.ContentType}
}

// inTime asks the server within the timeout.
func (g *getter) inTime(ctx context.Context, have kept) (File, error) {
	if g.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.opts.Timeout, fmt.Errorf("it took longer than %s", g.opts.Timeout))
		defer cancel()
	}
	f, err := g.retry(ctx, have)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return f, err
}

// retry asks the server until it gives an answer that counts.
func (g *getter) retry(ctx context.Context, have kept) (File, error) {
	wait := firstWait
	for try := 1; ; try++ {
		f, after, err := g.try(ctx, have)
		if err == nil || try == tries || ctx.Err() != nil || errors.As(err, new(*refusedError)) {
			return f, err
		}
		if err := g.wait(ctx, min(max(wait, after), longestWait)); err != nil {
			return File{}, err
		}
		wait *= 2
	}
}

func (g *getter) wait(ctx context.Context, d time.Duration) error {
	if g.opts.Wait != nil {
		return g.opts.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// try asks the server once. After is how long it asks to wait.
func (g *getter) try(ctx context.Context, have kept) (f File, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.address.String(), nil)
	if err != nil {
		return File{}, 0, &refusedError{err.Error()}
	}
	if g.opts.Authorization != "" {
		req.Header.Set("Authorization", g.opts.Authorization)
	}
	if have.ETag != "" {
		req.Header.Set("If-None-Match", have.ETag)
	}
	if have.LastModified != "" {
		req.Header.Set("If-Modified-Since", have.LastModified)
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return File{}, 0, unanswered(err)
	}
	defer resp.Body.Close() // what counts of it is read
	switch code := resp.StatusCode; {
	case code == http.StatusNotModified && have.Body != "":
		return g.file(have), 0, nil
	case code == http.StatusOK:
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date is not worth more
		return File{}, time.Duration(seconds) * time.Second, fmt.Errorf("the server answers HTTP %s; try again later", resp.Status)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return File{}, 0, &refusedError{fmt.Sprintf("the server answers HTTP %s; it asks for credentials, which HOLODECK_HTTP_AUTH_HEADER can hold", resp.Status)}
	default:
		return File{}, 0, &refusedError{"the server answers HTTP " + resp.Status + "; check the address"}
	}
	if resp.ContentLength > g.opts.Limit {
		return File{}, 0, g.tooLarge()
	}
	f, err = g.keep(resp)
	return f, 0, err
}

func (g *getter) tooLarge() error {
	return &refusedError{fmt.Sprintf("is larger than %.4g MiB; fetch the part that matters by hand", float64(g.opts.Limit)/(1<<20))}
}

// unanswered says why a request had no answer, without the whole address, which
// may hold a secret.
func unanswered(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return &refusedError{"the server speaks http there, and no https; write the address with http://, or with the port where it speaks https"}
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return fmt.Errorf("there is no connection (%w); check the address, and whether its server runs", err)
	}
	return err
}

// keep stores what a server sent, and then what is known of it, so that a
// process that is killed leaves the file of before.
func (g *getter) keep(resp *http.Response) (File, error) {
	k := kept{
		URL: Shown(g.address.String()), ContentType: resp.Header.Get("Content-Type"),
		ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"),
		Name: cmp.Or(baseName(g.address), baseName(resp.Request.URL)),
	}
	hash := sha256.New()
	const private fs.FileMode = 0o600
	temp := filepath.Join(g.opts.Dir, g.stem+".part")
	var n int64
	var cut bool
	err := durable.Replace(temp, private, func(w io.Writer) (err error) {
		n, err = io.Copy(io.MultiWriter(w, hash), io.LimitReader(resp.Body, g.opts.Limit+1))
		cut = n > g.opts.Limit
		return err
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return File{}, closedEarly(n, resp.ContentLength)
	}
	if err == nil && cut {
		return File{}, errors.Join(g.tooLarge(), os.Remove(temp))
	}
	if err != nil {
		return File{}, err
	}
	k.Body = g.stem + "-" + hex.EncodeToString(hash.Sum(nil)[:8])
	body := filepath.Join(g.opts.Dir, k.Body)
	if _, missing := os.Stat(body); missing != nil {
		err = os.Rename(temp, body)
	} else { // the content of before: it keeps its time stamp
		err = os.Remove(temp)
	}
	data, encodeErr := json.Marshal(k)
	if err := errors.Join(err, encodeErr); err != nil {
		return File{}, &refusedError{fmt.Sprintf("cannot be kept: %v", err)}
	}
	if err := durable.WriteFile(filepath.Join(g.opts.Dir, g.stem+".json"), data, private); err != nil {
		return File{}, &refusedError{fmt.Sprintf("cannot be kept: %v", err)}
	}
	g.removeOthers(k.Body)
	return g.file(k), nil
}

// closedEarly says that a file was cut off. Of is how long it was to be, or
// negative when the server did not say.
func closedEarly(n, of int64) error {
	if of < 0 {
		return fmt.Errorf("the server closed the connection early, after %d bytes; try again later", n)
	}
	return fmt.Errorf("the server closed the connection early, after %d of %d bytes; try again later", n, of)
}

// removeOthers removes contents of before. Where it cannot, they take room and
// do no harm.
func (g *getter) removeOthers(body string) {
	old, err := filepath.Glob(filepath.Join(g.opts.Dir, g.stem+"-*"))
	if err != nil {
		return
	}
	for _, file := range old {
		if filepath.Base(file) != body {
			_ = os.Remove(file) // see above
		}
	}
}

// baseName returns the last part of an address that has an extension, or "".
func baseName(u *url.URL) string {
	name := path.Base(u.Path)
	if path.Ext(name) == "" {
		return ""
	}
	return name
}
