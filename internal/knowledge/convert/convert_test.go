package convert_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holodeck-go/holodeck/internal/knowledge/convert"
	"github.com/holodeck-go/holodeck/internal/knowledge/convert/ooxml/ooxmltest"
)

func limits() convert.Limits { return convert.DefaultLimits() }

// newConverter returns a converter; PDFs are tested where their reader is.
func newConverter(t testing.TB) *convert.Converter {
	t.Helper()
	c := convert.New("")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// records reads all records of a file with that content.
func records(t testing.TB, extension, content string, opts convert.RecordOptions) ([]convert.Record, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := convert.OpenRecords(path, extension, opts)
	if err != nil {
		return nil, err
	}
	if f.Hash != sha256.Sum256([]byte(content)) {
		t.Errorf("the hash is not that of the content")
	}
	var all []convert.Record
	for r, err := range f.All() {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func TestDocument(t *testing.T) {
	for _, tt := range []struct{ name, ext, in, want string }{
		{"markdown as it is", ".md", "# Title\n\n  code\n", "# Title\n\n  code\n"},
		{"byte order mark and line ends", ".txt", "\ufeffone\r\ntwo\rthree", "one\ntwo\nthree"},
		{"empty", ".txt", "", ""},
		{"csv rows", ".csv", "name,price\nLamp,9.99\n\"Desk, oak\",120\n", "name: Lamp\nprice: 9.99\n\nname: Desk, oak\nprice: 120\n"},
		{"csv of semicolons, ragged", ".csv", "a;b;c\n1;2\n1;2;3;4\n;;\n", "a: 1\nb: 2\n\na: 1\nb: 2\nc: 3\ncolumn 4: 4\n"},
		{"csv without a name for a column", ".csv", "a,\n1,2\n", "a: 1\ncolumn 2: 2\n"},
		{"csv that is a header alone", ".csv", "a,b\n", ""},
		{"csv with a quote inside a cell", ".csv", "a,b\n5\" pipe,x\n", "a: 5\" pipe\nb: x\n"},
		{"csv with a line break in a cell", ".csv", "a,b\n\"x\ny\",z\n", "a: x\ny\nb: z\n"},
		{"json object", ".json", `{"name":"Ada","age":36,"ok":true,"no":null,"tags":["x","y"],"none":[]}`, "name: Ada\nage: 36\nok: True\ntags: x, y\n"},
		{"json list of objects", ".json", `[{"a":1},{"a":2}]`, "a: 1\n\na: 2\n"},
		{"json nested", ".json", `{"shop":{"name":"S","plans":[{"n":"Pro","price":{"month":49}},{"n":"Free"}],"city":"B"}}`,
			"shop.name: S\n\nshop.plans.n: Pro\nshop.plans.price.month: 49\n\nshop.plans.n: Free\n\nshop.city: B\n"},
		{"json keeps both of two equal keys", ".json", `{"a":1,"a":2}`, "a: 1\na: 2\n"},
		{"json plain value", ".json", `"hello"`, "hello\n"},
		{"json null", ".json", `null`, ""},
		{"json keeps digits", ".json", `[1.10, 1e400, 12345678901234567890]`, "1.10, 1e400, 12345678901234567890\n"},
		{"jsonl", ".jsonl", "{\"a\":1}\n\n{\"a\":2}\n", "a: 1\n\na: 2\n"},
		{"utf-16", ".txt", "\xff\xfeh\x00i\x00=\xd8\xa1\xdc\n\x00", "hi💡\n"},
		{"utf-16, the other way", ".csv", "\xfe\xff\x00a\x00\n\x00\xe9", "a: é\n"},
		{"latin-1", ".txt", "na\xefve \x80\r\n", "naïve €\n"},
		{"html", ".html", "<!doctype html><title>Lamp  shop</title><nav><a href=/>Home</a></nav><script>x()</script><h2>Bulbs</h2><p>At most <b>40</b> <a href='/w'>watts</a>.</p>" +
			"<ul><li>one<li>two</ul><table><tr><th>Lamp<th>Price<tr><td>Brass<td>89</table><p hidden>no</p><pre>a\n  b</pre><img src=x alt='a picture'><button>Buy</button>",
			"# Lamp shop\n\n## Bulbs\n\nAt most **40** watts.\n\n- one\n- two\n\n| Lamp  | Price |\n|-------|-------|\n| Brass | 89    |\n\n```\na\n  b\n```\n\na picture\n"},
		{"html with a heading of its own", ".htm", "<title>Shop</title><h1>Lamps</h1><a href=x><p>in a link</p></a>", "# Lamps\n\nin a link\n"},
		{"html in latin-1", ".html", "<meta charset=iso-8859-1><p>na\xefve", "naïve\n"},
		{"html without text", ".html", "<script>x</script>", ""},
		{"word", ".docx", string(ooxmltest.Word{Styles: ooxmltest.Headings, Body: ooxmltest.Paragraph("Heading1", "Lamps")}.Bytes()), "# Lamps\n"},
		{"excel", ".xlsx", string(ooxmltest.Book{Sheet: "S", Rows: "<row><c><v>1</v></c></row>"}.Bytes()), "## S\n\n| 1 |\n| --- |\n"},
		{"powerpoint", ".pptx", string(ooxmltest.Deck{Slides: []string{ooxmltest.Shape("title", "T")}}.Bytes()), "# T\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newConverter(t).Document(t.Context(), tt.ext, []byte(tt.in), convert.Options{Limits: limits()})
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got.Text, tt.want)
			}
		})
	}
}

