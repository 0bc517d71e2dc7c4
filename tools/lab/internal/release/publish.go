package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Publish puts a draft in place: the tags, and the branch that is checked out with
// its files. Either all of it happens or none; nothing is pushed.
func (r *Repository) Publish(ctx context.Context, d *Draft) error {
	branch, err := r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return fmt.Errorf("%w: no branch is checked out, so there is none to continue", ErrNotClean)
	}
	if err := r.RequireClean(ctx); err != nil {
		return err
	}
	if head, err := r.commitOf(ctx, "HEAD"); err != nil || head != d.Base {
		return errors.Join(
			fmt.Errorf("%w: the branch moved on while the release was being checked; begin again", ErrNotClean), err)
	}
	transaction := strings.Builder{}
	fmt.Fprintln(&transaction, "start")
	for _, m := range d.Modules {
		object, err := r.tagObject(ctx, m.Tag(d.Version), d.Tagged)
		if err != nil {
			return err
		}
		fmt.Fprintf(&transaction, "create refs/tags/%s %s\n", m.Tag(d.Version), object)
	}
	fmt.Fprintf(&transaction, "update %s %s %s\nprepare\ncommit\n", branch, d.After, d.Base)

	// The files first: git refuses that as a whole where one is in the way.
	if _, err := r.git(ctx, "read-tree", "-m", "-u", d.Base, d.After); err != nil {
		return fmt.Errorf("nothing was tagged: %w", err)
	}
	_, err = runIn(ctx, r.Root, nil, strings.NewReader(transaction.String()), "git", "update-ref", "--stdin", "-m",
		"release "+d.Version)
	if err == nil {
		return nil
	}
	_, undone := r.git(context.WithoutCancel(ctx), "read-tree", "-m", "-u", d.After, d.Base)
	return errors.Join(fmt.Errorf("nothing was tagged: %w", err), undone)
}

// tagObject makes an annotated tag that no name leads to yet.
func (r *Repository) tagObject(ctx context.Context, tag, commit string) (string, error) {
	who, err := r.committer(ctx)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s\n\n%s\n", commit, tag, who, tag)
	return runIn(ctx, r.Root, nil, strings.NewReader(text), "git", "mktag")
}

// committer is who makes commits and tags, as git writes it.
func (r *Repository) committer(ctx context.Context) (string, error) {
	return r.git(ctx, "var", "GIT_COMMITTER_IDENT")
}
