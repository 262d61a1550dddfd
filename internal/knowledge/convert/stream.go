package convert

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
)

// RecordFile is a file of records, which are read one at a time: it takes no
// more memory than the largest of them. Only a .json with a record path is read
// as a whole.
type RecordFile struct {
	// Hash is that of the file's bytes.
	Hash [sha256.Size]byte
	// Note says what a person should know of the reading, as Document does.
	Note string

	path      string
	extension string
	opts      RecordOptions
	look      *look
}

// OpenRecords looks at the file of records at path. The extension, in lower case
// and with its dot, says what it is. The errors of it and of its methods say
// what is wrong and leave the naming of the file to the caller.
func OpenRecords(path, extension string, opts RecordOptions) (*RecordFile, error) {
	if err := CheckRecords(extension, opts); err != nil {
		return nil, err
	}
	f := &RecordFile{path: path, extension: extension, opts: opts, look: newLook()}
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer in.Close() // read only: nothing can be lost
	h := sha256.New()
	const size = 256 << 10
	for buffer := make([]byte, size); ; {
		n, err := in.Read(buffer)
		f.look.write(buffer[:n])
		h.Write(buffer[:n]) // never fails
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, cause(err)
		}
	}
	f.Hash = [sha256.Size]byte(h.Sum(nil))
	if err := f.look.finish(); err != nil {
		return nil, err
	}
	f.Note = f.look.note()
	return f, nil
}

// All yields the records in the order of the file. An error ends it. A file
// without records is ErrNoRecords.
func (f *RecordFile) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		n := 0
		err := f.each(func(r Record) bool {
			n++
			return yield(r, nil)
		})
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(Record{}, err)
		case n == 0:
			yield(Record{}, ErrNoRecords)
		}
	}
}

// errStopped says that nobody wants more records.
var errStopped = errors.New("stopped")

// each calls yield with every record.
func (f *RecordFile) each(yield func(Record) bool) error {
	switch {
	case f.extension == ".csv":
		return f.rows(yield)
	case f.extension == ".jsonl":
		return f.lines(yield)
	case f.opts.Path == "":
		return f.elements(yield)
	}
	return f.document(yield)
}

// text opens the file as UTF-8. The caller closes what is returned.
func (f *RecordFile) text() (io.Reader, io.Closer, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, nil, cause(err)
	}
	if _, err := file.Seek(int64(f.look.marked), io.SeekStart); err != nil {
		return nil, nil, errors.Join(cause(err), file.Close())
	}
	in := newDecoder(file, f.look.encoding)
	if f.look.lone {
		in = &newlines{in: in}
	}
	return in, file, nil
}

// gauge is a reader that bounds how much is read for one record.
type gauge struct {
	in    io.Reader
	limit int64
	used  int64
}

// Read implements io.Reader.
func (g *gauge) Read(p []byte) (int, error) {
	if g.limit > 0 && g.used > g.limit {
		return 0, fmt.Errorf("a record is larger than %s", mebibytes(g.limit))
	}
	n, err := g.in.Read(p)
	g.used += int64(n)
	return n, err
}

