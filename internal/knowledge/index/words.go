package index

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"

	"github.com/holodeck-go/holodeck/internal/embed/words"
)

// Plain is the language of an [Analyzer] that joins no inflections and knows no
// stop words.
const Plain = "none"

// Languages lists the languages of analyzers, besides the light rules for
// English that the zero one has.
func Languages() []string {
	return []string{Plain, "english", "french", "hungarian", "norwegian", "russian", "spanish", "swedish"}
}

// Analyzer turns text into the words that are counted. The zero Analyzer has
// the light rules for English of package words, which leave other languages
// as they are.
type Analyzer struct{ language string }

// NewAnalyzer returns the analyzer of a language; the empty one is the zero
// Analyzer.
func NewAnalyzer(language string) (Analyzer, error) {
	if language != "" && !slices.Contains(Languages(), language) {
		return Analyzer{}, fmt.Errorf("there are no word rules for language %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	return Analyzer{language}, nil
}

// words yields the words of text in order, as package words does.
func (a Analyzer) words(text string) iter.Seq[words.Word] {
	if a.language == "" {
		return words.All(text)
	}
	return func(yield func(words.Word) bool) {
		for lower := range words.Lower(text) {
			if !yield(a.word(lower)) {
				return
			}
		}
	}
}

// word returns the word whose lower case is given, by Snowball's rules
// (snowballstem.org) for the language.
func (a Analyzer) word(lower []byte) words.Word {
	if a.language == Plain {
		return words.Word{Stem: lower}
	}
	w := string(lower)
	stem, stop := english.Stem, english.IsStopWord
	switch a.language {
	case "french":
		stem, stop = french.Stem, french.IsStopWord
	case "hungarian":
		stem, stop = hungarian.Stem, hungarian.IsStopWord
	case "norwegian":
		stem, stop = norwegian.Stem, norwegian.IsStopWord
	case "russian":
		stem, stop = russian.Stem, russian.IsStopWord
	case "spanish":
		stem, stop = spanish.Stem, spanish.IsStopWord
	case "swedish":
		stem, stop = swedish.Stem, swedish.IsStopWord
	}
	if stop(w) {
		return words.Word{Stem: lower, Stop: true}
	}
	return words.Word{Stem: []byte(stem(w, false))}
}
