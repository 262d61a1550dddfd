package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"

	"github.com/holodeck-go/holodeck/internal/config"
)

// Fingerprint tells two states of an agent apart in what decides the results of
// its test cases: a hash for each section of the agent file, under the section's
// name.
//
// What only says how long the work may take, how many cases run at once, who
// sees it or where it is shipped has no part in it, nor has how the file is
// written. The content of files that the agent reads while it runs (documents,
// files of cases, scripts) is not looked at, nor are the values of secrets.
type Fingerprint map[string]string

// NewFingerprint returns the fingerprint of an agent as it was loaded, with the
// stand-ins of --offline where that was asked for.
func NewFingerprint(a *config.Agent) Fingerprint {
	f := Fingerprint{}
	f.add("backend", a.Runtime)
	f.add("instructions", a.Prompt.BodyHash)
	f.add("response_format", json.RawMessage(a.Schema))
	f.add("model", a.Model)
	f.add("embedding_provider", a.EmbeddingProvider)
	f.add("tools", a.Tools)
	f.add("hooks", a.Hooks)
	f.add("permissions", a.Permissions)
	f.add("claude", a.Claude)
	f.add("openai", a.OpenAI)
	f.add("google_adk", a.GoogleADK)
	f.add("agent_framework", a.AgentFramework)
	if e := a.Evaluations; e != nil {
		f.add("evaluations", struct {
			Model   *config.Model
			Metrics []config.Metric
		}{e.Model, e.Metrics})
	}
	cases := sha256.New()
	for _, tc := range a.TestCases.All() { // one at a time: there may be many
		addJSON(cases, tc)
	}
	f["test_cases"] = short(cases)
	return f
}

// add adds a section, unless it is empty.
func (f Fingerprint) add(section string, value any) {
	sum := sha256.New()
	if text := addJSON(sum, value); text != "null" && text != `""` {
		f[section] = short(sum)
	}
}

// addJSON adds a value of the configuration to a hash and returns its JSON.
func addJSON(sum hash.Hash, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		// A configuration holds nothing that JSON has no form for. If it did,
		// two that differ in it would be taken for one.
		text = []byte(err.Error())
	}
	sum.Write(text)
	return string(text)
}

// short returns half of a hash in hex, which is enough to tell states of one
// file apart.
func short(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:16]) }

// Changed returns the names of the sections in which f and g differ, sorted.
func (f Fingerprint) Changed(g Fingerprint) []string {
	changed := map[string]bool{}
	for section, sum := range f {
		if g[section] != sum {
			changed[section] = true
		}
	}
	for section := range g {
		if _, ok := f[section]; !ok {
			changed[section] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}
