package knowledge

import (
	"context"
	"errors"
	"fmt"

	"github.com/holodeck-go/holodeck/internal/durable"
	"github.com/holodeck-go/holodeck/internal/knowledge/store"
)

// Refresh implements Tool.
func (v *searchTool) Refresh(ctx context.Context) error {
	if err := v.refresh(ctx, whatChanged); err != nil {
		return fmt.Errorf("refresh the index of %s: %w", v.settings.name, err)
	}
	return nil
}

// refresh brings the index up to date and shows it to searches.
func (v *searchTool) refresh(ctx context.Context, much extent) error {
	v.refreshing.Lock()
	defer v.refreshing.Unlock()
	if v.closed {
		return v.notReady()
	}
	v.fetched = nil
	v.begin()
	p, err := v.plan(ctx, much)
	if err != nil {
		return err
	}
	if !p.upToDate() {
		return v.update(ctx, much)
	}
	if err := v.publish(p.have, p); err != nil {
		return err
	}
	v.keepStamps(ctx, p)
	return nil
}

// update changes the index under a lease.
func (v *searchTool) update(ctx context.Context, much extent) (err error) {
	lease, err := v.store.Lock(ctx, v.waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	p, err := v.plan(ctx, much) // another process may have done the work
	if err != nil {
		return err
	}
	if p.upToDate() {
		return v.publish(p.have, p)
	}
	if err := v.carryOut(ctx, p, lease); err != nil {
		return err
	}
	now, err := v.load(ctx)
	if err != nil {
		return err
	}
	return v.publish(now, p)
}

// begin sets the progress to nothing.
func (v *searchTool) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = Progress{Tool: v.settings.name}
}

// waiting tells that another process is indexing.
func (v *searchTool) waiting() {
	v.tell("another process is indexing %s; waiting for it to finish", v.settings.name)
}

// keepStamps stores the new time stamps of files whose content is the same, so
// that they need not be read again. It only saves time: where it cannot be done
// it is left undone.
func (v *searchTool) keepStamps(ctx context.Context, p *plan) {
	if len(p.touch) == 0 {
		return
	}
	err := v.tryKeepStamps(ctx, p)
	if err != nil && !errors.Is(err, durable.ErrLocked) {
		v.env.Log.Debug("the time stamps of unchanged sources were not kept", "tool", v.settings.name, "error", err)
	}
}

func (v *searchTool) tryKeepStamps(ctx context.Context, p *plan) (err error) {
	lease, err := v.store.TryLock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release()) }()
	if lease.Began.IsZero() {
		return nil // stamps mean nothing there
	}
	now, err := v.store.Load(ctx) // another process may have changed it since
	if err != nil || now.Manifest != p.have.Manifest {
		return err
	}
	stamps := p.stamps(now.Sources, lease)
	if len(stamps) == 0 {
		return nil
	}
	return v.store.Commit(ctx, store.Change{Manifest: now.Manifest, Touch: stamps})
}

// carryOut makes what the plan asks for and commits it.
func (v *searchTool) carryOut(ctx context.Context, p *plan, lease store.Lease) error {
	sources, err := v.read(ctx, p, lease)
	if err != nil {
		return err
	}
	if p.upToDate() {
		return nil // but for files that cannot be read
	}
	v.tellPassedOver(p.source)
	if err := v.contexts(ctx, p, sources); err != nil {
		return err
	}
	if err := v.embed(ctx, p, sources); err != nil {
		return err
	}
	manifest := v.manifest()
	if manifest.Dimensions == 0 && manifest.Embedder != "" { // no text was embedded
		manifest.Dimensions = p.have.Manifest.Dimensions
	}
	change := store.Change{Manifest: manifest, Reset: p.reset, Remove: p.remove, Touch: p.stamps(p.have.Sources, lease)}
	for _, s := range sources {
		change.Put = append(change.Put, s.assemble(v.settings.analyzer))
	}
	if err := v.store.Commit(ctx, change); err != nil {
		return err
	}
	if p.reason != "" && !p.asked { // who asked for it knows
		v.tell("the index of %s was made anew: %s", v.settings.name, p.reason)
	}
	v.env.Log.Info("the index was brought up to date", "tool", v.settings.name, "index", v.store.Location(),
		"added", p.added, "changed", len(p.put)-p.added, "removed", len(p.remove), "unchanged", p.unchanged)
	return nil
}
