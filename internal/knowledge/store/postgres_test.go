package store

import (
	"net"
	"reflect"
	"strings"
	"testing"
)

// TestPostgresNamesAreQuoted holds that a schema cannot end a statement.
func TestPostgresNamesAreQuoted(t *testing.T) {
	sql := reflect.ValueOf(newPostgresSQL(`a"; DROP TABLE x; --`))
	for i := range sql.NumField() {
		if sql.Field(i).Kind() != reflect.String {
			continue
		}
		text := sql.Field(i).String()
		if rest := strings.ReplaceAll(text, `"a""; DROP TABLE x; --"`, ""); strings.Contains(rest, "DROP TABLE x") || strings.Contains(text, "@") {
			t.Errorf("%s: %s", sql.Type().Field(i).Name, text)
		}
	}
}

func TestPostgresIndexesAreLockedApart(t *testing.T) {
	a := advisoryKey(PostgresOptions{Schema: "public", Index: "desk/kb"})
	for _, other := range []PostgresOptions{{Schema: "public", Index: "desk/faq"}, {Schema: "other", Index: "desk/kb"}, {Schema: "public"}} {
		if advisoryKey(other) == a {
			t.Errorf("%+v has the lock of another", other)
		}
	}
}

func TestPostgresThatCannotBeReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const password = "tiger-in-the-tank"
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil { // nobody listens there now
		t.Fatal(err)
	}
	for connection, want := range map[string]string{
		"host=127.0.0.1 port=" + port + " password=" + password: "connect to the database of the index",
		"host=127.0.0.1 port=x password=" + password:            "read the connection string",
	} {
		_, err := OpenPostgres(t.Context(), PostgresOptions{Connection: connection, Index: "kb"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", connection, err)
		}
	}
}
