package chunk

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// maxTokenBytes is the length of the longest token of cl100k_base.
const maxTokenBytes = 128

// Tokens counts the tokens of texts as OpenAI's cl100k_base encoding does. The
// zero value is ready; its vocabulary is read with the first count. It is safe
// for concurrent use.
type Tokens struct {
	once  sync.Once
	codec *codec.Codec
}

// Count returns how many tokens text has.
func (t *Tokens) Count(text string) int {
	t.once.Do(func() { t.codec = codec.NewCl100kBase() })
	n, err := t.codec.Count(text)
	if err != nil {
		return len(text) // no text has more tokens than bytes
	}
	return n
}
