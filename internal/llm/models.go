package llm

import (
	"fmt"

	"github.com/holodeck-go/holodeck/internal/agent"
	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/llm/script"
)

// Decorator wraps a Model in one more thing that every call needs: a retry, a
// limit, a record, a span. The Model it returns has a method Unwrap() Model
// that gives the one it was handed.
type Decorator func(Model) Model

// Models hands out the models of one command. It is opened once, so that what
// goes around a call is the same for the agent, its judges and its tools. It is
// safe for concurrent use.
type Models struct {
	env        agent.Env
	decorators []Decorator
}

// Open returns Models whose every Model is wrapped in the decorators, the
// first of which is outermost.
func Open(env agent.Env, decorators ...Decorator) *Models {
	return &Models{env: env, decorators: decorators}
}

// Model returns the model that c names. The error says what is wrong with its
// script, or that this build has no client for the provider.
func (ms *Models) Model(c *config.Model) (Model, error) {
	m, err := ms.open(c)
	if err != nil {
		return nil, err
	}
	for i := len(ms.decorators) - 1; i >= 0; i-- {
		m = ms.decorators[i](m)
	}
	return m, nil
}

func (ms *Models) open(c *config.Model) (Model, error) {
	if c.Provider != config.ProviderOffline {
		return nil, fmt.Errorf("this build has no client for provider %s yet; "+
			"use provider: offline, or --offline to let the built-in model stand in for %s", c.Provider, c.Name)
	}
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
