package offline

import "github.com/holodeck-go/holodeck/internal/embed/words"

// content reports whether a word carries weight in a question: it is no function
// word of the index, and none of the pronouns and modals that the index keeps
// because they may be names there.
func content(w words.Word) bool {
	if w.Stop {
		return false
	}
	switch string(w.Stem) {
	case "one", "someon", "somebod", "anyon", "anybody", "everyon", "everybod", "nobody",
		"someth", "anyth", "everyth", "noth",
		"ought", "abl", "mustn", "shan", "needn", "mightn", "mayb", "perhap":
		return false
	}
	return true
}

// light reports whether a stem is that of a word that questions are made with
// whatever they are about: verbs that say no more than that something is done,
// allowed or wanted, and nouns that stand for any other.
func light(stem string) bool {
	switch stem {
	case "bring", "brought", "com", "go", "goe", "going", "went", "put", "use", "used", "using", "try",
		"allow", "permit", "possibl", "offer", "happen", "exist",
		"find", "found", "see", "look", "say", "ask", "mean",
		"thing", "kind", "sort", "way":
		return true
	}
	return false
}
