package chat_test

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/chat"
)

func TestWhatCannotBeKeptIsToldAndTheConversationGoesOn(t *testing.T) {
	f := open(t, bot)
	chats := f.opts.Store.Dir()
	p := &person{says: []any{"a", func() {
		if err := errors.Join(os.RemoveAll(chats), os.WriteFile(chats, nil, 0o600)); err != nil {
			t.Error(err)
		}
	}, "b", func() {
		if err := os.Remove(chats); err != nil {
			t.Error(err)
		}
	}, "/reset", "c", "/save"}}
	f.talk(t, p)
	p.sees(t, "one", "two", "it goes on here, and /save tries again", "one", "kept as ")
	if strings.Contains(strings.Join(p.shown, "\n"), "goes back to the one before") {
		t.Error("/reset promises what is not kept")
	}
}

func TestSecretsAreMaskedInWhatIsKept(t *testing.T) {
	f := open(t, strings.Replace(bot, "inline: Be brief.", `inline: "Key: ${SHOP_API_KEY}"`, 1))
	f.opts.Mask = func(turn iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] { return turn }
	f.talk(t, &person{says: []any{"my secret is hunter2-hunter2", "/save out.md", "/case"}})
	files := []string{filepath.Join(f.dir, "out.md"), filepath.Join(f.dir, "agent.yaml"), filepath.Join(f.opts.Store.Dir(), f.newest(t).ID, "chat.json")}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		said := strings.ReplaceAll(string(data), bot, "")
		if file != files[1] && strings.Contains(said, "hunter2") || strings.Count(string(data), "hunter2-hunter2") > strings.Count(bot, "hunter2-hunter2") {
			t.Errorf("%s holds the secret:\n%s", file, data)
		}
		if !strings.Contains(said, "[redacted]") {
			t.Errorf("%s:\n%s", file, data)
		}
	}
	info, err := os.Stat(files[2])
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

func TestAFileIsContinuedAsAConversationOfItsOwn(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a", "/save early.json", "b", "c"}})
	kept := f.newest(t)
	early, err := f.opts.Store.Find(filepath.Join(f.dir, "early.json"))
	if err != nil {
		t.Fatal(err)
	}
	f.opts.Resume = early
	p := &person{says: []any{"again"}}
	f.talk(t, p)
	p.sees(t, "continues the conversation", "two")
	if r, err := f.opts.Store.Find(kept.ID); err != nil || len(r.Exchanges) != 3 {
		t.Errorf("%v, %+v: what was kept is lost", err, r)
	}
	if list, _, err := f.opts.Store.List(); err != nil || len(list) != 2 || list[0].Messages != 2 {
		t.Errorf("%v, %+v", err, list)
	}
}

func TestTwoProcessesAreNeverInOneConversation(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a"}})
	r := f.newest(t)
	other := f.opts
	other.Resume = r
	p := &person{says: []any{func() {
		other.Screen = &person{}
		if _, err := chat.Run(t.Context(), other); !errors.Is(err, chat.ErrInUse) {
			t.Errorf("the second one ended in %v", err)
		}
	}}}
	f.opts.Resume = r
	f.talk(t, p)
	other.Screen = &person{}
	if _, err := chat.Run(t.Context(), other); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

func TestAConversationOfAnotherAgentIsNotContinued(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a"}})
	for want, change := range map[string]func(*chat.Record){
		"held with the agent other":           func(r *chat.Record) { r.Agent = "other" },
		"held on the runtime claude":          func(r *chat.Record) { r.Runtime = "claude" },
		"held with a model of anthropic":      func(r *chat.Record) { r.Provider = "anthropic" },
		"the snapshot's schema is \"new/v7\"": func(r *chat.Record) { r.Snapshots[0].State = []byte(`{"schema":"new/v7"}`) },
	} {
		o := f.opts
		o.Resume, o.Screen = f.newest(t), &person{}
		change(o.Resume)
		if _, err := chat.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestADamagedConversationThatIsTheNewestIsNamed(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a"}})
	good := f.newest(t)
	write(t, filepath.Join(f.opts.Store.Dir(), "ZZZ", "chat.json"), `{"schema":`)
	if _, err := f.opts.Store.Find(""); err == nil || !strings.Contains(err.Error(), "ZZZ") || !strings.Contains(err.Error(), " --resume="+good.ID+" continues the one before it") {
		t.Errorf("%v", err)
	}
	if _, err := f.opts.Store.Find("NOSUCH"); !errors.As(err, new(*chat.NotFoundError)) {
		t.Errorf("%v", err)
	}
	if _, err := f.opts.Store.Find("zz"); err == nil || !strings.Contains(err.Error(), "it is damaged") {
		t.Errorf("%v", err)
	}
	if r, err := f.opts.Store.Find(good.ID); err != nil || r.ID != good.ID {
		t.Errorf("%v", err)
	}
}

func TestConversationsAreKeptByAgentFile(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a"}})
	other := *f.opts.Agent
	other.File = filepath.Join(f.dir, "other.yaml")
	store, err := chat.OpenStore(&other, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if list, _, err := store.List(); err != nil || len(list) != 0 || len(store.Said()) != 0 {
		t.Errorf("another agent of the folder sees %v, %q, %v", list, store.Said(), err)
	}
	if _, err := store.Find(""); err == nil || !strings.Contains(err.Error(), "no conversation is kept; holodeck chat "+other.File+" begins one") {
		t.Errorf("%v", err)
	}
	if r := f.newest(t); r.AgentFile != "agent.yaml" {
		t.Errorf("%+v", r.About)
	}
}

func TestWhatCannotBeKeptToTheEndIsAnError(t *testing.T) {
	f := open(t, bot)
	chats := f.opts.Store.Dir()
	block := func() {
		if err := errors.Join(os.RemoveAll(chats), os.WriteFile(chats, nil, 0o600)); err != nil {
			t.Error(err)
		}
	}
	o := f.opts
	o.Screen = &person{says: []any{block, "a"}}
	if _, err := chat.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "the conversation is not kept") {
		t.Errorf("%v", err)
	}
	free := func() {
		if err := os.Remove(chats); err != nil {
			t.Error(err)
		}
	}
	f.talk(t, &person{says: []any{block, "a", free}})
	if n := len(f.newest(t).Exchanges); n != 1 {
		t.Errorf("%d exchanges are kept at last", n)
	}
}

func TestDamagedConversationsHideNoOthers(t *testing.T) {
	f := open(t, bot)
	f.talk(t, &person{says: []any{"a"}})
	write(t, filepath.Join(f.opts.Store.Dir(), "ZZZ", "chat.json"), `{"schema":`)
	list, damaged, err := f.opts.Store.List()
	if err != nil || len(list) != 1 || len(damaged) != 1 || !strings.Contains(damaged[0].Error(), "ZZZ") {
		t.Errorf("%v, %v, %v", list, damaged, err)
	}
	if table := f.opts.Store.Table(list); !strings.Contains(table, "1 message") || !strings.HasSuffix(table, "  a\n") {
		t.Errorf("%q", table)
	}
}
