package store

import (
	"encoding/binary"
	"fmt"
	"math"
)

// encodePassages returns passages as bytes that decodePassages takes back:
// their number; then for each its id, text, number of fields, and the fields'
// names and values. Numbers are unsigned varints, strings are preceded by
// their length.
func encodePassages(passages []Passage) []byte {
	b := binary.AppendUvarint(nil, uint64(len(passages)))
	for _, p := range passages {
		b = appendString(b, p.ID)
		b = appendString(b, p.Text)
		b = binary.AppendUvarint(b, uint64(len(p.Meta)))
		for _, f := range p.Meta {
			b = appendString(b, f.Name)
			b = appendString(b, f.Value)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decodePassages is the inverse of encodePassages.
func decodePassages(b []byte) ([]Passage, error) {
	// One string for all: the passages are slices of it.
	in := decoder{rest: string(b)}
	passages := make([]Passage, 0, in.count(3))
	for range cap(passages) {
		p := Passage{ID: in.text(), Text: in.text()}
		if n := in.count(2); n > 0 {
			p.Meta = make([]Field, n)
			for i := range p.Meta {
				p.Meta[i] = Field{Name: in.text(), Value: in.text()}
			}
		}
		passages = append(passages, p)
	}
	if in.failed || in.rest != "" {
		return nil, fmt.Errorf("%w: damaged passages", ErrUnusable)
	}
	return passages, nil
}

// decoder takes numbers and strings off a string and remembers that one was
// missing.
type decoder struct {
	rest   string
	failed bool
}

// count returns a number of things that take at least size bytes each. More
// than the rest can hold are none.
func (d *decoder) count(size int) int {
	var v uint64
	for shift := 0; ; shift += 7 {
		if d.rest == "" || shift >= 63 {
			d.fail()
			return 0
		}
		c := d.rest[0]
		d.rest = d.rest[1:]
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	if v > uint64(len(d.rest)/size) {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *decoder) text() string {
	n := d.count(1)
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) fail() { d.failed, d.rest = true, "" }

// encodeVectors returns the numbers as IEEE 754 singles, the least byte first.
func encodeVectors(vectors []float32) []byte {
	b := make([]byte, 0, 4*len(vectors))
	for _, v := range vectors {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// decodeVectors is the inverse of encodeVectors.
func decodeVectors(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("%w: damaged vectors", ErrUnusable)
	}
	vectors := make([]float32, len(b)/4)
	for i := range vectors {
		vectors[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return vectors, nil
}
