package config

import (
	"fmt"
	"slices"
	"strings"
)

// mergeMaps returns the mapping over with the keys it lacks from under, all
// the way down. A key counts as present whatever its value, null included.
func mergeMaps(over, under *node) *node {
	switch {
	case over == nil:
		return under
	case under == nil || over.kind != kindMap || under.kind != kindMap:
		return over
	}
	out := *over
	out.fields = make([]field, 0, len(over.fields)+len(under.fields))
	for _, f := range over.fields {
		if u := under.get(f.key); u != nil {
			f.value = mergeMaps(f.value, u)
		}
		out.fields = append(out.fields, f)
	}
	for _, f := range under.fields {
		if over.get(f.key) == nil {
			out.fields = append(out.fields, f)
		}
	}
	return &out
}

// mergeSettings merges the project's config.yaml over the user's. MCP servers
// are joined by name.
func mergeSettings(project, user *node) *node {
	merged := mergeMaps(project, user)
	if project == nil || user == nil {
		return merged
	}
	ours, theirs := project.get("mcp_servers"), user.get("mcp_servers")
	if ours == nil || theirs == nil || ours.kind != kindList || theirs.kind != kindList {
		return merged
	}
	return merged.with("mcp_servers", joinByName(ours, theirs))
}

// joinByName returns the list with the entries of more whose names it lacks.
func joinByName(list, more *node) *node {
	out := *list
	out.items = slices.Clone(list.items)
	for _, item := range more.items {
		name := item.get("name")
		if !name.isText() || !slices.ContainsFunc(list.items, func(have *node) bool {
			n := have.get("name")
			return n.isText() && n.text == name.text
		}) {
			out.items = append(out.items, item)
		}
	}
	return &out
}

// mapItems returns the list with every entry replaced by fn's result; the list
// itself when nothing changed.
func mapItems(list *node, fn func(i int, item *node) *node) *node {
	if list == nil || list.kind != kindList {
		return list
	}
	var out *node
	for i, item := range list.items {
		got := fn(i, item)
		if got == item {
			continue
		}
		if out == nil {
			c := *list
			c.items = slices.Clone(list.items)
			out = &c
		}
		out.items[i] = got
	}
	if out == nil {
		return list
	}
	return out
}

// mapKey returns the mapping with the value of key replaced by fn's result;
// the mapping itself when nothing changed.
func mapKey(n *node, key string, fn func(*node) *node) *node {
	value := n.get(key)
	if value == nil {
		return n
	}
	if got := fn(value); got != value {
		return n.with(key, got)
	}
	return n
}

// merger merges config.yaml into an agent file.
type merger struct {
	settings *node // the user's and the project's, merged; nil when neither exists
	rep      *report
}

// agent returns the agent's tree with everything that config.yaml adds to it.
func (m *merger) agent(root *node) *node {
	root = mapKey(root, "model", m.model)
	root = mapKey(root, "embedding_provider", m.embedding)
	root = mapKey(root, "evaluations", func(n *node) *node {
		return mapKey(mapKey(n, "model", m.model), "metrics", m.metrics)
	})
	root = m.servers(root)
	root = mapKey(root, "tools", func(list *node) *node {
		return mapItems(list, func(i int, tool *node) *node {
			for _, key := range []string{"context_model", "reranker_model", "model"} {
				tool = mapKey(tool, key, m.model)
			}
			return mapKey(tool, "database", func(n *node) *node {
				return m.database(n, fmt.Sprintf("tools[%d].database", i))
			})
		})
	})
	if deployment := m.settings.get("deployment"); deployment != nil && deployment.kind == kindMap {
		root = root.with("deployment", mergeMaps(root.get("deployment"), deployment))
	}
	return root
}

// metrics returns a list of metrics with the models that config.yaml completes.
func (m *merger) metrics(list *node) *node {
	return mapItems(list, func(_ int, metric *node) *node { return mapKey(metric, "model", m.model) })
}

// testCase returns a case with the models that config.yaml completes.
func (m *merger) testCase(c *node) *node {
	if m.settings.get("providers") == nil {
		return c
	}
	c = mapKey(c, "evaluations", m.metrics)
	return mapKey(c, "turns", func(turns *node) *node {
		return mapItems(turns, func(_ int, turn *node) *node { return mapKey(turn, "evaluations", m.metrics) })
	})
}

// model fills a model section from the provider profile it names, or else from
// the first profile of its provider.
func (m *merger) model(n *node) *node { return m.fill(n, false) }

// embedding is model for the embedding provider. A profile found by provider
// holds a chat model, so its name is not taken.
func (m *merger) embedding(n *node) *node { return m.fill(n, true) }

