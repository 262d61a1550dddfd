package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
)

// Usage counts the tokens of a model call or of a turn.
type Usage struct {
	// Prompt is everything the model read, cached tokens included.
	Prompt int `json:"prompt_tokens"`
	// Completion is everything it wrote, reasoning included.
	Completion int `json:"completion_tokens"`
	// Total is Prompt plus Completion.
	Total int `json:"total_tokens"`
	// Cached and CacheWrite are shares of Prompt; Reasoning is a share of Completion.
	Cached     int `json:"cached_tokens,omitempty"`
	CacheWrite int `json:"cache_write_tokens,omitempty"`
	Reasoning  int `json:"reasoning_tokens,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Prompt:     u.Prompt + v.Prompt,
		Completion: u.Completion + v.Completion,
		Total:      u.Total + v.Total,
		Cached:     u.Cached + v.Cached,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning:  u.Reasoning + v.Reasoning,
	}
}

// ToolCall is a call as a Result shows it.
type ToolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	CallID    string          `json:"call_id"`
}

// ToolCallResult is what a call returned, as a Result shows it. It is paired
// with its ToolCall by CallID, never by position: in a turn that failed, a call
// may have no result.
type ToolCallResult struct {
	Name    string `json:"name"`
	Result  string `json:"result"`
	CallID  string `json:"call_id"`
	IsError bool   `json:"is_error"`
	// Passages are what a retrieval tool found.
	Passages []Passage `json:"passages,omitempty"`
}

// Result is a turn, folded. Its JSON form is what `run --json` prints.
type Result struct {
	Response string `json:"response"`
	// ToolCalls are the calls in the order in which the model asked for them, those
	// of sub-agents included, and ToolResults what they returned, in that order.
	ToolCalls   []ToolCall       `json:"tool_calls"`
	ToolResults []ToolCallResult `json:"tool_results"`
	// Usage is the sum over the turn's model calls, sub-agents included.
	Usage Usage `json:"token_usage"`
	// NumTurns is the number of model responses the main agent gave.
	NumTurns    int    `json:"num_turns"`
	IsError     bool   `json:"is_error"`
	ErrorReason string `json:"error_reason,omitempty"`

	Structured json.RawMessage `json:"structured_output,omitempty"`
	Thinking   string          `json:"thinking,omitempty"`
	// CostUSD is nil when the price of any model call is not known.
	CostUSD    *float64   `json:"cost_usd,omitempty"`
	StopReason StopReason `json:"stop_reason,omitempty"`
	Provider   string     `json:"provider,omitempty"`
	Model      string     `json:"model,omitempty"`
	Notices    []Notice   `json:"notices,omitempty"`
}

// ErrNoEnd is returned by Collect for a sequence that ended without a
// TurnFinished and without an error: a runtime that broke the contract.
var ErrNoEnd = errors.New("the turn ended without a result")

// Collect folds the events of a turn. When the turn ended in an error it
// returns what had arrived by then beside that error.
func Collect(seq iter.Seq2[Event, error]) (Result, error) {
	var f Folder
	for e, err := range seq {
		if err != nil {
			return f.Result(), err
		}
		f.Add(e)
	}
	if !f.finished {
		return f.Result(), ErrNoEnd
	}
	return f.Result(), nil
}

// Folder folds events one by one, for a consumer that also shows them as they
// come. The zero Folder is ready to use.
type Folder struct {
	res      Result
	segment  strings.Builder // text of the main agent's model response under way
	last     string          // text of its last response that had any
	ended    bool            // the response under way has ended
	thinking []string
	think    strings.Builder
	cost     float64
	priced   bool // every model call so far had a price
	calls    int
	finished bool
}

// Add takes the turn's next event.
func (f *Folder) Add(e Event) {
	main := e.Header().Parent == ""
	switch e := e.(type) {
	case TextDelta:
		if main {
			f.beginResponse()
			f.segment.WriteString(e.Text)
		}
	case ThinkingDelta:
		if main {
			f.beginResponse()
			f.think.WriteString(e.Text)
		}
	case ModelCall:
		f.endModelCall(e, main && e.Purpose == "")
	case ToolCallStarted:
		f.res.ToolCalls = append(f.res.ToolCalls, ToolCall{Name: e.Name, Arguments: e.Arguments, CallID: e.CallID})
	case ToolCallFinished:
		f.res.ToolResults = append(f.res.ToolResults, ToolCallResult{
			Name: e.Name, Result: e.Result.Text(), CallID: e.CallID,
			IsError: e.Result.IsError || e.Err != "", Passages: e.Result.Passages,
		})
	case Notice:
		f.res.Notices = append(f.res.Notices, e)
	case TurnFinished:
		f.finished = true
		f.res.Response = e.Response
		f.res.Structured = e.Structured
		f.res.StopReason = e.StopReason
		f.res.IsError = e.IsError
		f.res.ErrorReason = e.Reason
	}
}

// beginResponse starts a new segment when the last response has ended.
func (f *Folder) beginResponse() {
	if !f.ended {
		return
	}
	f.ended = false
	f.segment.Reset()
}

func (f *Folder) endModelCall(e ModelCall, main bool) {
	f.res.Usage = f.res.Usage.Add(e.Usage)
	f.priced = e.CostUSD != nil && (f.calls == 0 || f.priced)
	if e.CostUSD != nil {
		f.cost += *e.CostUSD
	}
	f.calls++
	if !main {
		return
	}
	f.beginResponse() // a response without any delta
	f.ended = true
	f.res.NumTurns++
	f.res.Provider, f.res.Model = e.Provider, e.Model
	if f.segment.Len() > 0 {
		f.last = f.segment.String()
	}
	if f.think.Len() > 0 {
		f.thinking = append(f.thinking, f.think.String())
		f.think.Reset()
	}
}

// Result returns the fold so far. Before TurnFinished its Response is the
// partial text: of the response under way, or of the last that had any.
func (f *Folder) Result() Result {
	r := f.res
	if !f.finished {
		r.Response = f.last
		if f.segment.Len() > 0 {
			r.Response = f.segment.String()
		}
	}
	thinking := f.thinking
	if f.think.Len() > 0 {
		thinking = append(thinking[:len(thinking):len(thinking)], f.think.String())
	}
	r.Thinking = strings.Join(thinking, "\n\n")
	if f.calls > 0 && f.priced {
		cost := f.cost
		r.CostUSD = &cost
	}
	if r.ToolCalls == nil {
		r.ToolCalls = []ToolCall{}
	}
	r.ToolResults = f.inCallOrder()
	return r
}

// inCallOrder returns the tool results in the order of their calls: calls that
// run at once end in another order every time.
func (f *Folder) inCallOrder() []ToolCallResult {
	place := make(map[string]int, len(f.res.ToolCalls))
	for i, call := range f.res.ToolCalls {
		place[call.CallID] = i
	}
	results := append([]ToolCallResult{}, f.res.ToolResults...)
	slices.SortStableFunc(results, func(a, b ToolCallResult) int { return cmp.Compare(place[a.CallID], place[b.CallID]) })
	return results
}

// RunOnce runs one turn in a session of its own: session, send, collect, close.
func RunOnce(ctx context.Context, b Backend, m Message) (Result, error) {
	s, err := b.NewSession(ctx, SessionOptions{Mode: ModeRun})
	if err != nil {
		return Result{}, err
	}
	r, err := Collect(s.Send(ctx, m))
	return r, errors.Join(err, s.Close())
}
