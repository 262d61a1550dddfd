package runs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holodeck-go/holodeck/internal/config"
	"github.com/holodeck-go/holodeck/internal/runs"
	"github.com/holodeck-go/holodeck/internal/secret"
)

func TestDetailsOfGradersAreKept(t *testing.T) {
	d := newDesk(t)
	cases := whole()
	grader := func(details string) runs.Metric {
		return runs.Metric{Name: "money", Kind: config.MetricCode, Status: runs.MetricPass, Counts: true, Score: new(1.0), Details: json.RawMessage(details)}
	}
	turn := &cases[1].Turns[0]
	turn.Metrics = append(turn.Metrics, grader(`{"key": "hunter2hunter2"}`), grader(`{"n": 2}`))
	turn.Metrics[len(turn.Metrics)-1].Name = "other"
	cases[0].Turns[0].Metrics = append(cases[0].Turns[0].Metrics, grader(`{"single": "hunter2hunter2"}`), grader(`{"n": 3}`))
	cases[0].Redact(secret.NewRedactor([]string{"hunter2hunter2"}))
	cases[1].Redact(secret.NewRedactor([]string{"hunter2hunter2"}))

	stored := d.run(cases...)
	var file struct {
		Report struct {
			Environment map[string]string
			Results     []struct {
				Turns []struct {
					GraderDetails map[string]any `json:"grader_details"`
				}
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(stored.Folder, stored.Name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(file.Report.Results[1].Turns[0].GraderDetails)
	if want := `{"money":{"key":"` + secret.Mask + `"},"other":{"n":2}}`; string(got) != want {
		t.Errorf("stored %s, want %s", got, want)
	}

	if got, want := file.Report.Environment["grader_details"], `{"0":{"money":{"single":"`+secret.Mask+`"},"money #2":{"n":3}}}`; got != want {
		t.Errorf("of a case of one message stored %s, want %s", got, want)
	}
	details := func(r *runs.Record) string {
		var list []string
		for _, m := range read(t, r)[1].Turns[0].Metrics {
			list = append(list, string(m.Details))
		}
		return strings.ReplaceAll(strings.Join(list, "|"), " ", "")
	}
	want := `||{"key":"` + secret.Mask + `"}|{"n":2}`
	if got := details(open(t, stored)); got != want {
		t.Errorf("read from the journal %s, want %s", got, want)
	}
	if err := os.RemoveAll(filepath.Join(stored.Folder, ".holodeck")); err != nil {
		t.Fatal(err)
	}
	if got := details(open(t, stored)); got != want {
		t.Errorf("read from the stored form %s, want %s", got, want)
	}
}
