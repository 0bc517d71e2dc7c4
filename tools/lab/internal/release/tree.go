package release

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A tree is the files of a commit, in a folder of their own.
type tree struct {
	repo     *Repository
	folder   string
	identity []string // in the environment, of who commits
}

// somebody commits drafts where git knows no name, as on a machine for tests.
// Publish wants a real one.
var somebody = []string{
	"GIT_AUTHOR_NAME=nobody", "GIT_AUTHOR_EMAIL=nobody@localhost",
	"GIT_COMMITTER_NAME=nobody", "GIT_COMMITTER_EMAIL=nobody@localhost",
}

// checkout writes the files of a commit into an empty folder.
func (r *Repository) checkout(ctx context.Context, commit, folder string) (*tree, error) {
	t := &tree{repo: r, folder: folder}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	if _, err := t.git(ctx, nil, "read-tree", commit); err != nil {
		return nil, err
	}
	_, err := t.git(ctx, nil, "checkout-index", "--all", "--force", "-u")
	return t, err
}

// git runs git with the tree's folder for a checkout and an index beside it.
func (t *tree) git(ctx context.Context, in io.Reader, args ...string) (string, error) {
	env := []string{"GIT_DIR=" + t.repo.gitDir, "GIT_WORK_TREE=" + t.folder, "GIT_INDEX_FILE=" + t.folder + ".index"}
	return runIn(ctx, t.folder, append(env, t.identity...), in, "git", args...)
}

// commit makes a commit of the tree's files that no branch leads to yet.
func (t *tree) commit(ctx context.Context, parent, message string) (string, error) {
	if _, err := t.repo.committer(ctx); err != nil {
		t.identity = somebody
	}
	if _, err := t.git(ctx, nil, "add", "--all"); err != nil {
		return "", err
	}
	id, err := t.git(ctx, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return t.git(ctx, strings.NewReader(message+"\n"), "commit-tree", "-p", parent, "-F", "-", id)
}

// path is a file of the tree, by its name below the root with slashes.
func (t *tree) path(parts ...string) string {
	for i, p := range parts {
		parts[i] = filepath.FromSlash(p)
	}
	return filepath.Join(append([]string{t.folder}, parts...)...)
}
