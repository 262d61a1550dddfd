package config

// report collects the problems of one load, each once.
type report struct {
	problems []Problem
	seen     map[seenKey]bool
}

// seenKey is what makes two problems the same although their paths differ: a
// value that an alias or merging put in two places is reported once.
type seenKey struct {
	pos  Pos
	code string
	text string
}

// add reports a problem.
func (r *report) add(p Problem) {
	key := seenKey{p.Pos, p.Code, p.Text}
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[seenKey]bool{}
	}
	r.seen[key] = true
	r.problems = append(r.problems, p)
}
