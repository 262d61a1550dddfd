package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Variable is the environment variable that names a file of prices.
const Variable = "HOLODECK_PRICES"

// maxFile bounds a file of prices, in bytes.
const maxFile = 4 << 20

//go:embed prices.json
var builtIn []byte

// file is a file of prices, the built-in one included.
type file struct {
	Date   string           `json:"date"`
	Models map[string]Price `json:"models"`
}

// Open returns the built-in prices with those of the user's file laid over
// them: the file that HOLODECK_PRICES names, or else prices.json in .holodeck of
// the user's home folder, which need not exist. home is empty where there is
// none. The error names the file and what is wrong with it.
func Open(getenv func(name string) string, home string) (*Table, error) {
	base, err := parse(builtIn)
	if err != nil {
		return nil, fmt.Errorf("read the built-in prices: %w", err)
	}
	t := &Table{Date: base.Date, models: base.Models}
	path, named := getenv(Variable), true
	if path == "" {
		if home == "" {
			return t, nil
		}
		path, named = filepath.Join(home, ".holodeck", "prices.json"), false
	}
	data, err := read(path)
	switch {
	case !named && errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil && named:
		return nil, fmt.Errorf("read the prices that %s names: %w", Variable, err)
	case err != nil:
		return nil, fmt.Errorf("read prices: %w", err)
	}
	own, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("read prices: %s: %w", path, err)
	}
	maps.Copy(t.models, own.Models)
	return t, nil
}

// read reads a file of at most maxFile bytes.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is larger than %d bytes", maxFile)}
	}
	return data, nil
}

// parse reads a file of prices. Keys that are not known are refused, since a
// price that was mistyped would be a wrong cost.
func parse(data []byte) (file, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return file{}, describe(data, dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return file{}, errors.New("something follows the object")
	}
	if f.Date != "" {
		if _, err := time.Parse(time.DateOnly, f.Date); err != nil {
			return file{}, fmt.Errorf("date is %q; write it as 2025-12-31", f.Date)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		if err := checkEntry(name, f.Models[name]); err != nil {
			return file{}, err
		}
	}
	if f.Models == nil {
		f.Models = map[string]Price{}
	}
	return f, nil
}

// describe says where in a file an error of its JSON is.
func describe(data []byte, offset int64, err error) error {
	var (
		syntax *json.SyntaxError
		typed  *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typed):
		return fmt.Errorf("line %d: %s is a JSON %s, want %s", line(data, typed.Offset), typed.Field, typed.Value, jsonType(typed))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New(`is empty or cut off; write {"models": {"openai/gpt-4o": {"input": 2.5, "output": 10}}}`)
	}
	return fmt.Errorf("line %d: %s", line(data, offset), strings.TrimPrefix(err.Error(), "json: "))
}

func jsonType(err *json.UnmarshalTypeError) string {
	switch err.Type.Kind().String() {
	case "float64", "int":
		return "a number"
	case "string":
		return "text"
	}
	return "an object"
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

// checkEntry refuses an entry that no cost can be made of.
func checkEntry(name string, p Price) error {
	provider, model, ok := strings.Cut(name, "/")
	if !ok || model == "" || !slices.Contains(config.Provider("").Values(), provider) {
		return fmt.Errorf("models: %q is not provider/model, such as openai/gpt-4o; the providers are %s",
			name, strings.Join(config.Provider("").Values(), ", "))
	}
	amounts := []*float64{&p.Input, &p.Output, p.CachedInput, p.CacheWrite}
	if l := p.Long; l != nil {
		if l.Above <= 0 {
			return fmt.Errorf("models: %s: long.above is %d; give a number of tokens", name, l.Above)
		}
		amounts = append(amounts, &l.Input, &l.Output, l.CachedInput, l.CacheWrite)
	}
	for _, a := range amounts {
		if a != nil && *a < 0 {
			return fmt.Errorf("models: %s: a price of %g is below zero", name, *a)
		}
	}
	return nil
}
