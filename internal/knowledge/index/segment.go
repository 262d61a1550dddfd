package index

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// Version names the rules that what is stored depends on: of this package and of
// the words it counts.
const Version = "index/2+" + words.Version

// Segment holds the words of some passages, counted. It never changes.
type Segment struct {
	terms    []string  // distinct, in order of appearance
	lengths  []uint32  // words of each passage
	ends     []uint32  // where the postings of each passage end
	postings []posting // of all passages, in order; by term within a passage
}

// posting says how often a passage has a term.
type posting struct{ term, count uint32 }

// Analyze counts the words of texts.
func (a Analyzer) Analyze(texts []string) *Segment {
	s := &Segment{}
	ids := map[string]uint32{}
	counts := map[uint32]uint32{}
	for _, text := range texts {
		clear(counts)
		length := uint32(0)
		for w := range a.words(text) {
			id, ok := ids[string(w.Stem)]
			if !ok {
				id = uint32(len(s.terms))
				term := string(w.Stem)
				ids[term] = id
				s.terms = append(s.terms, term)
			}
			counts[id]++
			length++
		}
		begin := len(s.postings)
		for id, n := range counts {
			s.postings = append(s.postings, posting{id, n})
		}
		slices.SortFunc(s.postings[begin:], func(a, b posting) int { return int(a.term) - int(b.term) })
		s.lengths = append(s.lengths, length)
		s.ends = append(s.ends, uint32(len(s.postings)))
	}
	return s
}

// Len is the number of passages.
func (s *Segment) Len() int { return len(s.lengths) }

// of returns the postings of passage i.
func (s *Segment) of(i int) []posting {
	begin := uint32(0)
	if i > 0 {
		begin = s.ends[i-1]
	}
	return s.postings[begin:s.ends[i]]
}

// Append appends s to b as bytes that ParseSegment takes back: the number of
// terms; each term's length and bytes; the number of passages; each passage's
// number of postings and, for each, the distance to the term before and the
// count. All numbers are unsigned varints. Lengths are sums of counts.
func (s *Segment) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s.terms)))
	for _, term := range s.terms {
		b = binary.AppendUvarint(b, uint64(len(term)))
		b = append(b, term...)
	}
	b = binary.AppendUvarint(b, uint64(len(s.lengths)))
	for i := range s.lengths {
		postings := s.of(i)
		b = binary.AppendUvarint(b, uint64(len(postings)))
		last := uint32(0)
		for _, p := range postings {
			b = binary.AppendUvarint(b, uint64(p.term-last))
			b = binary.AppendUvarint(b, uint64(p.count))
			last = p.term
		}
	}
	return b
}

// errSegment says that the bytes are not of a segment.
var errSegment = errors.New("damaged words of passages")

// ParseSegment is the inverse of Append. Bytes that Append cannot have written
// are an error.
func ParseSegment(b []byte) (*Segment, error) {
	in := reader{rest: string(b)} // one string for all: the terms are slices of it
	s := &Segment{terms: make([]string, 0, in.count(1))}
	for range cap(s.terms) {
		s.terms = append(s.terms, in.text(in.count(1)))
	}
	passages := in.count(1)
	s.lengths = make([]uint32, 0, passages)
	s.ends = make([]uint32, 0, passages)
	for range passages {
		var term, length uint64
		for i := range in.count(2) {
			distance, count := in.number(), in.number()
			term += distance
			length += count
			ascends := distance < uint64(len(s.terms)) && (i == 0 || distance > 0)
			if !ascends || term >= uint64(len(s.terms)) || count == 0 || count > math.MaxUint32 || length > math.MaxUint32 {
				return nil, errSegment
			}
			s.postings = append(s.postings, posting{uint32(term), uint32(count)})
		}
		s.lengths = append(s.lengths, uint32(length))
		s.ends = append(s.ends, uint32(len(s.postings)))
	}
	if in.failed || len(in.rest) > 0 {
		return nil, errSegment
	}
	return s, nil
}

// reader takes numbers and texts off a string and remembers that one was
// missing.
type reader struct {
	rest   string
	failed bool
}

// number returns an unsigned varint.
func (r *reader) number() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.failed, r.rest = true, ""
	return 0
}

// count returns a number of things that take at least size bytes each. More
// than the rest can hold are none.
func (r *reader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.rest)/size) {
		r.failed, r.rest = true, ""
		return 0
	}
	return int(n)
}

func (r *reader) text(n int) string {
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
