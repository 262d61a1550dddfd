package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instances is how many files are read at once. Each takes some 30 MB.
const instances = 2

// Engine reads PDF files. It is safe for concurrent use.
type Engine struct {
	cacheDir string

	mu     sync.Mutex
	pool   pdfium.Pool // nil until the first file
	cache  wazero.CompilationCache
	closed bool
}

// New returns an Engine that keeps PDFium's compiled form, some 20 MB, in
// cacheDir. An empty cacheDir keeps nothing.
func New(cacheDir string) *Engine { return &Engine{cacheDir: cacheDir} }

// Document is the text of a PDF.
type Document struct {
	// Text is Markdown.
	Text string
	// Pages are the offsets in Text at which the pages that were read begin.
	Pages []int
}

// Options says what is read.
type Options struct {
	// Pages are the pages to read, counted from 1, in that order; nil means all.
	Pages []int
	// TextBytes is the longest text, in bytes; zero means no limit.
	TextBytes int
}

// Read returns the text of a PDF. The error says what is wrong with the file
// and leaves its naming to the caller. Read gives up between two pages when ctx
// is done.
func (e *Engine) Read(ctx context.Context, data []byte, opts Options) (Document, error) {
	const header = 1024 // the mark may follow other bytes
	if !bytes.Contains(data[:min(len(data), header)], []byte("%PDF-")) {
		return Document{}, errors.New("is not a PDF; it has no %PDF- at its beginning")
	}
	in, err := e.instance(ctx)
	if err != nil {
		return Document{}, err
	}
	defer in.Close() // nothing can be lost
	opened, err := in.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return Document{}, refusal(err)
	}
	r := reader{in: in, doc: opened.Document, limit: opts.TextBytes}
	count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	if err != nil {
		return Document{}, refusal(err)
	}
	pages, err := chosen(opts.Pages, count.PageCount)
	if err != nil {
		return Document{}, err
	}
	for _, n := range pages {
		if ctx.Err() != nil {
			return Document{}, fmt.Errorf("could not be read to its end: %w", context.Cause(ctx))
		}
		if err := r.page(n); err != nil {
			return Document{}, err
		}
	}
	if len(pages) > 0 && !r.anyText() {
		return Document{}, errors.New("has no text, only pictures; give a PDF with text, such as one that a text recognition made")
	}
	return layOut(r.pages, r.bookmarks()), nil
}

// chosen returns the pages to read.
func chosen(wanted []int, count int) ([]int, error) {
	if wanted == nil {
		wanted = make([]int, count)
		for i := range wanted {
			wanted[i] = i + 1
		}
	}
	for _, n := range wanted {
		if n < 1 || n > count {
			return nil, fmt.Errorf("has no page %d; its pages are 1 to %d", n, count)
		}
	}
	return wanted, nil
}

// refusal says why PDFium did not open a file.
func refusal(err error) error {
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return errors.New("is encrypted; save it without its password")
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return errors.New("is encrypted in a way that cannot be read; save it without encryption")
	case errors.Is(err, pdfiumerrors.ErrFormat), errors.Is(err, pdfiumerrors.ErrFile), errors.Is(err, pdfiumerrors.ErrPage):
		return errors.New("is a damaged PDF; save it again with the program it came from")
	}
	return fmt.Errorf("cannot be read as a PDF: %w", err)
}

// instance returns a PDFium of one's own, and makes PDFium ready first if need
// be.
func (e *Engine) instance(ctx context.Context) (pdfium.Pdfium, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errors.New("the reader of PDFs is closed")
	}
	if e.pool == nil {
		if err := e.start(); err != nil {
			return nil, fmt.Errorf("make the reader of PDFs ready: %w", err)
		}
	}
	in, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("make the reader of PDFs ready: %w", err)
	}
	return in, nil
}

func (e *Engine) start() error {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	if e.cacheDir != "" {
		const private = 0o700
		if err := os.MkdirAll(e.cacheDir, private); err != nil {
			return err
		}
		cache, err := wazero.NewCompilationCacheWithDir(e.cacheDir)
		if err != nil {
			return err
		}
		e.cache = cache
		config = config.WithCompilationCache(cache)
	}
	var err error
	e.pool, err = webassembly.Init(webassembly.Config{
		MaxTotal: instances, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	return err
}

// Close frees PDFium. It is idempotent; no file may be in reading.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var err error
	if e.pool != nil {
		err = e.pool.Close()
	}
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

// reader reads the pages of one file.
type reader struct {
	in    pdfium.Pdfium
	doc   references.FPDF_DOCUMENT
	limit int // of text, in bytes; zero is none
	size  int
	pages []page
}

// page reads the runs of text of a page, counted from 1.
func (r *reader) page(n int) error {
	// PDFium knows fonts by rectangle, of one or more letters of one font on one
	// line, and words by letter.
	fonts, err := r.in.GetPageTextStructured(r.text(n, requests.GetPageTextStructuredModeRects))
	if err != nil {
		return fmt.Errorf("has a damaged page %d: %w", n, err)
	}
	letters, err := r.in.GetPageTextStructured(r.text(n, requests.GetPageTextStructuredModeChars))
	if err != nil {
		return fmt.Errorf("has a damaged page %d: %w", n, err)
	}
	p := page{number: n, runs: runsOf(fonts.Rects, letters.Chars)}
	if size, err := r.in.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: r.doc, Index: n - 1}); err == nil {
		p.height = size.Height
	}
	for _, run := range p.runs {
		r.size += len(run.text)
	}
	if r.limit > 0 && r.size > r.limit {
		return fmt.Errorf("has more than %d MiB of text; split it", r.limit>>20)
	}
	r.pages = append(r.pages, p)
	return nil
}

// text asks for the text of a page, counted from 1.
func (r *reader) text(n int, mode requests.GetPageTextStructuredMode) *requests.GetPageTextStructured {
	return &requests.GetPageTextStructured{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: r.doc, Index: n - 1}},
		Mode: mode, CollectFontInformation: mode == requests.GetPageTextStructuredModeRects,
	}
}

func (r *reader) anyText() bool {
	for _, p := range r.pages {
		if len(p.runs) > 0 {
			return true
		}
	}
	return false
}

// bookmarks returns the bookmarks of the file, to a bounded depth and number: a
// damaged outline can go round in circles. What is damaged is left out, since the
// text is there without it.
func (r *reader) bookmarks() []bookmark { return r.below(nil, nil, 1) }

func (r *reader) below(out []bookmark, parent *references.FPDF_BOOKMARK, level int) []bookmark {
	const deepest, most = 20, 10_000
	if level > deepest {
		return out
	}
	first, err := r.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: r.doc, Bookmark: parent})
	if err != nil {
		return out
	}
	for at := first.Bookmark; at != nil && len(out) < most; {
		if b := r.bookmark(*at, level); b.title != "" {
			out = append(out, b)
		}
		out = r.below(out, at, level+1)
		next, err := r.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: r.doc, Bookmark: *at})
		if err != nil {
			return out
		}
		at = next.Bookmark
	}
	return out
}

// bookmark returns one bookmark, without a title when it has none that can be
// read.
func (r *reader) bookmark(at references.FPDF_BOOKMARK, level int) bookmark {
	b := bookmark{level: min(level, maxLevel)}
	if title, err := r.in.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: at}); err == nil {
		b.title = plain(title.Title)
	}
	dest, err := r.in.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: r.doc, Bookmark: at})
	if err != nil || dest.Dest == nil {
		return b
	}
	page, err := r.in.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: r.doc, Dest: *dest.Dest})
	if err == nil {
		b.page = page.Index + 1
	}
	return b
}
