package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatTakesLongIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		a := &app{Process: Process{Stderr: &out}}
		a.tellLater("opening one")()
		over := a.tellLater("opening two")
		time.Sleep(time.Second)
		over()
		a.quiet = true
		over = a.tellLater("opening three")
		time.Sleep(time.Second)
		over()
		if out.String() != "opening two\n" {
			t.Errorf("%q", out.String())
		}
	})
}
