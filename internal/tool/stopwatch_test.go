package tool

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holodeck-go/holodeck/internal/agent"
)

func TestTheTimeOfAPersonIsNotTheTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := withStopwatch(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		time.Sleep(40 * time.Second)
		first, ok := agent.Pause(ctx)
		if !ok || !agent.CanPause(ctx) {
			t.Fatal("the call has no clock")
		}
		second, _ := agent.Pause(ctx)
		time.Sleep(time.Hour)
		first()
		first() // once is enough
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("the call ended while a person was asked")
		}
		second()
		<-ctx.Done()
		if took := time.Since(begin); took != 2*time.Hour+time.Minute {
			t.Errorf("the call ended after %s", took)
		}
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("it ended in %v", context.Cause(ctx))
		}
	})
}

func TestACallWithoutQuestionsEndsAtItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := withStopwatch(t.Context(), time.Minute)
		defer cancel()
		<-ctx.Done()
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("the call ended after %s", took)
		}
	})
	if _, ok := agent.Pause(t.Context()); ok || agent.CanPause(t.Context()) {
		t.Error("a context without a clock has one")
	}
}