func TestDocumentRefuses(t *testing.T) {
	deep := strings.Repeat(`{"k":`, 150) + "1" + strings.Repeat("}", 150)
	wide := `{"` + strings.Repeat("k", 1000) + `":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, 1000), ",") + `}}`
	for _, tt := range []struct{ name, ext, in, want string }{
		{"binary", ".md", "PK\x03\x04\x00\x00", "is binary, not text (a zero byte at offset 4)"},
		{"binary without zeros", ".txt", "\x89PNG\x01\x02\xff", "is binary, not text (byte 0x89 at offset 0)"},
		{"broken json", ".json", "{\n \"a\": x}", "is not JSON (line 2, column"},
		{"json that ends early", ".json", "[1, 2", "it ends too early"},
		{"empty json", ".json", "", "it ends too early"},
		{"json with more after it", ".json", "{}\n{}", "there is more after the end of the value"},
		{"deep json", ".json", deep, "nested more than 100 deep"},
		{"json that grows", ".json", wide, "is too deeply nested: its text would be longer than"},
		{"broken line of jsonl", ".jsonl", "{}\n\nnope", "Invalid JSON on line 3, column 3: "},
		{"csv with a quote left open", ".csv", "a,b\n\"x,y\nz", "is not CSV (line 2"},
		{"unknown extension", ".exe", "MZ", `has the extension ".exe", which is not one of .csv .docx .htm .html .json .jsonl .md .pdf .pptx .txt .xlsx`},
		{"empty pdf", ".pdf", "", "is empty, and no PDF"},
		{"empty docx", ".docx", "", "is damaged, or no Office file"},
		{"old or encrypted docx", ".docx", "\xD0\xCF\x11\xE0\xA1\xB1", "is encrypted, or in the format of before 2007"},
		{"html in another encoding", ".html", "<meta charset=shift_jis>\x93\xfa", "is in the encoding shift_jis; save it as UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := limits()
			l.TextBytes = 100_000
			_, err := newConverter(t).Document(t.Context(), tt.ext, []byte(tt.in), convert.Options{Limits: l})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	small := limits()
	small.FileBytes = 10
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got, err := convert.ReadFile(write("fits", "0123456789"), small); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	for _, tt := range []struct{ path, want string }{
		{write("large", "01234567890"), "more than the"},
		{dir, "is not a regular file"},
		{filepath.Join(dir, "absent"), "cannot be read"},
	} {
		_, err := convert.ReadFile(tt.path, small)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v, want one with %q and without the path", tt.path, err, tt.want)
		}
	}
}

func TestALargeFileIsRefusedUnread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(200<<20), f.Close()); err != nil { // sparse: takes no room
		t.Fatal(err)
	}
	_, err = convert.ReadFile(path, limits())
	if err == nil || err.Error() != "has 200 MiB, more than the 64 MiB a source file may have; split it, or raise max_file_mb" {
		t.Errorf("error %v", err)
	}
}

// show writes records in one line each.
func show(records []convert.Record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(r.Where + ":")
		for _, f := range r.Fields {
			if f.Null {
				fmt.Fprintf(&b, " %s=null", f.Name)
			} else {
				fmt.Fprintf(&b, " %s=%q", f.Name, f.Value)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRecords(t *testing.T) {
	for _, tt := range []struct {
		name, ext, in string
		opts          convert.RecordOptions
		want          string
	}{
		{"csv", ".csv", "id,name\n1,A\n2,\n", convert.RecordOptions{}, "line 2: id=\"1\" name=\"A\"\nline 3: id=\"2\" name=\"\"\n"},
		{"csv of semicolons with commas in cells", ".csv", "id;name\n1;a, b\n2;c, d, e\n", convert.RecordOptions{}, "line 2: id=\"1\" name=\"a, b\"\nline 3: id=\"2\" name=\"c, d, e\"\n"},
		{"csv of tabs", ".csv", "id\tname\n1\tx\n", convert.RecordOptions{}, "line 2: id=\"1\" name=\"x\"\n"},
		{"csv of bars", ".csv", "id|name\n1|x\n", convert.RecordOptions{}, "line 2: id=\"1\" name=\"x\"\n"},
		{"csv with a delimiter that is given", ".csv", "a,b~c\n1,2~3\n", convert.RecordOptions{Options: convert.Options{Delimiter: '~'}}, "line 2: a,b=\"1,2\" c=\"3\"\n"},
		{"csv with one column", ".csv", "id\n1\n", convert.RecordOptions{}, "line 2: id=\"1\"\n"},
		{"csv with short and trailing cells", ".csv", "id,a,b\n1\n2,x,y, ,\n", convert.RecordOptions{}, "line 2: id=\"1\"\nline 3: id=\"2\" a=\"x\" b=\"y\"\n"},
		{"csv with a line break in a cell", ".csv", "id,a\n1,\"x\ny\"\n2,z\n", convert.RecordOptions{}, "line 2: id=\"1\" a=\"x\\ny\"\nline 4: id=\"2\" a=\"z\"\n"},
		{"json", ".json", `[{"id":1,"t":"A","b":["x","y"],"o":{"k":null,"l":"é<"},"f":false,"n":null}]`, convert.RecordOptions{},
			"record 1: id=\"1\" t=\"A\" b=\"[\\\"x\\\", \\\"y\\\"]\" o=\"{\\\"k\\\": null, \\\"l\\\": \\\"é<\\\"}\" f=\"False\" n=null\n"},
		{"json at a path", ".json", `{"v":2,"data":{"items":[{"id":1},{"id":2}]}}`, convert.RecordOptions{Path: "data.items"},
			"record 1: id=\"1\" v=\"2\"\nrecord 2: id=\"2\" v=\"2\"\n"},
		{"json through lists, the nearest name wins", ".json",
			`{"name":"shop","orders":[{"name":"o1","items":[{"id":1,"name":"i1"}]},{"name":"o2","items":[{"id":2}]},{"name":"o3"}]}`,
			convert.RecordOptions{Path: "orders.items"},
			"record 1: id=\"1\" name=\"i1\"\nrecord 2: id=\"2\" name=\"o2\"\n"},
		{"json with prefixes", ".json", `{"name":"shop","items":[{"id":1,"name":"i1"}]}`,
			convert.RecordOptions{Path: "items", RecordPrefix: "item_", MetaPrefix: "shop_"},
			"record 1: item_id=\"1\" item_name=\"i1\" shop_name=\"shop\"\n"},
		{"json with one object at the path", ".json", `{"item":{"id":1}}`, convert.RecordOptions{Path: "item"}, "record 1: id=\"1\"\n"},
		{"jsonl", ".jsonl", "{\"id\":1}\n\n{\"id\":2}\n", convert.RecordOptions{}, "line 1: id=\"1\"\nline 3: id=\"2\"\n"},
		{"csv of an old Mac", ".csv", "id,a\r1,x\r\n2,\"y\rz\"\r", convert.RecordOptions{}, "line 2: id=\"1\" a=\"x\"\nline 3: id=\"2\" a=\"y\\nz\"\n"},
		{"csv in utf-16", ".csv", "\xff\xfei\x00d\x00\n\x001\x00", convert.RecordOptions{}, "line 2: id=\"1\"\n"},
		{"csv in latin-1", ".csv", "id\nna\xefve\n", convert.RecordOptions{}, "line 2: id=\"naïve\"\n"},
		{"csv with quotes inside cells", ".csv", "id,a\n1,5\" pipe\n2,\"q\"\n", convert.RecordOptions{}, "line 2: id=\"1\" a=\"5\\\" pipe\"\nline 3: id=\"2\" a=\"q\"\n"},
		{"jsonl with a mark", ".jsonl", "\ufeff{\"id\":1}\r\n{\"id\":2}", convert.RecordOptions{}, "line 1: id=\"1\"\nline 2: id=\"2\"\n"},
		{"jsonl at a path", ".jsonl", `{"day":"mon","rows":[{"id":1},{"id":2}]}`, convert.RecordOptions{Path: "rows"},
			"line 1, record 1: id=\"1\" day=\"mon\"\nline 1, record 2: id=\"2\" day=\"mon\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Limits = limits()
			got, err := records(t, tt.ext, tt.in, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(got); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRecordsRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, ext, in string
		opts          convert.RecordOptions
		want          string
	}{
		{"markdown", ".md", "# x", convert.RecordOptions{}, "Unsupported file type: '.md'. Supported types: ['.csv', '.json', '.jsonl']"},
		{"two equal keys", ".json", `[{"id":1},{"id":2,"a":0,"id":3}]`, convert.RecordOptions{}, "has the key 'id' twice in record 2, which would hide one; rename one"},
		{"two equal keys in a line", ".jsonl", `{"id":1,"id":1}`, convert.RecordOptions{}, "has the key 'id' twice in line 1"},
		{"two equal keys on the way", ".json", `{"rows":[{"id":1}],"rows":[{"id":2}]}`, convert.RecordOptions{Path: "rows"}, "has the key 'rows' twice in an object on the way to record_path 'rows'"},
		{"empty list", ".json", "[]", convert.RecordOptions{}, "No records found in source file; give it one at least"},
		{"empty csv", ".csv", "", convert.RecordOptions{}, "No records found in source file; give it one at least"},
		{"header alone", ".csv", "id,a\n", convert.RecordOptions{}, "No records found in source file; give it one at least"},
		{"empty jsonl", ".jsonl", "\n\n", convert.RecordOptions{}, "No records found in source file; give it one at least"},
		{"object without a path", ".json", `{"items":[]}`, convert.RecordOptions{}, "Expected JSON array, got object; set record_path to the key that holds the records (keys there: items)"},
		{"nothing at the path", ".json", `{"data":{"rows":[]}}`, convert.RecordOptions{Path: "data.items"}, "has nothing at record_path 'data.items' (keys there: rows)"},
		{"a path into a value", ".json", `{"data":5}`, convert.RecordOptions{Path: "data.items"}, "has nothing at record_path 'data.items'"},
		{"values instead of records", ".json", `[{"id":1}, 5]`, convert.RecordOptions{}, "record 2 is not an object with fields but: number"},
		{"a line that is a list", ".jsonl", "{}\n[1]", convert.RecordOptions{}, "line 2 is not an object with fields but: array"},
		{"broken line", ".jsonl", "{\"id\":1}\n{", convert.RecordOptions{}, "Invalid JSON on line 2, column 2: it ends too early; mend that line, or remove it"},
		{"cells that would be lost", ".csv", "id,a\n1,2,3\n", convert.RecordOptions{}, "has 3 cells in line 2, but 2 columns"},
		{"json that is cut off", ".json", `[{"id":1},`, convert.RecordOptions{}, "it ends too early"},
		{"json with a mistake", ".json", "[{\"id\":1},\n {\"id\":x}]", convert.RecordOptions{}, "is not JSON (line 2, column"},
		{"json with more behind it", ".json", `[{"id":1}] 5`, convert.RecordOptions{}, "there is more after the end of the value"},
		{"a long record of csv", ".csv", "id\n" + strings.Repeat("x", 200<<10), convert.RecordOptions{}, "a record is larger than 0.09766 MiB"},
		{"a long line of jsonl", ".jsonl", "{\"id\":1}\n{\"id\":\"" + strings.Repeat("x", 200<<10) + "\"}", convert.RecordOptions{}, "has a line 2 of more than 0.09766 MiB"},
		{"a long record of json", ".json", "[{\"id\":\"" + strings.Repeat("x", 200<<10) + "\"}]", convert.RecordOptions{}, "a record is larger than 0.09766 MiB"},
		{"binary", ".csv", "id\n\x00", convert.RecordOptions{}, "is binary, not text (a zero byte at offset 3)"},
		{"two columns of one name", ".csv", "id,a,a\n", convert.RecordOptions{}, "has two columns named 'a'"},
		{"a path in a csv", ".csv", "id\n1\n", convert.RecordOptions{Path: "x"}, "remove record_path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Limits.FileBytes = 100 << 10
			_, err := records(t, tt.ext, tt.in, tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestFieldsOfARecord(t *testing.T) {
	all, err := records(t, ".csv", "a,b\n1\n", convert.RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f := all[0].Field("absent"); !f.Null || f.Name != "absent" {
		t.Errorf("an absent field is %+v", f)
	}
	if f := all[0].Field("a"); f.Null || f.Value != "1" {
		t.Errorf("a is %+v", f)
	}
}

// TestRecordsTakeNoMoreMemoryThanTheLargest reads a file that is far larger than
// the memory it may take.
func TestRecordsTakeNoMoreMemoryThanTheLargest(t *testing.T) {
	const size, most = 96 << 20, 24 << 20
	for extension, row := range map[string]string{".jsonl": `{"id":1,"text":"` + strings.Repeat("x", 1000) + "\"}\n", ".csv": "1," + strings.Repeat("x", 1000) + "\n"} {
		path := filepath.Join(t.TempDir(), "large"+extension)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		if extension == ".csv" {
			fmt.Fprintln(w, "id,text")
		}
		for written := 0; written < size; written += len(row) {
			w.WriteString(row)
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
		file, err := convert.OpenRecords(path, extension, convert.RecordOptions{Options: convert.Options{Limits: limits()}})
		if err != nil {
			t.Fatal(err)
		}
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n := 0
		for _, err := range file.All() {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n%20_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				if used := int64(now.HeapAlloc) - int64(before.HeapAlloc); used > most {
					t.Fatalf("%s: after %d records %d MiB are in use", extension, n, used>>20)
				}
			}
		}
		if n != (size+len(row)-1)/len(row) {
			t.Errorf("%s: %d records", extension, n)
		}
	}
}

