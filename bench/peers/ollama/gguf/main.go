// Command gguf writes a model that an Ollama server loads and serves, without
// any training: a llama architecture whose attention and feed-forward are zero,
// whose embedding is one-hot, and whose output matrix is a table of which token
// follows which. It says the text that belongs to the last token of the prompt.
// With -noise the weights are chance: what it says is gibberish, and what it
// embeds has a vector.
//
//	gguf [-noise] OUT.gguf
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

// replies are what the model says after a prompt that ends in a key, one token
// a piece. No piece may occur twice. One that is endless begins again where it
// ends.
var replies = []struct {
	key     string
	pieces  []string
	endless bool
}{
	{key: "<|say|>", pieces: []string{"Hello", " from", " a", " tiny", " scripted", " model", "."}},
	{key: "<|tool|>", pieces: []string{`{"name":`, ` "lookup",`, ` "arguments":`, ` {"q":`, ` "x"}}`}},
	{key: "<|final|>", pieces: []string{"The", " tool", " answered", " and", " I", " am", " done", "!"}},
	{key: "<|on|>", pieces: []string{" over", " hills", " far", " away", ","}, endless: true},
}

// Kinds of token, and of value, as GGUF numbers them.
const (
	tokenNormal, tokenUnknown, tokenControl, tokenUser, tokenUnused, tokenByte = 1, 2, 3, 4, 5, 6

	valueUint32, valueInt32, valueFloat32, valueBool, valueString, valueArray = 4, 5, 6, 7, 8, 9
)

func main() {
	noise := flag.Bool("noise", false, "weights of chance")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gguf [-noise] OUT.gguf")
		os.Exit(2)
	}
	if err := os.WriteFile(flag.Arg(0), write(*noise), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "gguf:", err)
		os.Exit(1)
	}
}

// vocabulary is the tokens of the model, and which follows which.
type vocabulary struct {
	tokens   []string
	kinds    []int32
	scores   []float32
	next     map[int]int
	bos, eos int
}

func (v *vocabulary) add(token string, kind int32, score float32) int {
	v.tokens, v.kinds, v.scores = append(v.tokens, token), append(v.kinds, kind), append(v.scores, score)
	return len(v.tokens) - 1
}

func newVocabulary() *vocabulary {
	v := &vocabulary{next: map[int]int{}}
	v.add("<unk>", tokenUnknown, 0)
	v.bos = v.add("<s>", tokenControl, 0)
	v.eos = v.add("</s>", tokenControl, 0)
	for i := range 256 { // so that any text can be written in tokens
		v.add(fmt.Sprintf("<0x%02X>", i), tokenByte, 0)
	}
	for _, r := range replies {
		last := v.add(r.key, tokenUser, 0)
		first := len(v.tokens)
		for i, piece := range r.pieces {
			token := v.add(strings.ReplaceAll(piece, " ", "\u2581"), tokenNormal, -1000-float32(i))
			v.next[last] = token
			last = token
		}
		v.next[last] = v.eos
		if r.endless {
			v.next[last] = first
		}
	}
	for len(v.tokens)%32 != 0 {
		v.add(fmt.Sprintf("<|unused%d|>", len(v.tokens)), tokenUnused, 0)
	}
	return v
}

// tensor is a matrix of weights, or a vector.
type tensor struct {
	name string
	dims []uint64
	data []float32
}

