package llm

import (
	"fmt"
	"net/http"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/cassette"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/price"
	"github.com/holodeck-go/holodeck/internal/llm/script"
	"github.com/holodeck-go/holodeck/internal/provider"
	"github.com/holodeck-go/holodeck/internal/secret"
)

// Decorator wraps a Model in one more thing that every call needs: a retry, a
// limit, a record, a span. The Model it returns has a method Unwrap() Model
// that gives the one it was handed.
type Decorator func(Model) Model

// Options says how models are reached, and what goes around every call.
type Options struct {
	// Getenv is asked for what a model section leaves to the environment, such as
	// OPENAI_API_KEY; nil knows no variable.
	Getenv func(name string) string
	// HTTP makes the requests; nil is http.DefaultClient.
	HTTP *http.Client
	// Parallel is how many calls may be under way at one endpoint with one key to
	// begin with. The bound then follows what the provider bears. 0 is none until
	// the provider refuses a call as one too many.
	Parallel int
	// Prices says what calls cost; nil knows no price.
	Prices *price.Table
	// Redactor masks secrets in notices, which quote what providers say.
	Redactor *secret.Redactor
	// Recorder records every call; Player plays every call from a record, and no
	// model is opened. At most one of them is set.
	Recorder *cassette.Recorder
	Player   *cassette.Player
	// Decorators go round all the rest, the first of them outermost.
	Decorators []Decorator
}

// Models hands out the models of one command. It is opened once, so that what
// goes around a call is the same for the agent, its judges and its tools. It is
// safe for concurrent use.
type Models struct {
	env      agent.Env
	options  Options
	limiters *limiters
}

// Open returns the Models of a command.
func Open(env agent.Env, o Options) *Models {
	return &Models{env: env, options: o, limiters: &limiters{start: o.Parallel}}
}

// Unrecorded returns ms without its recorder and its player, for work that is
// recorded as a whole. What bounds the calls at one endpoint is shared.
func (ms *Models) Unrecorded() *Models {
	out := *ms
	out.options.Recorder, out.options.Player = nil, nil
	return &out
}

// Prices say what calls cost; nil knows no price.
func (ms *Models) Prices() *price.Table { return ms.options.Prices }

// Model returns the model that c names. Nothing is asked of its provider yet.
// What is wrong with its script, and what is missing to reach it, such as a key,
// is a *config.Error.
func (ms *Models) Model(c *config.Model) (Model, error) {
	if p := ms.options.Player; p != nil {
		return ms.replay(p, c)
	}
	m, err := ms.robust(c)
	if err != nil {
		return nil, err
	}
	return ms.decorate(m), nil
}

// Chat returns the model an agent answers with: its own, and the fallback model
// of its runtime's section behind it, at the same provider.
func (ms *Models) Chat(a *config.Agent) (Model, error) {
	if p := ms.options.Player; p != nil {
		return ms.replay(p, a.Model) // a record has what the pair of models answered
	}
	m, err := ms.robust(a.Model)
	if err != nil {
		return nil, err
	}
	if name := a.FallbackModel(); name != "" && a.Model.Provider != config.ProviderOffline {
		second := *a.Model
		second.Name = name
		other, err := ms.robust(&second)
		if err != nil {
			return nil, fmt.Errorf("open the fallback model %s: %w", name, err)
		}
		m = &fallback{m, other, ms.options.Redactor.String}
	}
	return ms.decorate(m), nil
}

// robust returns a model with what every call of it needs. A chunk passes these
// from the bottom up.
func (ms *Models) robust(c *config.Model) (Model, error) {
	m, err := ms.open(c)
	if err != nil {
		return nil, err
	}
	m = newPriced(m, ms.options.Prices)
	m = &limited{m, ms.limiters.at(endpointOf(c))} // a pause between attempts takes no place
	m = &retrying{m, ms.env.Rand, ms.options.Redactor.String}
	return m, nil
}

// replay returns a model that is played from a record.
func (ms *Models) replay(p *cassette.Player, c *config.Model) (Model, error) {
	m, err := newReplayed(p, c)
	if err != nil {
		return nil, err
	}
	return ms.decorate(m), nil
}

// decorate puts the recorder and the decorators of the command round a model.
func (ms *Models) decorate(m Model) Model {
	if r := ms.options.Recorder; r != nil {
		m = newRecorded(m, r)
	}
	for i := len(ms.options.Decorators) - 1; i >= 0; i-- {
		m = ms.options.Decorators[i](m)
	}
	return m
}

// open returns a model and nothing round it.
func (ms *Models) open(c *config.Model) (Model, error) {
	if c.Provider == config.ProviderOffline {
		return ms.offline(c)
	}
	getenv, client := ms.options.Getenv, ms.options.HTTP
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if client == nil {
		client = http.DefaultClient
	}
	a, problems := provider.Resolve(c, getenv)
	if len(problems) > 0 {
		return nil, &config.Error{Problems: problems}
	}
	switch a.Route {
	case provider.OpenAI, provider.AzureV1, provider.AzureDeployment:
		return newOpenAI(a, c, client), nil
	case provider.Anthropic, provider.AnthropicVertex:
		return newAnthropic(a, c, client), nil
	case provider.Gemini, provider.GoogleVertex:
		return newGemini(a, c, client), nil
	case provider.Ollama:
		return newOllama(a, c, client), nil
	}
	return nil, fmt.Errorf("no client speaks the API of route %s", a.Route)
}

func (ms *Models) offline(c *config.Model) (Model, error) {
	rules, problems := readScript(c)
	if len(problems) > 0 {
		return nil, &config.Error{Problems: problems}
	}
	program, err := script.Compile(rules)
	if err != nil {
		return nil, err
	}
	return newOfflineModel(ms.env, c.Name, program), nil
}

// Scripted returns the offline model of that name playing a script that is at
// hand as a value. Test suites use it.
func Scripted(env agent.Env, name string, s script.Script) (Model, error) {
	program, err := script.Compile(s)
	if err != nil {
		return nil, err
	}
	return newOfflineModel(env, name, program), nil
}

// SessionEnder is a Model that keeps something for each session.
type SessionEnder interface {
	// EndSession says that no more calls of that Request.Session will come.
	EndSession(id string)
}

// EndSession tells m, and every Model it decorates, that no more calls of the
// session will come.
func EndSession(m Model, id string) {
	for m != nil {
		if e, ok := m.(SessionEnder); ok {
			e.EndSession(id)
		}
		d, ok := m.(interface{ Unwrap() Model })
		if !ok {
			return
		}
		m = d.Unwrap()
	}
}
