package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	tableplugin "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlDocument returns what a page says, as Markdown.
func htmlDocument(data []byte) (Document, error) {
	text, note, err := Text(data)
	if err != nil {
		return Document{}, err
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return Document{}, fmt.Errorf("is not HTML that can be read: %w", err)
	}
	page := htmlPage{}
	page.prune(root)
	if declared := strings.ToLower(page.charset); note != "" && declared != "" && !slices.Contains([]string{"utf-8", "windows-1252", "iso-8859-1", "latin1", "us-ascii"}, declared) {
		return Document{}, fmt.Errorf("is in the encoding %s; save it as UTF-8", page.charset)
	}
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		tableplugin.NewTablePlugin(tableplugin.WithHeaderPromotion(true), tableplugin.WithSpanCellBehavior(tableplugin.SpanBehaviorMirror), tableplugin.WithNewlineBehavior(tableplugin.NewlineBehaviorPreserve))))
	md, err := conv.ConvertNode(root)
	if err != nil {
		return Document{}, fmt.Errorf("is not HTML that can be read: %w", err)
	}
	out := string(bytes.TrimSpace(md))
	if page.title != "" && !page.headed {
		out = strings.TrimSpace("# " + page.title + "\n\n" + out)
	}
	if out != "" {
		out += "\n"
	}
	return Document{Text: out, Note: note}, nil
}

// htmlPage is what is found in a page besides its text.
type htmlPage struct {
	title   string
	charset string
	headed  bool // it has a heading of the first level
}

// prune removes what is no text of the page from the nodes below n: scripts,
// styles, forms, navigation and what is hidden. Links become their text, and
// pictures what is said of them.
func (p *htmlPage) prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		p.note(c)
		switch {
		case c.Type == html.CommentNode || dropped(c):
			n.RemoveChild(c)
		case c.DataAtom == atom.Img:
			if alt := strings.TrimSpace(attribute(c, "alt")); alt != "" {
				n.InsertBefore(&html.Node{Type: html.TextNode, Data: alt}, c)
			}
			n.RemoveChild(c)
		case c.DataAtom == atom.A:
			first := c.FirstChild
			for inner := first; inner != nil; inner = c.FirstChild {
				c.RemoveChild(inner)
				n.InsertBefore(inner, c)
			}
			n.RemoveChild(c)
			if first != nil {
				next = first
			}
		default:
			p.prune(c)
		}
		c = next
	}
}

// note remembers what a node says of the page.
func (p *htmlPage) note(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if p.title == "" && n.FirstChild != nil && n.Parent.DataAtom == atom.Head {
			p.title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	case atom.H1:
		p.headed = true
	case atom.Meta:
		if c := attribute(n, "charset"); c != "" {
			p.charset = c
		} else if _, c, ok := strings.Cut(strings.ToLower(attribute(n, "content")), "charset="); ok {
			p.charset = strings.TrimSpace(c)
		}
	}
}

// dropped reports whether a node and what is in it are no text of the page.
func dropped(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Nav,
		atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Audio, atom.Video:
		return true
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true", a.Key == "role" && a.Val == "navigation":
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