// tensors returns the weights of one layer of width d over n tokens.
func tensors(v *vocabulary, noise bool, d, forward int) []tensor {
	chance := rand.New(rand.NewPCG(1, 2)) // the same weights every time
	fill := func(size int, of func(i int) bool, value float32) []float32 {
		data := make([]float32, size)
		for i := range data {
			switch {
			case noise:
				data[i] = float32(chance.NormFloat64()) * 0.1
			case of != nil && of(i):
				data[i] = value
			}
		}
		return data
	}
	ones := func() []float32 {
		data := make([]float32, d)
		for i := range data {
			data[i] = 1
		}
		return data
	}
	n := len(v.tokens)
	square := func(name string) tensor { return tensor{name, []uint64{uint64(d), uint64(d)}, fill(d*d, nil, 0)} }
	return []tensor{
		{"token_embd.weight", []uint64{uint64(d), uint64(n)}, fill(d*n, func(i int) bool { return i/d == i%d }, 1)},
		{"output_norm.weight", []uint64{uint64(d)}, ones()},
		// A row holds what speaks for its token, after each token.
		{"output.weight", []uint64{uint64(d), uint64(n)}, fill(d*n, func(i int) bool {
			follows, known := v.next[i%d]
			return known && follows == i/d || !known && i/d == v.eos
		}, 2)},
		{"blk.0.attn_norm.weight", []uint64{uint64(d)}, ones()},
		square("blk.0.attn_q.weight"), square("blk.0.attn_k.weight"), square("blk.0.attn_v.weight"), square("blk.0.attn_output.weight"),
		{"blk.0.ffn_norm.weight", []uint64{uint64(d)}, ones()},
		{"blk.0.ffn_gate.weight", []uint64{uint64(d), uint64(forward)}, fill(d*forward, nil, 0)},
		{"blk.0.ffn_up.weight", []uint64{uint64(d), uint64(forward)}, fill(d*forward, nil, 0)},
		{"blk.0.ffn_down.weight", []uint64{uint64(forward), uint64(d)}, fill(d*forward, nil, 0)},
	}
}

// file is a GGUF file that is being written.
type file struct {
	bytes.Buffer
	values int
}

// put writes numbers; what it is given always encodes.
func (f *file) put(values ...any) {
	for _, v := range values {
		if err := binary.Write(f, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

func (f *file) text(s string) {
	f.put(uint64(len(s)))
	f.WriteString(s)
}

// value writes a key and a value of the kind.
func (f *file) value(key string, kind uint32, value any) {
	f.values++
	f.text(key)
	f.put(kind)
	if s, ok := value.(string); ok {
		f.text(s)
		return
	}
	f.put(value)
}

// list writes a key and a list.
func (f *file) list(key string, kind uint32, length int) {
	f.values++
	f.text(key)
	f.put(uint32(valueArray), kind, uint64(length))
}

func (f *file) pad() {
	for f.Len()%32 != 0 {
		f.WriteByte(0)
	}
}

// write returns the file of a model.
func write(noise bool) []byte {
	const forward, heads = 32, 4
	v := newVocabulary()
	width := len(v.tokens) // one-hot needs a place for every token
	if noise {
		width = 64
	}
	weights := tensors(v, noise, width, forward)

	var about file
	number := func(key string, n int) { about.value(key, valueUint32, uint32(n)) }
	about.value("general.architecture", valueString, "llama")
	about.value("general.name", valueString, "table")
	number("general.file_type", 0)
	number("llama.context_length", 4096)
	number("llama.embedding_length", width)
	number("llama.block_count", 1)
	number("llama.feed_forward_length", forward)
	number("llama.attention.head_count", heads)
	number("llama.attention.head_count_kv", heads)
	about.value("llama.attention.layer_norm_rms_epsilon", valueFloat32, float32(1e-5))
	number("llama.rope.dimension_count", width/heads)
	number("llama.vocab_size", len(v.tokens))
	about.value("tokenizer.ggml.model", valueString, "llama")
	about.list("tokenizer.ggml.tokens", valueString, len(v.tokens))
	for _, t := range v.tokens {
		about.text(t)
	}
	about.list("tokenizer.ggml.scores", valueFloat32, len(v.scores))
	about.put(v.scores)
	about.list("tokenizer.ggml.token_type", valueInt32, len(v.kinds))
	about.put(v.kinds)
	number("tokenizer.ggml.bos_token_id", v.bos)
	number("tokenizer.ggml.eos_token_id", v.eos)
	number("tokenizer.ggml.unknown_token_id", 0)
	about.value("tokenizer.ggml.add_bos_token", valueBool, true)
	about.value("tokenizer.ggml.add_space_prefix", valueBool, false)

	var out file
	out.WriteString("GGUF")
	out.put(uint32(3), uint64(len(weights)), uint64(about.values))
	out.Write(about.Bytes())
	offset := uint64(0)
	for _, t := range weights {
		out.text(t.name)
		out.put(uint32(len(t.dims)), t.dims, uint32(0), offset) // 0: float32
		offset += (uint64(len(t.data))*4 + 31) &^ 31
	}
	out.pad()
	for _, t := range weights {
		out.put(t.data)
		out.pad()
	}
	return out.Bytes()
}
