package release

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Repository is a git repository with a checkout. Only Publish changes what it
// holds; drafts leave objects behind that nothing refers to, which git removes
// some day.
type Repository struct {
	// Root is the folder of the checkout.
	Root   string
	gitDir string
}

// Open finds the repository around a folder.
func Open(ctx context.Context, folder string) (*Repository, error) {
	out, err := runIn(ctx, folder, nil, nil, "git", "rev-parse", "--show-toplevel", "--absolute-git-dir")
	if err != nil {
		return nil, fmt.Errorf("%s is in no git repository: %w", folder, err)
	}
	root, gitDir, _ := strings.Cut(out, "\n")
	return &Repository{Root: filepath.FromSlash(root), gitDir: filepath.FromSlash(gitDir)}, nil
}

// git runs git in the checkout and returns what it prints.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	return runIn(ctx, r.Root, nil, nil, "git", args...)
}

// commitOf is the commit that a revision names.
func (r *Repository) commitOf(ctx context.Context, revision string) (string, error) {
	return r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

// commitTime is when a commit was made.
func (r *Repository) commitTime(ctx context.Context, commit string) (time.Time, error) {
	out, err := r.git(ctx, "show", "--no-patch", "--format=%cI", commit)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, out)
	return at.UTC(), err
}

// RequireClean refuses a checkout whose files differ from its last commit.
func (r *Repository) RequireClean(ctx context.Context) error {
	out, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if out != "" {
		return fmt.Errorf("%w: commit or remove\n%s", ErrNotClean, out)
	}
	return nil
}

// runIn runs a program in a folder and returns what it prints, without the last
// line's end. extra is added to the environment. An error holds the end of what
// the program had to say.
func runIn(ctx context.Context, folder string, extra []string, in io.Reader, name string,
	args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = folder, in
	cmd.Env = append(cleanEnvironment(), extra...)
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, ending(errs.String()+out.String()))
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// cleanEnvironment is the process's, without what would lead git to another
// repository, as in a hook.
func cleanEnvironment() []string {
	var env []string
	for _, entry := range os.Environ() {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY":
		default:
			env = append(env, entry)
		}
	}
	return env
}

// ending is the last lines of a log.
func ending(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}
