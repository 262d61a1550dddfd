package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/fetch"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
)

// authVariable is the environment variable whose value is sent to the server of
// a source as its Authorization header.
const authVariable = "HOLODECK_HTTP_AUTH_HEADER"

// maxRecordsDownload is the largest file of records that is fetched, in bytes,
// but where larger files are allowed.
const maxRecordsDownload = 500 << 20

// remote is a source that is fetched.
type remote struct {
	address string
	opts    fetch.Options
}

// newRemote returns how the source of a tool is fetched, or nil when it is here.
func newRemote(a *config.Agent, s settings, opts Options, limits Limits) (*remote, error) {
	if s.address == "" {
		return nil, nil
	}
	dir, err := stateDir(a, opts)
	if err != nil {
		return nil, err
	}
	r := &remote{address: s.address, opts: fetch.Options{
		HTTP: opts.HTTP, Dir: filepath.Join(dir, "cache", "downloads"), Limit: limits.File.FileBytes,
		Timeout: time.Duration(a.Execution.DownloadTimeout) * time.Second, Authorization: a.Variable(authVariable),
	}}
	if s.records != nil {
		r.opts.Limit = max(maxRecordsDownload, r.opts.Limit)
	}
	return r, nil
}

// collect fetches the source. A copy from before that stands in for it is told.
func (r *remote) collect(ctx context.Context, tell func(format string, args ...any)) (*walk, error) {
	name := fetch.Shown(r.address)
	f, err := fetch.Get(ctx, r.address, r.opts)
	if err != nil {
		return nil, err
	}
	if f.Stale != "" {
		tell("%s %s", name, f.Stale)
	}
	extension := convert.ExtensionOf(f.Name, f.ContentType)
	if extension == "" {
		return nil, fmt.Errorf("source %s is of the type %s, which this build does not read", name, cmp.Or(f.ContentType, "unknown"))
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return nil, fmt.Errorf("open what was fetched from %s: %w", name, err)
	}
	return &walk{files: []sourceFile{{path: f.Path, name: name, info: info, extension: extension}}}, nil
}

// collect returns the files of the source. One that is fetched is so once a
// refresh.
func (v *searchTool) collect(ctx context.Context) (*walk, error) {
	if v.remote == nil {
		return collect(v.agentDir, v.settings.source, v.settings.path, v.settings.pattern)
	}
	if v.fetched == nil {
		var err error
		if v.fetched, err = v.remote.collect(ctx, v.tell); err != nil {
			return nil, err
		}
	}
	return v.fetched, nil
}
