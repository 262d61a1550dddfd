package markdown

// Tone is how a text looks that is no Markdown.
type Tone int

// The tones.
const (
	Normal Tone = iota
	Faint
	Strong
	Bad
)

// Text returns a text as it stands, in lines that are at most so many columns
// wide. The lines that one goes on in are indented by hang columns.
func (r *Renderer) Text(text string, width, hang int, tone Tone) []string {
	p := &page{color: r.color}
	width = max(width, 4)
	room, hang := inner(width, hang)
	l := map[Tone]look{Faint: {dim: true}, Strong: {bold: true}, Bad: {bad: true}}[tone]
	var out []string
	for _, line := range lines(cells(text, l)) {
		first, rest := split(line, width)
		out = append(out, p.paint(first))
		if len(rest) > 0 {
			for _, more := range p.wrap(rest, room) {
				out = append(out, spaces(hang)+more)
			}
		}
	}
	return out
}