func TestRecordsThatNobodyWants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"id\":1}\n{\"id\":2}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := convert.OpenRecords(path, ".jsonl", convert.RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range f.All() {
		if err != nil || r.Where != "line 1" {
			t.Errorf("%+v, %v", r, err)
		}
		break
	}
}

func TestNotesOfTheEncoding(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "", "\ufeffmarked": "", "na\xefve": "is not UTF-8 (byte 0xEF at offset 2) and was read as Windows-1252; save it as UTF-8 if letters are wrong",
	} {
		if _, note, err := convert.Text([]byte(in)); note != want || err != nil {
			t.Errorf("%q: note %q, %v", in, note, err)
		}
	}
}

func TestWhatAFetchedFileIs(t *testing.T) {
	for _, tt := range []struct{ name, contentType, want string }{
		{"a.MD", "text/html", ".md"}, {"page", "text/html; charset=utf-8", ".html"}, {"a.php", "text/plain", ".txt"}, {"", "application/pdf", ".pdf"},
		{"", "application/x-ndjson", ".jsonl"}, {"a.png", "image/png", ""}, {"", "", ""}, {"", "nonsense;;", ""},
	} {
		if got := convert.ExtensionOf(tt.name, tt.contentType); got != tt.want {
			t.Errorf("%s as %s: %q, want %q", tt.name, tt.contentType, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("na\xefve\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, _, err := convert.Text(data)
		if err == nil && (!utf8.ValidString(text) || strings.Contains(text, "\r")) {
			t.Errorf("%q became %q", data, text)
		}
		if utf8.Valid(data) && !bytes.ContainsAny(data, "\x00\r") && !bytes.HasPrefix(data, []byte("\ufeff")) && (err != nil || text != string(data)) {
			t.Errorf("UTF-8 became something else: %q, %v", text, err)
		}
	})
}

func BenchmarkDocument(b *testing.B) {
	paragraph := strings.Repeat("A sentence of some length that says little. ", 12)
	for name, tt := range map[string]struct{ extension, content string }{
		"markdown": {".md", strings.Repeat("## A heading\n\n"+paragraph+"\n\n", 2000)},
		"html":     {".html", strings.Repeat("<h2>A heading</h2><p>"+paragraph+"</p>", 2000)},
		"csv":      {".csv", "id,text\n" + strings.Repeat("1,"+paragraph+"\n", 2000)},
		"json":     {".json", "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"text":"`+paragraph+`"},`, 2000), ",") + "]"},
	} {
		b.Run(name, func(b *testing.B) {
			c := newConverter(b)
			b.SetBytes(int64(len(tt.content)))
			for b.Loop() {
				if _, err := c.Document(b.Context(), tt.extension, []byte(tt.content), convert.Options{Limits: limits()}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	for extension, row := range map[string]string{".jsonl": `{"id":1,"text":"` + strings.Repeat("x y ", 100) + "\"}\n", ".csv": "1," + strings.Repeat("x y ", 100) + "\n"} {
		b.Run(extension, func(b *testing.B) {
			content := strings.Repeat(row, 20_000)
			if extension == ".csv" {
				content = "id,text\n" + content
			}
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if _, err := records(b, extension, content, convert.RecordOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzDocument(f *testing.F) {
	f.Add(".json", []byte(`{"a":[1,{"b":null}]}`))
	f.Add(".jsonl", []byte("{}\n[]"))
	f.Add(".csv", []byte("a;b\n1;\"2"))
	f.Add(".md", []byte("\xef\xbb\xbf# x\r\n"))
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		l := convert.Limits{FileBytes: 1 << 20, TextBytes: 1 << 16}
		if ext == ".pdf" {
			return // has a fuzz test of its own
		}
		d, err := newConverter(t).Document(t.Context(), ext, data, convert.Options{Limits: l})
		if err == nil && strings.Contains(d.Text, "\r\n") && (ext == ".csv" || ext == ".md") {
			t.Errorf("line ends were left: %q", d.Text)
		}
		if len(d.Text) > 2*l.TextBytes+len(data)*4 {
			t.Errorf("%d bytes became %d", len(data), len(d.Text))
		}
	})
}

func FuzzRecords(f *testing.F) {
	f.Add(".json", []byte(`{"a":[{"b":1}]}`), "a")
	f.Add(".jsonl", []byte("{}\n[]"), "")
	f.Add(".csv", []byte("a|b\n1|\"2\""), "")
	f.Fuzz(func(t *testing.T, ext string, data []byte, path string) {
		all, err := records(t, ext, string(data), convert.RecordOptions{Path: path, MetaPrefix: "m"})
		if err == nil && len(all) == 0 {
			t.Error("no records and no error")
		}
		for _, r := range all {
			seen := map[string]bool{}
			for _, field := range r.Fields {
				if seen[field.Name] {
					t.Errorf("%s has two fields named %q", r.Where, field.Name)
				}
				seen[field.Name] = true
			}
		}
	})
}
