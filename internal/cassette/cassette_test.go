package cassette

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/secret"
)

func testEnv() agent.Env { return agent.SystemEnv(slog.New(slog.DiscardHandler)) }

// record begins a recording that is given up with the test.
func record(t testing.TB, dir string, secrets ...string) *Recorder {
	t.Helper()
	r, err := Record(dir, About{Agent: "desk", Command: "test"}, secret.NewRedactor(secrets))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Discard(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func commit(t testing.TB, r *Recorder) int {
	t.Helper()
	n, err := r.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func replay(t testing.TB, dir string, secrets ...string) *Player {
	t.Helper()
	p, err := Replay(dir, secret.NewRedactor(secrets))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func place(session string, turn, ordinal int) Place { return Place{session, Model, turn, ordinal} }

// asks is a request of one text.
func asks(text string) []Field {
	return []Field{{"model", "m"}, {"messages", []string{text}}}
}

// next returns the text that is recorded for a request.
func next(p *Player, at Place, request []Field) (string, error) {
	var answer string
	err := p.Next(at, request, &answer)
	return answer, err
}

func TestWhatWasRecordedIsPlayed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "tape")
	r := record(t, dir)
	long := strings.Repeat("all work and no play ", 50)
	r.Add(place("case-1", 1, 1), asks("one"), "1")
	r.Add(place("case-1", 1, 2), asks(long), "2")
	r.Add(place("case-1", 2, 1), asks(long), "3")
	r.Add(place("case-1/judge", 0, 0), asks("is it good?"), "yes")
	r.Add(Place{"case-1", Tool, 1, 1}, asks("one"), "found")
	r.Add(place("case-2", 1, 1), asks("one"), "4")
	r.Describe("model", "m", map[string]bool{"cost": true})
	r.Describe("model", "m", map[string]bool{"cost": false}) // the first counts
	if n := commit(t, r); n != 2 {
		t.Errorf("%d sessions were recorded, want 2", n)
	}
	data, err := os.ReadFile(filepath.Join(dir, "case-1.jsonl"))
	if err != nil || strings.Count(string(data), "all work") != strings.Count(long, "all work") {
		t.Errorf("a long value is not written once: %v\n%s", err, data)
	}

	for round := range 2 {
		p := replay(t, dir)
		for _, tt := range []struct {
			at      Place
			request []Field
			want    string
		}{
			{place("case-2", 1, 1), asks("one"), "4"},
			{place("case-1", 2, 1), asks(long), "3"},
			{place("case-1", 1, 1), asks("one"), "1"},
			{Place{"case-1", Tool, 1, 1}, asks("one"), "found"},
			{place("case-1", 1, 2), asks(long), "2"},
			{place("case-1/judge", 0, 0), asks("is it good?"), "yes"},
		} {
			if got, err := next(p, tt.at, tt.request); err != nil || got != tt.want {
				t.Errorf("round %d: %s: %q, %v, want %q", round, tt.at, got, err, tt.want)
			}
		}
		if a := p.About(); a.Agent != "desk" || a.Command != "test" || p.Dir() != dir {
			t.Errorf("it is about %+v in %s", a, p.Dir())
		}
		err := p.Described("model", func(name string, into func(any) error) error {
			var can map[string]bool
			if err := into(&can); err != nil || name != "m" || !can["cost"] {
				t.Errorf("model %s can %v, %v", name, can, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAResponseKeepsItsBytes(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	const answer = `{"z":1.50,"a":"<b> & \u00e9","n":12345678901234567890}`
	r.Add(place("s", 1, 1), asks("?"), json.RawMessage(answer))
	commit(t, r)
	var got json.RawMessage
	if err := replay(t, dir).Next(place("s", 1, 1), asks("?"), &got); err != nil || string(got) != answer {
		t.Errorf("got  %s, %v\nwant %s", got, err, answer)
	}
}

func TestEveryScopeHasItsOwnTimesAndIDs(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	// take uses scopes side by side and returns what each saw.
	take := func(env agent.Env) map[string]string {
		var (
			mu   sync.Mutex
			wg   sync.WaitGroup
			seen = map[string]string{}
		)
		use := func(name string, env agent.Env) {
			var b strings.Builder
			for range 5 {
				fmt.Fprintln(&b, env.Now().Format(time.RFC3339Nano), env.NewID())
			}
			mu.Lock()
			defer mu.Unlock()
			seen[name] += b.String()
		}
		use("run", env)
		for i := range 4 {
			wg.Go(func() {
				name := fmt.Sprintf("case-%d", i+1)
				session := env.Scope(name)
				use(name, session)
				use(name, session.Scope("tool 1.1"))
				use(name, env.Scope(name)) // the same scope goes on
			})
		}
		wg.Wait()
		return seen
	}
	want := take(r.Env(testEnv()))
	commit(t, r)
	for range 2 {
		if got := take(replay(t, dir).Env(testEnv())); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

func TestWhenTheRecordHasNoMoreTimesTheReplayStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	last := r.Env(testEnv()).Scope("s").Now()
	commit(t, r)
	beyond := func() string {
		env := replay(t, dir).Env(testEnv()).Scope("s")
		env.Now()
		return fmt.Sprint(env.Now(), env.NewID(), env.NewID(), env.Scope("new").Now(), env.Scope("new").NewID())
	}
	got := beyond()
	if again := beyond(); got != again || !strings.HasPrefix(got, last.String()) {
		t.Errorf("beyond the record: %s, then %s", got, again)
	}
}

func TestADifferenceIsNamedByItsPath(t *testing.T) {
	type part struct {
		Text  string `json:"text"`
		Extra *int   `json:"extra,omitempty"`
	}
	request := func(system string, parts ...part) []Field {
		return []Field{{"model", "openai/gpt-4o"}, {"system", system}, {"messages", []map[string]any{{"role": "user", "parts": parts}}}}
	}
	dir := t.TempDir()
	r := record(t, dir)
	for i := range 10 {
		r.Add(place(fmt.Sprint("s", i), 1, 1), request("Be brief.", part{Text: "Where is my order, please? I wait since Monday for it."}), "ok")
	}
	commit(t, r)
	one := 1
	for i, tt := range []struct {
		request []Field
		want    string
	}{
		{request("Be brief!", part{Text: "else"}), `system is now "Be brief!", and was "Be brief."`},
		{request("Be brief.", part{Text: "Where is my order, please? I wait since Tuesday for it."}),
			`messages[0].parts[0].text is now …"lease? I wait since Tuesday for it.", and was …"lease? I wait since Monday for it."`},
		{request("Be brief.", part{Text: "Where is my order, please? I wait since Monday for it."}, part{}), `messages[0].parts is now 2 long, and was 1 long`},
		{request("Be brief.", part{Text: "Where is my order, please? I wait since Monday for it.", Extra: &one}), `messages[0].parts[0].extra is now 1, and was absent`},
		{append(request("Be brief.", part{Text: "Where is my order, please? I wait since Monday for it."}), Field{"schema", json.RawMessage(`{"type":"object"}`)}),
			`schema is now an object, and was absent`},
		{request("Be brief.")[:2], `messages is now absent, and was a list, 1 long`},
		{append([]Field{{"model", "openai/gpt-5"}}, request("")[1:]...), `model is now "openai/gpt-5", and was "openai/gpt-4o"`},
	} {
		at := place(fmt.Sprint("s", i), 1, 1)
		p := replay(t, dir)
		_, err := next(p, at, tt.request)
		d, ok := errors.AsType[*Difference](err)
		if !ok || !strings.HasSuffix(err.Error(), tt.want) || d.Place != at || !strings.Contains(err.Error(), "model call 1 of turn 1 of session s") {
			t.Errorf("%d: got %v\nwant %s", i, err, tt.want)
		}
		// What follows from a difference is not compared: the first one is told again.
		if _, again := next(p, place(at.Session, 2, 1), request("Be brief.")); again != err {
			t.Errorf("%d: after %v comes %v", i, err, again)
		}
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	r.Add(place("case-1", 1, 1), asks("one"), "1")
	commit(t, r)
	p := replay(t, dir)
	if _, err := next(p, place("case-1", 1, 1), asks("one")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		at   Place
		want string
	}{
		{place("case-1", 1, 2), "model call 2 of turn 1 of session case-1"},
		{Place{"case-2", Tool, 3, 1}, "tool call 1 of turn 3 of session case-2"},
		{Place{Kind: Model}, "model call outside of any session"},
	} {
		_, err := next(p, tt.at, asks("one"))
		if _, ok := errors.AsType[*Missing](err); !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "--record") {
			t.Errorf("%s: %v", tt.at, err)
		}
	}
}

func TestCallsOutsideOfSessionsAreFoundByTheirRequest(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir)
	for i := range 3 {
		r.Add(Place{Kind: Model}, asks(strings.Repeat(fmt.Sprint(i), 300)), i)
	}
	commit(t, r)
	p := replay(t, dir)
	for _, i := range []int{2, 0, 1} {
		var got int
		if err := p.Next(Place{Kind: Model}, asks(strings.Repeat(fmt.Sprint(i), 300)), &got); err != nil || got != i {
			t.Errorf("got %d, %v, want %d", got, err, i)
		}
	}
}

func TestNoSecretReachesACassette(t *testing.T) {
	const canary = "canary-7f3a-canary"
	dir := t.TempDir()
	r := record(t, dir, canary, "1234567890")
	message := map[string]any{
		"text": "the key is " + canary, "quoted\"" + canary: 1, "number": 1234567890, "escaped": "\t" + canary + "\u2028",
		"nested": []any{map[string]any{"deep": canary}}, "shape": "AKIA" + "ABCDEFGHIJKLMNOP", "long": strings.Repeat("x", 300) + canary,
	}
	r.Add(place("s", 1, 1), []Field{{"messages", []any{message}}, {"arguments", json.RawMessage(`{"p": "canary-7f\u0033a-canary"}`)}},
		map[string]any{"result": message, "raw": json.RawMessage(`["canary-7f3a-can\u0061ry"]`)})
	r.Add(Place{Kind: Model}, []Field{{"system", canary}}, canary)
	r.Describe("tool", "t", map[string]string{"description": canary})
	commit(t, r)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("the files are %v, %v", entries, err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"canary", "1234567890", `7f\u0033a`, "ABCDEFGHIJKLMNOP"} {
			if strings.Contains(string(data), part) {
				t.Errorf("%s holds %s:\n%s", e.Name(), part, data)
			}
		}
	}
	// The same request matches, with the secret and without having it.
	for _, secrets := range [][]string{{canary, "1234567890"}, {canary, "1234567890", "another-secret"}} {
		p := replay(t, dir, secrets...)
		var got any
		err := p.Next(place("s", 1, 1), []Field{{"messages", []any{message}}, {"arguments", json.RawMessage(`{"p":"` + canary + `"}`)}}, &got)
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAFolderOfSomebodyElseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Record(dir, About{}, nil); err == nil || !strings.Contains(err.Error(), "name a folder that is empty") {
		t.Errorf("recorded into it: %v", err)
	}
	if _, err := Record(file, About{}, nil); err == nil {
		t.Error("recorded into a file")
	}
}

func TestARecordingThatIsGivenUpChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	r := record(t, dir)
	r.Add(place("s", 1, 1), asks("one"), "1")
	if err := r.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was left: %v", err)
	}

	first := record(t, dir)
	first.Add(place("s", 1, 1), asks("one"), "1")
	first.Add(place("gone", 1, 1), asks("one"), "1")
	commit(t, first)
	second := record(t, dir)
	second.Add(place("s", 1, 1), asks("one"), "2")
	if err := second.Discard(); err != nil {
		t.Fatal(err)
	}
	if got, err := next(replay(t, dir), place("s", 1, 1), asks("one")); err != nil || got != "1" {
		t.Errorf("after a recording that was given up: %q, %v", got, err)
	}

	// One that is kept takes the place of the old one, and of nothing else.
	mine := filepath.Join(dir, "README.md")
	if err := os.WriteFile(mine, []byte("how this was recorded"), 0o600); err != nil {
		t.Fatal(err)
	}
	third := record(t, dir)
	third.Add(place("s", 1, 1), asks("one"), "3")
	commit(t, third)
	p := replay(t, dir)
	if got, err := next(p, place("s", 1, 1), asks("one")); err != nil || got != "3" {
		t.Errorf("after another recording: %q, %v", got, err)
	}
	if _, err := next(p, place("gone", 1, 1), asks("one")); err == nil {
		t.Error("a session of the old recording is left")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeRecordedKeepsTheOldCassette(t *testing.T) {
	dir := t.TempDir()
	first := record(t, dir)
	first.Add(place("s", 1, 1), asks("one"), "1")
	commit(t, first)
	second := record(t, dir)
	second.Add(place("s", 1, 1), asks("one"), func() {}) // has no JSON
	second.Add(place("s", 1, 2), asks("two"), "2")
	if _, err := second.Commit(); err == nil || !strings.Contains(err.Error(), "model call 1 of turn 1") {
		t.Errorf("it was kept: %v", err)
	}
	if got, err := next(replay(t, dir), place("s", 1, 1), asks("one")); err != nil || got != "1" {
		t.Errorf("the old cassette: %q, %v", got, err)
	}
}

func TestADamagedCassetteSaysWhere(t *testing.T) {
	header := `{"schema":"` + Schema + `","session":"s"}` + "\n"
	for name, tt := range map[string]struct{ index, session, want string }{
		"none":             {"", "", "holds no cassette"},
		"no JSON":          {"{", "", "is not the index of a cassette"},
		"a later form":     {`{"schema": "holodeck.cassette/v9"}`, "", `is of the form "holodeck.cassette/v9"`},
		"a session's form": {`{"schema": "` + Schema + `"}`, `{"schema":"x"}` + "\n", `line 1: the form is "x"`},
		"a broken line":    {`{"schema": "` + Schema + `"}`, header + "{oops}\n", "line 2"},
		"an odd line":      {`{"schema": "` + Schema + `"}`, header + "{\"odd\": 1}\n", "line 2: it is of a form"},
		"no such value":    {`{"schema": "` + Schema + `"}`, header + `{"at":"model 1.1","request":{"a":{"$value":"ff"}},"response":1}` + "\n", "line 2: it refers to value ff"},
		"no response":      {`{"schema": "` + Schema + `"}`, header + `{"at":"model 1.1","request":{}}` + "\n", "line 2: an exchange has"},
		"another response": {`{"schema": "` + Schema + `"}`, header + `{"at":"model 1.1","request":{"model":"m","messages":["one"]},"response":{}}` + "\n", "read the response of model call 1"},
		"a request list":   {`{"schema": "` + Schema + `"}`, header + `{"at":"model 1.1","request":[],"response":1}` + "\n", "line 2: an exchange has"},
		"cut off":          {`{"schema": "` + Schema + `"}`, header + `{"at":"model 1.1","request`, "its last line is cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.index != "" {
				if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(tt.index), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(tt.session), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Replay(dir, nil)
			if err == nil {
				_, err = next(p, place("s", 1, 1), asks("one"))
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSessionsHaveFilesOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, session := range []string{"", "_", "case-1", "Case-1", "case_1", "case.1", "../up", "run", "ü", "a b"} {
		name := fileOf(session)
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q share %s", session, other, name)
		}
		seen[name] = session
		if strings.ContainsAny(name, `/\.`) {
			t.Errorf("%q is kept in %q", session, name)
		}
	}
	if fileOf("case-1/judge") != fileOf("case-1") {
		t.Error("what runs on behalf of a session is kept elsewhere")
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"schema":"holodeck.cassette/v1","session":"s"}`))
	f.Add([]byte(`{"value":"00","is":{"a":[1,"x"]}}`))
	f.Add([]byte(`{"at":"model 1.1","request":{"a":{"$value":"00"}},"response":{}}`))
	f.Add([]byte(`{"scope":"s","now":{"first":"2026-01-02T03:04:05Z","then":[1,2]},"ids":["x"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		p := &Player{scopes: map[string]*playedScope{}, files: map[string]*playedFile{}}
		file := &playedFile{values: map[string]any{"00": "v"}, exchanges: map[string][]played{}}
		session := "s"
		for n := range 2 {
			_ = p.line(file, &session, n+1, data)
		}
		for _, s := range p.scopes {
			env := s.env(testEnv())
			for range 3 {
				env.Now()
				env.NewID()
			}
		}
	})
}

func FuzzMasked(f *testing.F) {
	f.Add([]byte(`{"a": "secret-value", "secret-value": [1, -2.5e7, null, true, "\u0073ecret-value"]}`))
	r := secret.NewRedactor([]string{"secret-value", "12345678"})
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		out := masked(data, r)
		if !json.Valid(out) {
			t.Fatalf("%s became %s", data, out)
		}
		if again := masked(out, r); string(again) != string(out) {
			t.Errorf("%s became %s, and then %s", data, out, again)
		}
		v, err := decode(out)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprint(v), "secret-value") {
			t.Errorf("%s became %s", data, out)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	r := record(b, filepath.Join(b.TempDir(), "tape"))
	history := make([]string, 20)
	for i := range history {
		history[i] = strings.Repeat("all work and no play makes a dull boy ", 30)
	}
	request := []Field{{"model", "m"}, {"system", "Be brief."}, {"messages", history}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Add(place("s", 1, i), request, "ok")
	}
	if r.err != nil {
		b.Fatal(r.err)
	}
}
