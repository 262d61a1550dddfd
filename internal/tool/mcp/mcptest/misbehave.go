package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// AddressVariable holds a TCP address to which a server that is to be missed
// connects for as long as it lives.
const AddressVariable = "MCPTEST_ADDRESS"

// Misbehave runs a stdio server that does wrong in one way:
//
//	exits           says why on stderr and ends with status 3
//	garbage         writes a line to stdout that is no message, then goes on
//	garbage-later   does so when a tool is called
//	mute            never answers
//	ignores-eof     goes on when stdin ends, and when it is asked to terminate
//	grandchildren   starts a process that ignores-eof, too
//	many            has 2,000 tools
//	large-schema    has a tool whose schema is 5 MB, and a good one
//	invalid-schema  has a tool whose schema is none, and a good one
//	no-object       has a tool whose arguments are no object, and a good one
//	refuses         refuses calls, with an escape sequence in a long line on stderr
//	duplicates      has two tools of one name
//	endless         lists a page of tools after the other
//	huge            answers calls with more than a message may hold
//	version         speaks a version of the protocol that nobody knows
//	old             speaks 2024-11-05
//	late            answers the first call only when that was cancelled; it is
//	                connected to the address in between
//	dies            ends during a call
//	once            dies, and does not start again in that folder
//	deaf            reads nothing after the start
//	batch           answers in batches, as 2025-03-26 has them
//	bad-result      answers a call with what is no result
//	environment     answers calls with its environment, folder and arguments
//	latin-1         speaks ISO 8859-1, and answers calls with their argument text
//	crlf            ends lines with CR LF, and writes empty ones
func Misbehave(way string) error {
	if way == "exits" {
		return fmt.Errorf("cannot find the database\nset DATABASE_URL")
	}
	if way == "once" {
		if err := os.Mkdir(".mcptest-once", 0o700); err != nil {
			return fmt.Errorf("the database is still locked: %w", err)
		}
	}
	b := &bad{way: way, out: bufio.NewWriter(os.Stdout)}
	switch way {
	case "garbage":
		b.line("Server is starting ...")
	case "ignores-eof", "grandchildren", "grandchild":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		if err := b.linger(); err != nil {
			return err
		}
	}
	if way == "grandchild" {
		fmt.Println("up")
		select {}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		if err := b.read(line); err != nil {
			return err
		}
	}
	if way == "ignores-eof" || way == "grandchildren" {
		select {}
	}
	return nil
}

// bad is a server that does wrong.
type bad struct {
	way  string
	out  *bufio.Writer
	late json.RawMessage // id of the call that is to be answered late
	conn net.Conn        // open as long as it waits
	page int
}

// linger connects to the address that notices the end of the server, and starts a
// child that does, too.
func (b *bad) linger() error {
	conn, err := net.Dial("tcp", os.Getenv(AddressVariable))
	if err != nil {
		return err
	}
	go io.Copy(io.Discard, conn) // keeps it open as long as the process lives
	if b.way != "grandchildren" {
		return nil
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ServerVariable+"=bad grandchild")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return err
}

// message is a message of a client.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage   `json:"requestId"`
		Arguments map[string]string `json:"arguments"`
	} `json:"params"`
}

// read answers a message.
func (b *bad) read(line []byte) error {
	if b.way == "latin-1" {
		line = fromLatin1(line)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	switch {
	case b.way == "mute":
	case m.Method == "initialize":
		b.answer(m.ID, b.initialized())
	case m.Method == "notifications/initialized" && b.way == "deaf":
		b.answer(json.RawMessage("2"), map[string]any{"tools": tools("good")}) // whose question it will not read
		select {}
	case m.Method == "notifications/cancelled" && b.way == "late":
		b.answer(b.late, said("too late"))
		b.answer(m.Params.RequestID, said("too late again"))
		return b.conn.Close()
	case m.Method == "tools/list":
		b.answer(m.ID, b.list())
	case m.Method == "tools/call" && b.way == "late" && b.late == nil:
		b.late = slices.Clone(m.ID)
		var err error
		b.conn, err = net.Dial("tcp", os.Getenv(AddressVariable))
		return err
	case m.Method == "tools/call" && b.way == "latin-1":
		b.answer(m.ID, said(m.Params.Arguments["text"]))
	case m.Method == "tools/call":
		b.call(m.ID)
	case m.ID != nil:
		b.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID))
	}
	return nil
}

