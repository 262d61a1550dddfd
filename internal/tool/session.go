package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/holodeck-go/holodeck/internal/agent"
)

// ForSession returns the tools as a session of that id has them: a caller's own
// beside those of s, and, where the agent file asks for it, servers that no other
// session talks to. They change between turns only, when [Set.BeginTurn] says
// so. A server of the session's own that cannot be started is a
// *agent.ToolsLostError, unless agents are opened without, see [Options.Degrade].
// The session closes the set it is given, before s is closed.
func (s *Set) ForSession(ctx context.Context, id string, more []agent.Tool) (*Set, error) {
	own := s.derive()
	own.session = id
	parts := s.current()
	if err := own.openServers(ctx, parts); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	callers := part{members: callersOwn(more, true)}
	own.enter(&callers)
	if len(callers.wrong) > 0 {
		return nil, errors.Join(callers.wrong[0], own.Close())
	}
	own.parts = append(parts, callers)
	t, clashes := tableOf(own.parts)
	if i := slices.IndexFunc(clashes, callersFault(callers)); i >= 0 {
		return nil, errors.Join(clashes[i], own.Close())
	}
	own.now.Store(t)
	return own, nil
}

// openServers puts servers of the session's own in the place of those that it
// does not share.
func (s *Set) openServers(ctx context.Context, parts []part) error {
	errs := make([]error, len(parts))
	opened := make([]server, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		if p.perSession != nil {
			wg.Go(func() { opened[i], errs[i] = p.perSession.open(ctx) })
		}
	}
	wg.Wait()
	for i, own := range opened {
		if own == nil {
			continue
		}
		s.closers = append(s.closers, own)
		parts[i].server, parts[i].session = own, true
		tools, version := own.Tools()
		parts[i].members, parts[i].version = membersOf(parts[i].config, tools), version
		s.enter(&parts[i])
	}
	if err := ctx.Err(); err != nil || !s.needsServers {
		return errors.Join(err, firstCause(errs))
	}
	if err := errors.Join(errs...); err != nil {
		return &agent.ToolsLostError{Err: err}
	}
	return nil
}

// callersFault reports whether an error is about one of a caller's tools: what
// clashes among the servers' is told at the beginning of a turn.
func callersFault(callers part) func(error) bool {
	return func(err error) bool {
		failed, ok := errors.AsType[*agent.ToolError](err)
		return ok && slices.ContainsFunc(callers.entries, func(e *entry) bool { return e.def.Name == failed.Tool })
	}
}

// current returns the parts as they are now.
func (s *Set) current() []part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.parts)
}

// BeginTurn brings the tools of a session up to date: servers that were lost are
// connected to again, and lists that changed are read anew. It returns what a
// person should know of servers that cannot be used. Whoever runs the session
// calls it at the start of each turn, from 1, and not during one. Where agents are
// not opened without their servers, see [Options.Degrade], one that was lost and
// cannot be brought back is a *agent.ToolsLostError.
func (s *Set) BeginTurn(ctx context.Context, turn int) ([]agent.Notice, error) {
	if !slices.ContainsFunc(s.current(), func(p part) bool { return p.config != nil }) {
		return nil, nil
	}
	if s.player != nil {
		return s.playTurn(turn)
	}
	lost := s.update(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.needsServers && lost != nil {
		return nil, &agent.ToolsLostError{Err: lost}
	}
	notices := s.notices()
	s.recordTurn(turn, notices)
	return notices, nil
}

// update brings the servers of the set up to date, after those of the set that it
// was made from. The error names those that cannot be used.
func (s *Set) update(ctx context.Context) error {
	var lost error
	if s.root != nil {
		lost = s.root.update(ctx)
		s.follow()
	}
	return errors.Join(lost, s.refresh(ctx))
}

// refresh brings the servers that the set looks after up to date, side by side.
// The error names those that cannot be used.
func (s *Set) refresh(ctx context.Context) error {
	parts := s.current()
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		if p.server != nil && s.owns(p) {
			wg.Go(func() {
				if err := p.server.Refresh(ctx); err != nil && p.server.Degraded() != "" {
					errs[i] = err
				}
			})
		}
	}
	wg.Wait()
	s.takeOver()
	return errors.Join(errs...)
}

// takeOver makes the tools of the set what its servers now have.
func (s *Set) takeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for i := range s.parts {
		p := &s.parts[i]
		if p.server == nil || !s.owns(*p) {
			continue
		}
		tools, version := p.server.Tools()
		if version == p.version {
			continue
		}
		p.members, p.version, changed = membersOf(p.config, tools), version, true
		s.enter(p)
	}
	if changed {
		t, _ := tableOf(s.parts)
		s.now.Store(t)
	}
}

// owns reports whether the server of a part is the set's to look after, and not
// that of another set.
func (s *Set) owns(p part) bool { return s.root == nil || p.session }

// follow takes over what the servers that all sessions share have become.
func (s *Set) follow() {
	shared := s.root.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for i, p := range shared {
		if !s.parts[i].session && p.server != nil && p.version != s.parts[i].version {
			if s.keep != nil {
				s.enter(&p)
			}
			s.parts[i], changed = p, true
		}
	}
	if changed {
		t, _ := tableOf(s.parts)
		s.now.Store(t)
	}
}

// notices returns what is new of the servers since the session was last told.
func (s *Set) notices() []agent.Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[string]string{}
	_, clashes := tableOf(s.parts)
	for _, p := range s.parts {
		if p.server == nil {
			continue
		}
		if text := p.server.Degraded(); text != "" {
			now[p.config.Name] = text
		}
		for _, err := range p.wrong {
			now[err.Error()] = fmt.Sprintf("a tool of MCP server %s is left out: %v", p.config.Name, err)
		}
	}
	for _, err := range clashes {
		now[err.Error()] = fmt.Sprintf("a tool is left out: %v", err)
	}
	var list []agent.Notice
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if s.told[key] != now[key] {
			list = append(list, agent.Notice{Code: agent.NoticeDegraded, Text: s.redactor.String(now[key])})
		}
	}
	for _, p := range s.parts {
		if p.server != nil && s.told[p.config.Name] != "" && now[p.config.Name] == "" {
			list = append(list, agent.Notice{Code: agent.NoticeDegraded, Text: fmt.Sprintf("MCP server %s can be used again", p.config.Name)})
		}
	}
	s.told = now
	return list
}
