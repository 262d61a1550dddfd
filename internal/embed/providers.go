package embed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/provider"
)

// openRemote returns the embedder of a provider. Where neither the file nor the
// name of the model says how long a vector is, the first one that comes does.
func openRemote(c Choice, o Options) (*remote, error) {
	access, problems := provider.Resolve(&c.Model, o.Getenv)
	if len(problems) > 0 {
		return nil, &config.Error{Problems: problems}
	}
	r := &remote{
		access: access, client: access.Client(o.HTTP), chance: o.Rand, api: apiOf(access, c),
		model: string(c.Model.Provider) + "/" + c.Model.Name,
	}
	if c.Dimensions > 0 {
		r.model += fmt.Sprintf("/%d", c.Dimensions)
	}
	r.dimensions.Store(int64(cmp.Or(c.Dimensions, width(c.Model.Name))))
	return r, nil
}

// width returns how long the vectors of a well-known model are, or 0. A wrong
// one would be found at the first vector.
func width(model string) int {
	name, _, _ := strings.Cut(strings.ToLower(model[strings.LastIndex(model, "/")+1:]), ":")
	switch name {
	case "text-embedding-3-small", "text-embedding-ada-002":
		return 1536
	case "text-embedding-3-large", "gemini-embedding-001":
		return 3072
	case "nomic-embed-text", "text-embedding-004":
		return 768
	}
	return 0
}

// apiOf returns how a route is asked for vectors.
func apiOf(a provider.Access, c Choice) api {
	switch a.Route {
	case provider.Gemini:
		return geminiAPI(c)
	case provider.GoogleVertex:
		return vertexAPI(a, c)
	case provider.Ollama:
		return ollamaAPI(c)
	}
	return openAIAPI(c)
}

// openAIAPI is OpenAI's API and Azure's.
func openAIAPI(c Choice) api {
	type request struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
	}
	return api{
		path: "/embeddings", most: 128,
		request: func(texts []string) any { return request{c.Model.Name, texts, c.Dimensions} },
		response: func(body []byte) ([][]float32, error) {
			var r struct {
				Data []struct {
					Index     int       `json:"index"`
					Embedding []float32 `json:"embedding"`
				} `json:"data"`
			}
			if err := json.Unmarshal(body, &r); err != nil {
				return nil, err
			}
			vectors := make([][]float32, len(r.Data))
			for _, d := range r.Data { // their order is not promised
				if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
					return nil, fmt.Errorf("the vectors are not numbered from 0 to %d", len(vectors)-1)
				}
				vectors[d.Index] = d.Embedding
			}
			return vectors, nil
		},
	}
}

// ollamaAPI is Ollama's own API. A text that is longer than the model reads is
// refused, not cut: what was cut could not be found.
func ollamaAPI(c Choice) api {
	type request struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions,omitempty"`
		Truncate   bool     `json:"truncate"`
	}
	return api{
		path: "/api/embed", most: 32,
		request: func(texts []string) any { return request{c.Model.Name, texts, c.Dimensions, false} },
		response: func(body []byte) ([][]float32, error) {
			var r struct {
				Embeddings [][]float32 `json:"embeddings"`
			}
			err := json.Unmarshal(body, &r)
			return r.Embeddings, err
		},
	}
}

// geminiAPI is that of Google AI Studio.
func geminiAPI(c Choice) api {
	type text struct {
		Text string `json:"text"`
	}
	type content struct {
		Parts []text `json:"parts"`
	}
	type one struct {
		Model      string  `json:"model"`
		Content    content `json:"content"`
		Dimensions int     `json:"outputDimensionality,omitempty"`
	}
	name := "models/" + strings.TrimPrefix(c.Model.Name, "models/")
	return api{
		path: "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(name, "models/")) + ":batchEmbedContents", most: 100,
		request: func(texts []string) any {
			list := make([]one, len(texts))
			for i, t := range texts {
				list[i] = one{name, content{[]text{{t}}}, c.Dimensions}
			}
			return map[string]any{"requests": list}
		},
		response: func(body []byte) ([][]float32, error) {
			var r struct {
				Embeddings []struct {
					Values []float32 `json:"values"`
				} `json:"embeddings"`
			}
			err := json.Unmarshal(body, &r)
			vectors := make([][]float32, len(r.Embeddings))
			for i, e := range r.Embeddings {
				vectors[i] = e.Values
			}
			return vectors, err
		},
	}
}

// vertexAPI is that of Google Vertex AI, whose newer models take one text at a
// time.
func vertexAPI(a provider.Access, c Choice) api {
	type instance struct {
		Content string `json:"content"`
	}
	type parameters struct {
		AutoTruncate bool `json:"autoTruncate"`
		Dimensions   int  `json:"outputDimensionality,omitempty"`
	}
	return api{
		path: "/v1/projects/" + url.PathEscape(a.Project) + "/locations/" + url.PathEscape(a.Region) +
			"/publishers/google/models/" + url.PathEscape(c.Model.Name) + ":predict",
		most: 1,
		request: func(texts []string) any {
			return map[string]any{"instances": []instance{{texts[0]}}, "parameters": parameters{false, c.Dimensions}}
		},
		response: func(body []byte) ([][]float32, error) {
			var r struct {
				Predictions []struct {
					Embeddings struct {
						Values []float32 `json:"values"`
					} `json:"embeddings"`
				} `json:"predictions"`
			}
			err := json.Unmarshal(body, &r)
			vectors := make([][]float32, len(r.Predictions))
			for i, p := range r.Predictions {
				vectors[i] = p.Embeddings.Values
			}
			return vectors, err
		},
	}
}
