package config_test

import (
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
)

// ruleFiles are the files that the documents of TestRules name.
var ruleFiles = map[string]string{
	"docs/a.md":         "text",
	"empty/inner/":      "",
	"tool.py":           "def f(): pass",
	"blank.md":          " \n",
	"binary.md":         "a\x00",
	"skills/a/SKILL.md": "---\nname: a\ndescription: From the skill.\n---\nDo it.",
	"skills/b/SKILL.md": "---\nname: b\n---\nDo it.",
	"skills/none/":      "",
	"folder/":           "",
	"good.env":          "# a comment\nexport A='b c'\n",
	"broken.env":        "A=b\nC='d\n",
}

func TestRules(t *testing.T) {
	const (
		tool     = "tools:\n  - {name: t, description: d, %}\n"
		vector   = "tools:\n  - {name: t, description: d, type: vectorstore, source: docs, %}\n"
		document = "tools:\n  - {name: t, description: d, type: hierarchical_document, source: docs, %}\n"
		mcp      = "tools:\n  - {name: t, description: d, type: mcp, %}\n"
		metric   = "evaluations:\n  metrics: [{%}]\n"
		testCase = "test_cases:\n  - {%}\n"
		registry = "deployment:\n  registry: {url: r, %}\n  target: {provider: aws, aws: {region: r}}\n"
		target   = "deployment:\n  registry: {url: r, repository: a}\n  target: {%}\n"
		azure    = "deployment:\n  registry: {url: r, repository: a}\n  target: {provider: azure, azure: {resource_group: g, %}}\n"
		uuid     = "subscription_id: 00000000-0000-0000-0000-00000000000A"
		model    = "embedding_provider: {name: m, %}\n"
	)
	for _, tt := range []struct {
		name, form, text string
		want             string // the problem without its place; empty: none
	}{
		// Models.
		{"azure without endpoint", model, "provider: azure_openai", "embedding_provider.endpoint: is required with provider azure_openai (such as https://NAME.openai.azure.com)"},
		{"azure with a blank endpoint", model, "provider: azure_openai, endpoint: ' '", "embedding_provider.endpoint: is required with provider azure_openai (such as https://NAME.openai.azure.com)"},
		{"azure with endpoint", model, "provider: azure_openai, endpoint: 'https://x', api_version: v", ""},
		{"no name, where the provider has a model of its own", "embedding_provider: {%}\n", "provider: offline", ""},
		{"no name with a provider", "embedding_provider: {%}\n", "provider: openai", ""},
		{"a blank name", "embedding_provider: {%}\n", "provider: offline, name: ' '", "embedding_provider.name: is blank (give it a value or remove the key)"},
		{"no name of a judge", "evaluations: {model: {%}, metrics: [{metric: bleu}]}\n", "provider: openai", "evaluations.model.name: is required"},
		{"api_version elsewhere", model, "provider: openai, api_version: v", "warning: embedding_provider.api_version: has no effect: it is for provider azure_openai"},
		{"auth_provider elsewhere", model, "provider: openai, auth_provider: bedrock", "warning: embedding_provider.auth_provider: has no effect: it is for provider anthropic"},
		{"custom without endpoint", "evaluations: {model: {name: m, %}, metrics: [{metric: bleu}]}\n", "provider: anthropic, auth_provider: custom", "warning: evaluations.model.auth_provider: custom has no endpoint to talk to (give endpoint)"},
		{"a script for another provider", model, "provider: openai, script: []", "embedding_provider.script: is only for provider offline (remove it, or set provider: offline)"},
		{"a missing script", model, "provider: offline, script_file: s.yaml", "embedding_provider.script_file: there is no file s.yaml (the path is relative to the file that mentions it)"},

		// Tools against one another.
		{"two tools of one name", "tools:\n  - {name: t, description: d, type: function, file: tool.py, function: f}\n  - {name: t, description: d, %}\n", "type: mcp, command: uvx", `tools[1].name: two tools are named "t", the first at agent.yaml:5:12 (give each tool a name of its own)`},
		{"two canonical names alike", "tools:\n  - {name: t_search, description: d, type: function, file: tool.py, function: f}\n  - {name: t, description: d, %}\n", "type: vectorstore, source: docs", `tools[1].name: the model would know both t and t_search (at agent.yaml:5:12) as "t_search" (rename one of them)`},
		{"hyphens in names", "tools:\n  - {name: a-b, description: d, %}\n", "type: mcp, command: uvx", ""},
		{"embedding models that differ", "tools:\n  - {name: a, description: d, type: vectorstore, source: docs, embedding_model: one}\n  - {name: b, description: d, type: hierarchical_document, source: docs, %}\n", "embedding_model: two", `tools[1].embedding_model: "two" differs from "one" of tool a, and all tools of an agent share one (use the same model in both)`},
		{"defer_loading", vector, "defer_loading: false", "warning: tools[0].defer_loading: has no effect: tools are always offered"},

		// Sources.
		{"a missing source", tool, "type: vectorstore, source: nowhere", "tools[0].source: there is no file or folder nowhere (the path is relative to the file that mentions it)"},
		{"an empty folder", tool, "type: vectorstore, source: empty", "tools[0].source: folder empty holds no files (put documents into it, or remove the tool)"},
		{"a file", tool, "type: vectorstore, source: docs/a.md", ""},
		{"a file URL", tool, "type: vectorstore, source: 'file://docs/a.md'", ""},
		{"remote", tool, "type: vectorstore, source: 's3://bucket/prefix'", ""},
		{"remote in capitals", tool, "type: vectorstore, source: 'HTTPS://example.com/a.md'", ""},
		{"an unknown scheme", tool, "type: vectorstore, source: 'ftp://example.com/a.md'", `tools[0].source: "ftp" is not a scheme of a source (the schemes are az, file, http, https, s3)`},

		// Vectorstores.
		{"structured without id_field", vector, "vector_field: [a, b]", "tools[0].id_field: is required when vector_field is given (structured data mode) (name the field that tells records apart)"},
		{"structured", vector, "vector_field: a, id_field: id, meta_fields: [c]", ""},
		{"no vector field", vector, "vector_field: [], id_field: id", "tools[0].vector_field: names no field (name the fields that are searched, or remove the key)"},
		{"id_field alone", vector, "id_field: id", "warning: tools[0].id_field: has no effect: it needs vector_field"},
		{"an unknown store", vector, "database: main", `tools[0].database: "main" is not a store of config.yaml (known here: local, in-memory)`},
		{"a store in memory", vector, "database: in-memory", ""},

		// Hierarchical documents.
		{"weights", document, "semantic_weight: 0.7, keyword_weight: 0.2, exact_weight: 0.1", ""},
		{"weights within rounding", document, "semantic_weight: 0.1, keyword_weight: 0.2, exact_weight: 0.7", ""},
		{"weights off", document, "semantic_weight: 0.7", "tools[0].semantic_weight: the weights of hybrid search must add up to 1, and semantic_weight + keyword_weight + exact_weight is 1.2 (weights that are not given keep their defaults)"},
		{"weights without a share", document, "semantic_weight: 0, keyword_weight: 0, exact_weight: 1", "tools[0].semantic_weight: semantic_weight and keyword_weight are both 0 (raise one of them, or choose another search_mode)"},
		{"weights in another mode", document, "semantic_weight: 0.7, search_mode: keyword", ""},
		{"reranking without a model", document, "enable_reranking: true", "tools[0].reranker_model: is required with enable_reranking (name the model that orders the results)"},
		{"a reranker that is off", document, "reranker_model: {provider: openai, name: m}", "warning: tools[0].reranker_model: has no effect: enable_reranking is off"},
		{"opensearch", document, "keyword_index: {provider: opensearch, endpoint: 'http://x'}", "tools[0].keyword_index.index_name: is required with provider opensearch"},

		// Functions, prompts and skills.
		{"a missing function file", tool, "type: function, file: none.py, function: f", "tools[0].file: there is no file none.py (the path is relative to the file that mentions it)"},
		{"a prompt with both", tool, "type: prompt, parameters: {a: {}}, template: x, file: docs/a.md", "tools[0].file: template is given, too (keep one of the two)"},
		{"a prompt with neither", tool, "type: prompt, parameters: {a: {}}", "tools[0]: needs template or file (give one of the two)"},
		{"a prompt without parameters", tool, "type: prompt, parameters: {}, template: x", "tools[0].parameters: is empty (give it at least one entry, or remove the key)"},
		{"a prompt's model", tool, "type: prompt, parameters: {a: {}}, template: x, model: {temprature: 1}", `tools[0].model.temprature: unknown key (did you mean "temperature"?)`},
		{"a prompt's model at another provider", tool, "type: prompt, parameters: {a: {}}, template: x, model: {provider: openai}", "tools[0].model.name: is required with a provider other than the agent's, which is offline"},
		{"a skill", tool, "type: skill, instructions: x", ""},
		{"a skill in a folder", "tools:\n  - {name: s, %}\n", "type: skill, path: skills/a", ""},
		{"a skill with both", tool, "type: skill, instructions: x, path: skills/a", "tools[0].path: instructions is given, too (keep one of the two)"},
		{"a skill without description", "tools:\n  - {name: s, %}\n", "type: skill, instructions: x", "tools[0].description: is required with instructions (say when the skill is to be used)"},
		{"a skill's name", "tools:\n  - {name: my_skill, description: d, %}\n", "type: skill, instructions: x", `tools[0].name: "my_skill" is not a skill name: lower-case words of letters and digits, joined by single hyphens, 64 characters at most (such as refund-policy)`},
		{"a skill folder that does not exist", tool, "type: skill, path: skills/c", "tools[0].path: there is no folder skills/c (the path is relative to the file that mentions it)"},
		{"a skill folder without SKILL.md", tool, "type: skill, path: skills/none", "tools[0].path: there is no file skills/none/SKILL.md (the format is described at agentskills.io)"},
		{"a SKILL.md without description", tool, "type: skill, path: skills/b", "description: is required in the frontmatter of a SKILL.md (the format is described at agentskills.io)"},
		{"a skill's tools", "tools:\n  - {name: kb, description: d, type: vectorstore, source: docs}\n  - {name: t, description: d, %}\n", "type: skill, instructions: x, allowed_tools: [kb, kbb]", `tools[1].allowed_tools: skill t: "kbb" is not another tool of the agent (did you mean "kb"?)`},
		{"a skill's search tool under its name in events", "tools:\n  - {name: kb, description: d, type: vectorstore, source: docs}\n  - {name: t, description: d, %}\n", "type: skill, instructions: x, allowed_tools: [kb_search]", ""},
		{"a skill's tool of a server", "tools:\n  - {name: mem, description: d, type: mcp, command: uvx}\n  - {name: t, description: d, %}\n", "type: skill, instructions: x, allowed_tools: [mem__read]", ""},
		{"skills in a circle", "tools:\n  - {name: a, description: d, type: skill, instructions: x, allowed_tools: [t]}\n  - {name: t, description: d, %}\n", "type: skill, instructions: x, allowed_tools: [a]", "tools[0].allowed_tools: skills may call one another in a circle: a → t → a (take one of them out of another's allowed_tools)"},
		{"skills in a row", "tools:\n  - {name: a, description: d, type: skill, instructions: x, allowed_tools: [t]}\n  - {name: t, description: d, %}\n", "type: skill, instructions: x", ""},
		{"a skill that calls itself", tool, "type: skill, instructions: x, allowed_tools: [t]", `tools[0].allowed_tools: skill t: "t" is not another tool of the agent (there are no others)`},

		// MCP.
		{"stdio without command", mcp, "args: [x]", "tools[0].command: is required for stdio transport (one of npx, node, uvx, docker; or set transport and url)"},
		{"a command with a path", mcp, "command: ./npx", `tools[0].command: "./npx" is not one of npx, node, uvx, docker (did you mean "npx"?)`},
		{"sse without url", mcp, "transport: sse", "tools[0].url: is required for sse transport"},
		{"http to this machine", mcp, "transport: http, url: 'http://127.0.0.1:9/mcp'", ""},
		{"http to this machine by name", mcp, "transport: sse, url: 'http://LOCALHOST:9'", ""},
		{"http to this machine on IPv6", mcp, "transport: http, url: 'http://[::1]:9/mcp'", ""},
		{"http to a host that looks local", mcp, "transport: http, url: 'http://localhost.evil.example'", "tools[0].url: host localhost.evil.example is not this machine, and http is for localhost only (use https://)"},
		{"http with user-info", mcp, "transport: http, url: 'http://localhost@evil.example'", "tools[0].url: host evil.example is not this machine, and http is for localhost only (use https://)"},
		{"ws on http", mcp, "transport: http, url: 'ws://example.com'", "tools[0].url: scheme ws does not fit the http transport (use https://, or http:// for localhost)"},
		{"https on websocket", mcp, "transport: websocket, url: 'https://example.com'", "tools[0].url: scheme https does not fit the websocket transport (use wss://, or ws:// for localhost)"},
		{"wss on websocket", mcp, "transport: websocket, url: 'wss://example.com'", ""},
		{"ws to this machine", mcp, "transport: websocket, url: 'ws://127.0.0.1:9/ws', headers: {A: b}, timeout: 5", ""},
		{"ws to another", mcp, "transport: websocket, url: 'ws://localhost.evil.example'", "tools[0].url: host localhost.evil.example is not this machine, and ws is for localhost only (use wss://)"},
		{"http to an address that begins as this machine's", mcp, "transport: http, url: 'http://127.0.0.1.evil.example/'", "tools[0].url: host 127.0.0.1.evil.example is not this machine, and http is for localhost only (use https://)"},
		{"http to a backslash", mcp, "transport: http, url: 'http://evil.example\\@localhost'", "tools[0].url: is not a URL (such as https://example.com/mcp)"},
		{"a file", mcp, "transport: sse, url: 'file:///etc/passwd'", "tools[0].url: is not a URL (such as https://example.com/mcp)"},
		{"javascript", mcp, "transport: sse, url: 'gopher://localhost/'", "tools[0].url: scheme gopher does not fit the sse transport (use https://, or http:// for localhost)"},
		{"no URL", mcp, "transport: http, url: example", "tools[0].url: is not a URL (such as https://example.com/mcp)"},
		{"a command over http", mcp, "transport: http, url: 'https://example.com', command: uvx", "warning: tools[0].command: has no effect: it is not for the http transport"},
		{"headers over stdio", mcp, "command: uvx, headers: {a: b}", "warning: tools[0].headers: has no effect: it is not for the stdio transport"},
		{"a missing env_file", mcp, "command: uvx, env_file: server.env", "tools[0].env_file: there is no file server.env (the path is relative to the file that mentions it)"},
		{"a number in env", mcp, "command: uvx, env: {PORT: 8080}", "tools[0].env.PORT: [redacted] is a number; it must be text (put it in quotes)"},
		{"a variable without a name", mcp, "command: uvx, env: {'A=B': c}", `tools[0].env: "A=B" is not the name of a variable`},
		{"a broken env_file", mcp, "command: uvx, env_file: broken.env", "tools[0].env_file: is not a line of a .env file (write one NAME=value a line, and close every quote)"},
		{"an env_file", mcp, "command: uvx, env_file: good.env", ""},
		{"an encoding", mcp, "command: uvx, encoding: iso-8859-1", ""},
		{"no encoding", mcp, "command: uvx, encoding: utf-9", `tools[0].encoding: "utf-9" is not the name of an encoding (such as utf-8, windows-1252, shift_jis or gb18030)`},
		{"a timeout of nothing", mcp, "transport: http, url: 'https://example.com', timeout: 0", "tools[0].timeout: 0 must be more than 0"},
		{"a stream without patience", mcp, "transport: http, url: 'https://example.com', sse_read_timeout: -1", "tools[0].sse_read_timeout: -1 must be more than 0"},
		{"ending an sse session", mcp, "transport: sse, url: 'https://example.com', terminate_on_close: true", "warning: tools[0].terminate_on_close: has no effect: it is not for the sse transport"},
		{"reading sse over websocket", mcp, "transport: websocket, url: 'wss://example.com', sse_read_timeout: 5", "warning: tools[0].sse_read_timeout: has no effect: it is not for the websocket transport"},
		{"config over http", mcp, "transport: http, url: 'https://example.com', config: {allowed_tools: [a], root: /}", `warning: tools[0].config: key "root" has no effect: only a stdio server is passed it`},
		{"a server that offers nothing", mcp, "command: uvx, load_tools: false, load_prompts: false", "warning: tools[0].load_tools: the server offers nothing: load_prompts is off, too (turn one of them on, or remove the tool)"},
		{"allowed tools that are not loaded", mcp, "command: uvx, load_tools: false, config: {allowed_tools: [a]}", "warning: tools[0].config: allowed_tools has no effect: load_tools is off"},
		{"a protocol", mcp, "command: uvx, protocol_version: '2026-07-28', scope: session, sampling: true", ""},
		{"a protocol of no year", mcp, "command: uvx, protocol_version: '2024'", `tools[0].protocol_version: "2024" is not one of 2025-11-25, 2026-07-28`},
		{"a scope", mcp, "command: uvx, scope: turn", `tools[0].scope: "turn" is not one of shared, session`},
		{"a root", mcp, "command: uvx, roots: [docs, .]", ""},
		{"a missing root", mcp, "command: uvx, roots: [nowhere]", "tools[0].roots: there is no folder nowhere (the path is relative to the file that mentions it)"},
		{"a client of OAuth", mcp, "transport: http, url: 'https://example.com', oauth: {client_id: a, client_secret: b}", ""},
		{"a client without a secret", mcp, "transport: http, url: 'https://example.com', oauth: {client_id: a}", "tools[0].oauth.client_secret: is required"},
		{"OAuth over sse", mcp, "transport: sse, url: 'https://example.com', oauth: {client_id: a, client_secret: b}", "warning: tools[0].oauth: has no effect: it is not for the sse transport"},
		{"a shell", mcp, "command: npx, args: [-c, 'rm -rf x']", "tools[0].args: npx -c runs any command (add i_understand_this_is_unsafe: true if that is what you want)"},
		{"a shell for want of a package", mcp, "command: npx", "tools[0].command: npx without a package runs what it is sent as commands (add i_understand_this_is_unsafe: true if that is what you want)"},
		{"a flag that nobody knows", mcp, "command: npx, args: [--token=abc, x]", "tools[0].args: npx --token is a flag that is not known here, and so what is started cannot be told (add i_understand_this_is_unsafe: true if that is what you want)"},
		{"a shell, understood", mcp, "command: npx, args: [-c, 'rm -rf x'], i_understand_this_is_unsafe: true", ""},
		{"understood over http", mcp, "transport: http, url: 'https://example.com', i_understand_this_is_unsafe: true", "warning: tools[0].i_understand_this_is_unsafe: has no effect: it is not for the http transport"},
		{"allowed_tools that is no list", mcp, "command: uvx, config: {allowed_tools: a}", "tools[0].config: allowed_tools must be a list of tool names"},

		// Metrics.
		{"a grader", metric, "type: code, grader: 'graders.money:same'", ""},
		{"a grader without a callable", metric, "type: code, grader: graders", `evaluations.metrics[0].grader: "graders" is not module:callable (such as graders.money:same_amount)`},
		{"a grader that is a path", metric, "type: code, grader: './g.py:f'", `evaluations.metrics[0].grader: "./g.py:f" is not module:callable (such as graders.money:same_amount)`},
		{"a path into the answer", metric, "metric: equality, response_path: 'a.b-c[0][12].d'", ""},
		{"a path that starts with an index", metric, "metric: equality, response_path: '[0].a'", `evaluations.metrics[0].response_path: "[0].a" is not a path into a JSON answer (such as items[0].price)`},
		{"a path with an open index", metric, "metric: equality, response_path: 'a[0'", `evaluations.metrics[0].response_path: "a[0" is not a path into a JSON answer (such as items[0].price)`},
		{"a path with a negative index", metric, "metric: equality, response_path: 'a[-1]'", `evaluations.metrics[0].response_path: "a[-1]" is not a path into a JSON answer (such as items[0].price)`},
		{"a path with an empty segment", metric, "metric: equality, response_path: 'a..b'", `evaluations.metrics[0].response_path: "a..b" is not a path into a JSON answer (such as items[0].price)`},
		{"retries", metric, "metric: fluency, retry_on_failure: 4", "evaluations.metrics[0].retry_on_failure: 4 is more than the maximum of 3"},
		{"geval that sees nothing", metric, "type: geval, name: n, criteria: c, evaluation_params: []", "evaluations.metrics[0].evaluation_params: is empty (give it at least one entry, or remove the key)"},
		{"geval that sees something else", metric, "type: geval, name: n, criteria: c, evaluation_params: [outputs]", `evaluations.metrics[0].evaluation_params[0]: "outputs" is not one of input, actual_output, expected_output, context, retrieval_context`},
		{"no metrics", "evaluations:\n  %\n", "metrics: []", "evaluations.metrics: is empty (give it at least one entry, or remove the key)"},
		{"f1 by both names", "evaluations:\n  metrics: [{metric: f1}, {%}]\n", "metric: f1_score", ""},

		// The optimizer.
		{"an axis", "evaluations: {metrics: [{metric: bleu}], optimizer: {loss: {bleu: 1}, axes: {numeric: [{path: a, %}]}}}\n", "type: float, range: [0, 1.5]", ""},
		{"an axis upside down", "evaluations: {metrics: [{metric: bleu}], optimizer: {loss: {bleu: 1}, axes: {numeric: [{path: a, %}]}}}\n", "type: float, range: [2, 1]", "evaluations.optimizer.axes.numeric[0].range: must be [low, high], two numbers with low below high (for a list of choices use type categorical)"},
		{"a whole axis", "evaluations: {metrics: [{metric: bleu}], optimizer: {loss: {bleu: 1}, axes: {numeric: [{path: a, %}]}}}\n", "type: int, range: [1, 2.5]", "evaluations.optimizer.axes.numeric[0].range: must be [low, high], two whole numbers with low below high (for a list of choices use type categorical)"},
		{"choices", "evaluations: {metrics: [{metric: bleu}], optimizer: {loss: {bleu: 1}, axes: {numeric: [{path: a, %}]}}}\n", "type: categorical, range: [one]", ""},
		{"a weight of nothing", "evaluations: {metrics: [{metric: bleu}], optimizer: {loss: {%}}}\n", "bleu: 0", "evaluations.optimizer.loss.bleu: 0 must be more than 0"},

		// Test cases.
		{"a case without input", testCase, "name: n", "test_cases[0].input: is required unless there are turns"},
		{"a case with turns and a truth", testCase, "ground_truth: g, turns: [{input: a}]", "test_cases[0].ground_truth: turns are given, too (move it into a turn)"},
		{"a truth that is a number", testCase, "input: a, ground_truth: 42", "test_cases[0].ground_truth: 42 is a number; it must be text (put it in quotes)"},
		{"matchers", testCase, "input: a, expected_tools: [{name: t, args: {a: {fuzzy: x}, b: {regex: 'x+'}, c: {d: 1}, e: [1]}}]", ""},
		{"Python's regular expressions", testCase, `input: a, expected_tools: [{name: t, args: {a: {regex: '(?=.*\d)(?P<w>\w+)-(?P=w)\Z'}}}]`, ""},
		{"a broken regular expression", testCase, "input: a, expected_tools: [{name: t, args: {a: {regex: '(x'}}}]", "test_cases[0].expected_tools[0].args: argument \"a\": \"(x\" is not a regular expression: missing closing )"},
		{"two matchers in one", testCase, "input: a, expected_tools: [{name: t, args: {a: {regex: x, fuzzy: y}}}]", `test_cases[0].expected_tools[0].args: argument "a": a fuzzy matcher has no other keys (use one matcher an argument)`},
		{"a matcher that is a number", testCase, "input: a, expected_tools: [{name: t, args: {a: {fuzzy: 5}}}]", `test_cases[0].expected_tools[0].args: argument "a": fuzzy must be text (put it in quotes)`},
		{"a tool count of nothing", testCase, "input: a, expected_tools: [{name: t, count: 0}]", "test_cases[0].expected_tools[0].count: 0 is less than the minimum of 1"},
		{"a blank tool", testCase, "input: a, expected_tools: ['']", "test_cases[0].expected_tools[0]: is blank (give it a value or remove the key)"},
		{"a file that is neither", testCase, "input: a, files: [{type: text}]", "test_cases[0].files[0]: needs path or url (give one of the two)"},
		{"a missing file in a turn", testCase, "turns: [{input: a, files: [{type: text, path: none.txt}]}]", "test_cases[0].turns[0].files[0].path: there is no file none.txt (the path is relative to the file that mentions it)"},
		{"a file of another type", testCase, "input: a, files: [{type: text, path: docs/a.md, pages: [1]}]", "warning: test_cases[0].files[0].pages: has no effect: it is for type pdf or powerpoint"},
		{"a page before the first", testCase, "input: a, files: [{type: pdf, path: docs/a.md, pages: [0]}]", "test_cases[0].files[0].pages[0]: 0 is less than the minimum of 1"},
		{"an address that is none", testCase, "input: a, files: [{type: text, url: a.txt}]", "test_cases[0].files[0].url: is not an http or https URL"},

		// Runtimes.
		{"all and more", "claude: {%}\n", "setting_sources: [all, user]", "claude.setting_sources: all stands alone (write [all], or name the sources)"},
		{"acceptAll", "claude: {%}\n", "permission_mode: acceptAll", "claude.permission_mode: acceptAll lets the model do anything without asking (add i_understand_this_is_unsafe: true if that is what you want)"},
		{"acceptAll, understood", "claude: {%}\n", "permission_mode: acceptAll, i_understand_this_is_unsafe: true", ""},
		{"effort and thinking", "claude: {%}\n", "effort: low, extended_thinking: {enabled: true}", "warning: claude.effort: extended_thinking is on, too, and both set how long the model thinks (keep one of them)"},
		{"a missing working folder", "claude: {%}\n", "working_directory: nowhere", "claude.working_directory: there is no folder nowhere (the path is relative to the file that mentions it)"},
		{"a working folder that is a file", "claude: {%}\n", "working_directory: tool.py", "claude.working_directory: tool.py is a file, and a folder is expected"},
		{"a sub-agent with both", "claude: {agents: {b: {description: d, %}}}\n", "prompt: p, prompt_file: docs/a.md", "claude.agents.b.prompt_file: prompt is given, too (keep one of the two)"},
		{"a sub-agent's missing prompt", "claude: {agents: {b: {description: d, %}}}\n", "prompt_file: none.md", "claude.agents.b.prompt_file: there is no file none.md (the path is relative to the file that mentions it)"},
		{"a sub-agent's blank prompt", "claude: {agents: {b: {description: d, %}}}\n", "prompt_file: blank.md", "claude.agents.b.prompt_file: blank.md is blank (write the sub-agent's instructions into it)"},
		{"a sub-agent's binary prompt", "claude: {agents: {b: {description: d, %}}}\n", "prompt_file: binary.md", "holds a NUL byte, so it is not a text file (is this the right file?)"},
		{"allowed and not", "openai: {%}\n", "disallowed_tools: [a], permissions: {allowed_tools: [a, b]}", `openai.permissions.allowed_tools: "a" is allowed and disallowed (keep one of the two)`},
		{"an old section", "tool_filtering: {%}\n", "enabled: false, top_k: 3, always_include: [a], always_include_top_n_used: 1, search_method: bm25", ""},
		{"an old section that is on", "tool_filtering: {%}\n", "enabled: true, similarity_threshold: 1.5", "tool_filtering.similarity_threshold: 1.5 is more than the maximum of 1"},
		{"a pattern that is none", "tool_filtering: {%}\n", "always_include: ['a[']", `tool_filtering.always_include: "a[" is not a pattern (close the [ in it)`},

		// Hooks and permissions.
		{"a pattern of calls", "permissions: {%}\n", "ask: ['pay(amount=????*, to=*)']", ""},
		{"a pattern of calls that is none", "permissions: {%}\n", "disallowed_tools: ['pay(amount)']", `permissions.disallowed_tools: "pay(amount)" is not a pattern (write arguments as NAME(ARGUMENT=GLOB))`},
		{"a pattern of the openai section", "openai: {%}\n", "disallowed_tools: ['a[']", `openai.disallowed_tools: "a[" is not a pattern (close the [ in it)`},
		{"a hook", "hooks: [{event: PreToolUse, tool: 'kb*', %}]\n", "action: reject, message: No.", ""},
		{"notify without url", "hooks: [{event: Stop, %}]\n", "action: notify", "hooks[0].url: is required with action notify"},
		{"notify without TLS", "hooks: [{event: Stop, %}]\n", "action: notify, url: 'http://example.com'", "hooks[0].url: is not an https URL (http works for localhost only)"},
		{"a key of another action", "hooks: [{event: Stop, %}]\n", "action: log, command: [a]", "hooks[0].command: is not a key of action log (remove it)"},
		{"reject afterwards", "hooks: [{event: PostToolUse, %}]\n", "action: reject", "hooks[0].action: reject comes too late at PostToolUse (use event PreToolUse)"},
		{"a tool of no tool event", "hooks: [{event: Stop, %}]\n", "action: log, tool: a", "hooks[0].tool: event Stop is not about a tool (remove it)"},
		{"a hook for some calls", "hooks: [{event: PreToolUse, tool: 'pay*', %}]\n", "arguments: {amount: '????*', filter.city: B*}, action: modify, transform: {amount: 999}", ""},
		{"arguments that are no glob", "hooks: [{event: PreToolUse, %}]\n", "arguments: {amount: '['}, action: log", "hooks[0].arguments: amount: \"[\" is not a pattern: close the [ in it, or write \\["},
		{"arguments of no tool event", "hooks: [{event: Stop, %}]\n", "arguments: {a: b}, action: log", "hooks[0].arguments: event Stop is not about a tool (remove it)"},
		{"modify without transform", "hooks: [{event: PreToolUse, %}]\n", "action: modify", "hooks[0].transform: is required with action modify"},
		{"a level", "hooks: [{event: Stop, %}]\n", "action: log, level: warn", ""},
		{"an unknown level", "hooks: [{event: Stop, %}]\n", "action: log, level: loud", `hooks[0].level: "loud" is not one of debug, info, warn, error`},
		{"a script without code", "hooks: [{event: Stop, %}]\n", "action: script", "hooks[0].command: is required, or one of script, file instead of it"},
		{"a script with two kinds of code", "hooks: [{event: Stop, %}]\n", "action: script, command: [a], script: docs/a.md", "hooks[0].script: command is given, too (keep one of the two)"},
		{"a script that is not there", "hooks: [{event: Stop, %}]\n", "action: script, script: none.star", "hooks[0].script: there is no file none.star (the path is relative to the file that mentions it)"},
		{"Python without a function", "hooks: [{event: Stop, %}]\n", "action: script, file: docs/a.md", "hooks[0].function: is required with file (name the function in it)"},
		{"a guard", "hooks: [{event: PreToolUse, %}]\n", "action: script, command: [./guard], env: {A: b}, timeout: 1, on_failure: reject", ""},
		{"a guard too late", "hooks: [{event: PostToolUse, %}]\n", "action: script, command: [./guard], on_failure: reject", "hooks[0].on_failure: there is nothing to reject at PostToolUse (remove it, or use event PreToolUse)"},
		{"hooks in two places", "hooks: [{event: Stop, action: log}]\nclaude: {%}\n", "hooks: [{event: Stop, action: log}]", "claude.hooks: the agent's hooks are given, too, and are the same list (keep one of the two)"},
		{"a broken pattern", "permissions: {%}\n", "ask: ['a[']", `permissions.ask: "a[" is not a pattern (close the [ in it)`},

		// Observability.
		{"a batch larger than its queue", "observability: {traces: {%}}\n", "max_queue_size: 10", "observability.traces.max_queue_size: a batch of 512 does not fit into a queue of 10 (make max_queue_size the larger of the two)"},
		{"a pattern", "observability: {traces: {%}}\n", "redaction_patterns: ['[']", "observability.traces.redaction_patterns: pattern 1 is not a regular expression: missing closing ]"},
		{"a pattern that looks around", "observability: {traces: {%}}\n", "redaction_patterns: ['(?<=a)b']", "observability.traces.redaction_patterns: pattern 1 needs a backtracking engine (write it without look-around and back-references)"},
		{"azure monitor without its string", "observability: {exporters: {azure_monitor: {%}}}\n", "enabled: true", "observability.exporters.azure_monitor.connection_string: is required when azure_monitor is enabled (such as connection_string: ${APPLICATIONINSIGHTS_CONNECTION_STRING})"},
		{"a compression", "observability: {exporters: {otlp: {%}}}\n", "compression: zstd", `observability.exporters.otlp.compression: "zstd" is not one of gzip, deflate`},

		// Deployment.
		{"a repository", registry, "repository: Team/Agent", `deployment.registry.repository: "Team/Agent" is not a repository: lower-case letters, digits and . _ / -, with a letter or digit at both ends`},
		{"a custom tag", registry, "repository: a, tag_strategy: custom", "deployment.registry.custom_tag: is required with tag_strategy custom"},
		{"an idle tag", registry, "repository: a, custom_tag: v1", "warning: deployment.registry.custom_tag: has no effect: it is for tag_strategy custom"},
		{"a target without its block", target, "provider: gcp", "deployment.target.gcp: is required with provider gcp"},
		{"a target with another's block", target, "provider: aws, aws: {region: r}, gcp: {project_id: my-project}", "deployment.target.gcp: is given, and the provider is aws (remove it)"},
		{"a subscription", azure, "subscription_id: mine", `deployment.target.azure.subscription_id: "mine" is not a UUID, such as 00000000-0000-0000-0000-000000000000`},
		{"a cpu", azure, uuid + ", cpu: 0.75", ""},
		{"a cpu between the steps", azure, uuid + ", cpu: 0.3", "deployment.target.azure.cpu: 0.3 is not a multiple of 0.25 between 0.25 and 2"},
		{"a cpu above", azure, uuid + ", cpu: 2.25", "deployment.target.azure.cpu: 2.25 is not a multiple of 0.25 between 0.25 and 2"},
		{"replicas", azure, uuid + ", min_replicas: 5, max_replicas: 2", "deployment.target.azure.min_replicas: 5 is more than max_replicas, which is 2"},
		{"a role", target, "provider: aws, aws: {region: r, ecr_role_arn: reader}", `deployment.target.aws.ecr_role_arn: "reader" is not the ARN of a role, such as arn:aws:iam::123456789012:role/name`},
		{"scaling", target, "provider: aws, aws: {region: r, auto_scaling_min: 9}", "deployment.target.aws.auto_scaling_min: 9 is more than auto_scaling_max, which is 5"},
		{"a project", target, "provider: gcp, gcp: {project_id: P}", `deployment.target.gcp.project_id: "P" is not a project id: 6 to 30 lower-case letters, digits and hyphens, a letter first`},
		{"memory", target, "provider: gcp, gcp: {project_id: my-project, memory: 1GB}", `deployment.target.gcp.memory: "1GB" is not an amount of memory, such as 512Mi or 2Gi`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"agent.yaml": head + strings.Replace(tt.form, "%", tt.text, 1)}
			for name, text := range ruleFiles {
				files[name] = text
			}
			_, got := load(t, folder(t, files), config.Options{})
			for i, line := range got {
				// The place is tested elsewhere.
				if _, rest, ok := strings.Cut(line, ": "); ok {
					got[i] = rest
				}
			}
			if tt.want == "" {
				want(t, got)
			} else {
				want(t, got, tt.want)
			}
		})
	}
}