func (b *bad) initialized() map[string]any {
	version := "2025-11-25"
	switch b.way {
	case "version":
		version = "1999-01-01"
	case "old":
		version = "2024-11-05"
	case "batch":
		version = "2025-03-26"
	}
	return map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}},
		"serverInfo": map[string]any{"name": "bad", "version": "0"},
	}
}

// tools returns tools of these names.
func tools(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, map[string]any{"name": name, "description": "The tool " + name + ".", "inputSchema": map[string]any{"type": "object"}})
	}
	return list
}

func (b *bad) list() map[string]any {
	list := tools("good")
	switch b.way {
	case "many":
		var names []string
		for i := range 2000 {
			names = append(names, fmt.Sprintf("tool-%04d", i))
		}
		list = tools(names...)
	case "large-schema":
		list = append(tools("large"), list...)
		list[0].(map[string]any)["inputSchema"] = map[string]any{"type": "object", "description": strings.Repeat("x", 5_000_000)}
	case "invalid-schema":
		list = append(tools("invalid"), list...)
		list[0].(map[string]any)["inputSchema"] = map[string]any{"type": "nothing", "properties": 7}
	case "no-object":
		list = append(tools("scalar"), list...)
		list[0].(map[string]any)["inputSchema"] = map[string]any{"type": "string"}
	case "duplicates":
		list = tools("read.file", "good", "read-file")
	case "endless":
		b.page++
		return map[string]any{"tools": tools(fmt.Sprintf("tool-%d", b.page)), "nextCursor": "again"}
	}
	return map[string]any{"tools": list}
}

func (b *bad) call(id json.RawMessage) {
	switch b.way {
	case "garbage-later":
		b.line("a log line that got lost")
	case "dies", "once":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(4)
	case "refuses":
		fmt.Fprintln(os.Stderr, "\x1b[2J"+strings.Repeat("x", 10_000))
		b.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no \u001b[31mred"}}`, id))
	case "environment":
		dir, err := os.Getwd()
		if err != nil {
			panic(err)
		}
		b.answer(id, said(fmt.Sprintf("%s\ndir=%s\nargs=%q", strings.Join(os.Environ(), "\n"), dir, os.Args[1:])))
	case "huge":
		b.answer(id, said(strings.Repeat("x", 65<<20)))
	case "bad-result":
		b.answer(id, map[string]any{"content": []any{map[string]any{"type": "image", "data": "no base64!", "mimeType": "image/png"}}})
	default:
		b.answer(id, said("well"))
	}
}

func said(text string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}

func (b *bad) answer(id json.RawMessage, result map[string]any) {
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	if err != nil {
		panic(err) // a mistake of this file
	}
	text := string(data)
	if b.way == "batch" {
		text = "[" + text + "]"
	}
	b.line(text)
}

// line writes a line. That nobody reads it any more is seen when stdin ends.
func (b *bad) line(text string) {
	end := "\n"
	if b.way == "latin-1" {
		text = toLatin1(text)
	}
	if b.way == "crlf" {
		end = "\r\n\r\n  \n"
	}
	_, _ = b.out.WriteString(text + end)
	_ = b.out.Flush()
}

// fromLatin1 and toLatin1 turn ISO 8859-1 into UTF-8 and back: there a byte is the
// character of its number.
func fromLatin1(text []byte) []byte {
	var out []byte
	for _, c := range text {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

func toLatin1(text string) string {
	var out []byte
	for _, r := range text {
		out = append(out, byte(r))
	}
	return string(out)
}