// lines reads a .jsonl: a record a line, or a document a line that has records
// at the path.
func (f *RecordFile) lines(yield func(Record) bool) error {
	file, closer, err := f.text()
	if err != nil {
		return err
	}
	defer closer.Close() // read only: nothing can be lost
	in := bufio.NewReader(file)
	for number := 1; ; number++ {
		text, err := readLine(in, f.opts.Limits.FileBytes)
		if errors.Is(err, errLongLine) {
			return fmt.Errorf("has a line %d of more than %s; split it", number, mebibytes(f.opts.Limits.FileBytes))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return cause(err)
		}
		if strings.TrimSpace(text) != "" {
			if err := f.line(jsonLine{number, text}, yield); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// errLongLine says that a line is too long.
var errLongLine = errors.New("the line is too long")

// readLine returns the next line without its end. At the end of the file it
// returns io.EOF beside the last one. No limit is zero.
func readLine(in *bufio.Reader, limit int64) (string, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case limit > 0 && int64(len(line)) > limit:
			return "", errLongLine
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return strings.TrimSuffix(string(line), "\n"), err
		}
	}
}

// line reads the records of a line.
func (f *RecordFile) line(line jsonLine, yield func(Record) bool) error {
	root, err := line.parse()
	if err != nil {
		return err
	}
	places := []found{{node: root}}
	if f.opts.Path != "" {
		if places, err = walk(root, f.opts.Path, f.opts.MetaPrefix); err != nil {
			return fmt.Errorf("line %d %w", line.number, err)
		}
	}
	for _, place := range places {
		items := []node{place.node}
		if f.opts.Path != "" {
			items = place.elements()
		}
		for i, item := range items {
			where := fmt.Sprintf("line %d", line.number)
			if len(items) > 1 {
				where += fmt.Sprintf(", record %d", i+1)
			}
			r, err := place.record(item, where, f.opts)
			if err != nil {
				return err
			}
			if !yield(r) {
				return errStopped
			}
		}
	}
	return nil
}

// elements reads a .json that is a list of records.
func (f *RecordFile) elements(yield func(Record) bool) error {
	in, closer, err := f.text()
	if err != nil {
		return err
	}
	defer closer.Close() // read only: nothing can be lost
	bounded := &gauge{in: in, limit: f.opts.Limits.FileBytes}
	dec := json.NewDecoder(bounded)
	dec.UseNumber()
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return f.document(yield) // which says what is wrong
	}
	for n := 1; dec.More(); n++ {
		bounded.used = 0
		item, err := parseValue(dec, 1)
		if err != nil {
			return f.notJSON(dec, err)
		}
		r, err := found{}.record(item, fmt.Sprintf("record %d", n), f.opts)
		if err != nil {
			return err
		}
		if !yield(r) {
			return errStopped
		}
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return f.notJSON(dec, err)
	}
	more, err := dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		err = moreError(more)
	}
	return f.notJSON(dec, err)
}

// notJSON says where the decoder found what is wrong.
func (f *RecordFile) notJSON(dec *json.Decoder, err error) error {
	offset := dec.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(offset, syntax.Offset) // which does not always count from the beginning
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("is not JSON (after byte %d): %w", offset, errEndsEarly)
	}
	in, closer, openErr := f.text()
	if openErr != nil {
		return openErr
	}
	defer closer.Close() // read only: nothing can be lost
	line, column := 1, 1
	before := bufio.NewReader(io.LimitReader(in, offset))
	for {
		r, _, readErr := before.ReadRune()
		switch {
		case readErr != nil:
			return fmt.Errorf("is not JSON (line %d, column %d): %w", line, column, err)
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
	}
}

// document reads a .json as a whole: a list of records, or a document that has
// them at the path.
func (f *RecordFile) document(yield func(Record) bool) error {
	limits := f.opts.Limits
	if limits.FileBytes == 0 {
		limits = DefaultLimits()
	}
	data, err := ReadFile(f.path, limits)
	if err != nil {
		return err
	}
	text, _, err := Text(data)
	if err != nil {
		return err
	}
	root, err := parseJSON(text)
	if err != nil {
		return err
	}
	if f.opts.Path == "" && root.kind != kindArray {
		return sayf("Expected JSON array, got %s; set record_path to the key that holds the records%s", root.kind, keyList(root))
	}
	places := []found{{node: root}}
	if f.opts.Path != "" {
		if places, err = walk(root, f.opts.Path, f.opts.MetaPrefix); err != nil {
			return err
		}
	}
	n := 0
	for _, place := range places {
		for _, item := range place.elements() {
			n++
			r, err := place.record(item, fmt.Sprintf("record %d", n), f.opts)
			if err != nil {
				return err
			}
			if !yield(r) {
				return errStopped
			}
		}
	}
	return nil
}