func TestSkillTakesItsDescriptionFromItsFile(t *testing.T) {
	dir := folder(t, map[string]string{
		"agent.yaml":        head + "tools: [{type: skill, name: a, path: skills/a}]\n",
		"skills/a/SKILL.md": ruleFiles["skills/a/SKILL.md"],
	})
	if got := mustLoad(t, dir, config.Options{}).Tools[0].Base().Description; got != "From the skill." {
		t.Errorf("description = %q", got)
	}
}

func TestHooksOfClaudeAreTheAgentsHooks(t *testing.T) {
	dir := folder(t, map[string]string{"agent.yaml": head + "claude: {hooks: [{event: Stop, action: log}]}\n"})
	if got := mustLoad(t, dir, config.Options{}).Hooks; len(got) != 1 || got[0].Event != "Stop" {
		t.Errorf("hooks = %+v", got)
	}
}

func TestCheckPattern(t *testing.T) {
	for _, pattern := range []string{
		"", "a+", `^\d{4}$`, "[]a]", "[^]]", `(?P<year>\d+)`, `(?=a)b`, `(?!a)b`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?P<w>a)(?P=w)`,
		`(?>a+)b`, `a++b`, `a*+`, `a?+`, `a{2}+`, `(a)?(?(1)b|c)`, `a(?#comment)b`, `(?i)a`, `(?x) a b`, `(?a)\w`, `(?i-s:a)`, `a\Z`, `\u00e9`,
		`[\u00e0-\u00ff]`, `a{2000}`, `a{,5}`, `a{1,2000}`, `(?=.*[A-Z])(?=.*\d).{8,}`, "é+", `\bword\b`, `[\b]`, "a{b", "x*?", "x+?",
	} {
		if err := config.CheckPattern(pattern); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
	}
	for _, pattern := range []string{
		"(", ")", "[", "a**", "*", `\`, "(?P<n", "(?<=a", `(a)\2`, `(?=a)(`, `a{3,2}(?=b)`, "(?#", "(?P=n", `(?=a)[z-a]`, "(?", "(?z)a",
	} {
		if config.CheckPattern(pattern) == nil {
			t.Errorf("%q is accepted", pattern)
		}
	}
}

func FuzzCheckPattern(f *testing.F) {
	for _, seed := range []string{`(?P<a>b)\1(?=c)`, `[^]\u0041]{2,3}+`, `(?(1)a|b)`, `(?x-s:`, `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, pattern string) { _ = config.CheckPattern(pattern) }) // it must not panic or hang
}
