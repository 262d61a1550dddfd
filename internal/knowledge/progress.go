package knowledge

// Progress says how far the indexing of a tool is.
type Progress struct {
	Tool string
	// Documents counts the files whose passages have their vectors, of those that
	// are to be indexed.
	Documents, DocumentsTotal int
	// Passages counts the passages that have their vectors; of a text that occurs
	// again the vector is there already.
	Passages, PassagesTotal int
	// Contexts counts those that a model has written.
	Contexts, ContextsTotal int
	// Tokens are what models said they read and wrote, and what was embedded at
	// four characters a token.
	Tokens int
	// CostUSD is what models cost, as far as their prices are known.
	CostUSD float64
}

// report changes the progress and tells it.
func (v *searchTool) report(change func(p *Progress)) {
	v.mu.Lock()
	defer v.mu.Unlock() // in order
	change(&v.done)
	if v.progress != nil {
		v.progress(v.done)
	}
}
