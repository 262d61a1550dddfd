package store

import (
	"encoding/binary"
	"fmt"
	"math"
)

// encodePassages returns passages as bytes that decodePassages takes back:
// their number, then each with its fields in order. Numbers are unsigned
// varints, strings are preceded by their length, lists by their number.
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
		b = appendString(b, p.Context)
		b = appendPlace(b, p.Place)
	}
	return b
}

// appendPlace appends 0 for nil, or 1 and the fields of the place.
func appendPlace(b []byte, p *Place) []byte {
	if p == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	for _, s := range []string{p.Kind, p.Title, p.Number, p.SectionID} {
		b = appendString(b, s)
	}
	b = appendStrings(b, p.Chain)
	b = appendStrings(b, p.SubsectionIDs)
	b = binary.AppendUvarint(b, uint64(p.Page))
	b = binary.AppendUvarint(b, uint64(p.LastPage))
	b = binary.AppendUvarint(b, uint64(len(p.Definitions)))
	for _, d := range p.Definitions {
		b = appendString(b, d.Term)
		b = appendString(b, d.Text)
	}
	b = binary.AppendUvarint(b, uint64(len(p.References)))
	for _, r := range p.References {
		b = appendString(b, r.Text)
		b = binary.AppendUvarint(b, uint64(r.Target+1))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// decodePassages is the inverse of encodePassages.
func decodePassages(b []byte) ([]Passage, error) {
	// One string for all: the passages are slices of it.
	in := decoder{rest: string(b)}
	const least = 5 // bytes of a passage
	passages := make([]Passage, 0, in.count(least))
	for range cap(passages) {
		p := Passage{ID: in.text(), Text: in.text()}
		if n := in.count(2); n > 0 {
			p.Meta = make([]Field, n)
			for i := range p.Meta {
				p.Meta[i] = Field{Name: in.text(), Value: in.text()}
			}
		}
		p.Context = in.text()
		p.Place = in.place()
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

// number returns a number, which is at most most.
func (d *decoder) number(most int) int {
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
	if v > uint64(most) {
		d.fail()
		return 0
	}
	return int(v)
}

// count returns a number of things that take at least size bytes each. More
// than the rest can hold are none.
func (d *decoder) count(size int) int { return d.number(len(d.rest) / size) }

func (d *decoder) text() string {
	n := d.count(1)
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// texts returns a list of strings, nil when it is empty.
func (d *decoder) texts() []string {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
}

// place is the inverse of appendPlace.
func (d *decoder) place() *Place {
	if d.number(1) == 0 {
		return nil
	}
	p := &Place{Kind: d.text(), Title: d.text(), Number: d.text(), SectionID: d.text()}
	p.Chain, p.SubsectionIDs = d.texts(), d.texts()
	p.Page, p.LastPage = d.number(math.MaxInt32), d.number(math.MaxInt32)
	if n := d.count(2); n > 0 {
		p.Definitions = make([]Definition, n)
		for i := range p.Definitions {
			p.Definitions[i] = Definition{Term: d.text(), Text: d.text()}
		}
	}
	if n := d.count(2); n > 0 {
		p.References = make([]Reference, n)
		for i := range p.References {
			p.References[i] = Reference{Text: d.text(), Target: d.number(math.MaxInt32) - 1}
		}
	}
	return p
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