// fill does the work of model and embedding.
func (m *merger) fill(n *node, embedding bool) *node {
	provider := n.get("provider")
	profiles := m.settings.get("providers")
	if !provider.isText() || profiles == nil || profiles.kind != kindMap {
		return n
	}
	builtin := slices.Contains(Provider("").Values(), provider.text)
	if named := profiles.get(provider.text); named != nil && named.kind == kindMap {
		own := named.get("provider")
		switch {
		case own == nil && builtin:
			return mergeMaps(n, profileOf(named, embedding))
		case own == nil || !own.isText():
			m.rep.settle(provider, Problem{
				Path: "providers." + provider.text + ".provider", Pos: named.pos(), Severity: SeverityError, Code: CodeMissing,
				Text: "is required", Hint: "one of " + strings.Join(Provider("").Values(), ", "),
			})
			return n
		case !builtin:
			return mergeMaps(n.without("provider"), named)
		case own.text == provider.text:
			return mergeMaps(n, profileOf(named, embedding))
		}
		m.rep.add(Problem{
			Path: "providers." + provider.text + ".provider", Pos: own.pos(), Severity: SeverityError, Code: CodeConflict,
			Text: fmt.Sprintf("profile %s is for provider %s", provider.text, show(own, false)),
			Hint: "give the profile a name that is not a provider's",
		})
		return n
	}
	for _, f := range profiles.fields {
		if own := f.value.get("provider"); own.isText() && own.text == provider.text {
			return mergeMaps(n, profileOf(f.value, embedding))
		}
	}
	return n
}

// profileOf returns what a profile that was found by its provider gives.
func profileOf(profile *node, embedding bool) *node {
	if embedding {
		return profile.without("name")
	}
	return profile
}

// profileNames returns the names that may stand for a provider.
func (m *merger) profileNames() []string {
	profiles := m.settings.get("providers")
	if profiles == nil {
		return nil
	}
	var out []string
	for _, f := range profiles.fields {
		if !slices.Contains(Provider("").Values(), f.key) && !isHolder(f.key) {
			out = append(out, f.key)
		}
	}
	return out
}

// servers appends the MCP servers of config.yaml to the agent's tools.
func (m *merger) servers(root *node) *node {
	servers := m.settings.get("mcp_servers")
	if servers == nil || servers.kind != kindList || len(servers.items) == 0 {
		return root
	}
	typed := mapItems(servers, func(_ int, n *node) *node {
		if n.kind == kindMap && n.get("type") == nil {
			return n.with("type", defaultNode(string(ToolMCP)))
		}
		return n
	})
	tools := root.get("tools")
	switch {
	case tools == nil || tools.kind == kindNull:
		return root.with("tools", typed)
	case tools.kind != kindList:
		return root
	}
	return root.with("tools", joinByName(tools, typed))
}

// database replaces the name of a store, which stands at path, by the store.
func (m *merger) database(n *node, path string) *node {
	if n.kind != kindText || n.unresolved() {
		return n
	}
	stores := m.settings.get("vectorstores")
	store := stores.get(n.text)
	if store == nil {
		if n.text == string(DatabaseLocal) || n.text == string(DatabaseInMemory) {
			provider := *n
			return &node{
				kind: kindMap, text: n.text, src: n.src, line: n.line, col: n.col,
				fields: []field{{key: "provider", value: &provider, line: n.line, col: n.col}},
			}
		}
		known := []string{string(DatabaseLocal), string(DatabaseInMemory)}
		if stores != nil {
			for _, f := range stores.fields {
				known = append(known, f.key)
			}
		}
		m.rep.settle(n, Problem{
			Pos: n.pos(), Path: path, Severity: SeverityError, Code: CodeReference,
			Text: fmt.Sprintf("%s is not a store of config.yaml", show(n, false)),
			Hint: didYouMean(n.text, known),
		})
		return n
	}
	if store.kind != kindMap {
		return &node{kind: kindNull, src: n.src, line: n.line, col: n.col} // reported where config.yaml is checked
	}
	out := &node{kind: kindMap, text: n.text, src: n.src, line: n.line, col: n.col}
	for _, f := range store.fields {
		switch {
		case f.key == "provider" && f.value.isText() && f.value.text == "postgresql":
			alias := *f.value
			alias.text = "postgres"
			f.value = &alias
		case f.key == "options" && f.value.kind == kindMap:
			for _, o := range f.value.fields {
				if store.get(o.key) == nil {
					out.fields = append(out.fields, o)
				}
			}
			continue
		}
		out.fields = append(out.fields, f)
	}
	return out
}

// renameOld gives the old keys of an execution section their present names.
func renameOld(root *node, rep *report) *node {
	return mapKey(root, "execution", func(n *node) *node {
		const old, now = "cache_directory", "cache_dir"
		if n.get(old) == nil {
			return n
		}
		out := *n
		out.fields = slices.Clone(n.fields)
		for i, f := range out.fields {
			if f.key != old {
				continue
			}
			if n.get(now) != nil {
				rep.add(Problem{
					Path: "execution." + old, Pos: f.keyPos(), Severity: SeverityError, Code: CodeConflict,
					Text: "is an old name of cache_dir, which is given, too", Hint: "keep cache_dir",
				})
				return n.without(old)
			}
			rep.add(Problem{
				Path: "execution." + old, Pos: f.keyPos(), Severity: SeverityWarning, Code: CodeDeprecated,
				Text: "is an old name", Hint: "write cache_dir",
			})
			out.fields[i].key = now
		}
		return &out
	})
}

// firstWritten returns a mapping that has every key from the first of the
// mappings that gives it a value; null is no value.
func firstWritten(layers ...*node) *node {
	var out *node
	for _, layer := range layers {
		if layer == nil {
			continue
		}
		if layer.kind != kindMap {
			if layer.kind != kindNull && out == nil {
				return layer // the decoder says what is wrong with it
			}
			continue
		}
		if out == nil {
			c := *layer
			c.fields = nil
			out = &c
		}
		for _, f := range layer.fields {
			if have := out.get(f.key); have == nil && f.value.kind != kindNull {
				out.fields = append(out.fields, f)
			}
		}
	}
	return out
}
