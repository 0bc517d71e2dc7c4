package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// A Step is how far a version is from the one before, and so what it may change.
type Step string

// The steps. First is a version without one before it.
const (
	First Step = "first"
	Patch Step = "patch"
	Minor Step = "minor"
	Major Step = "major"
)

// stepFrom checks that a version can follow another ("" for none).
func stepFrom(last, version string) (Step, error) {
	if semver.Canonical(version) != version || version == "" || semver.Build(version) != "" {
		return "", fmt.Errorf("%w: %q; say it like v0.1.0", ErrVersion, version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		// Go wants /v2 at the end of every import path then.
		return "", fmt.Errorf("%w: %s: from v2 on, the modules' paths have to end in their major version", ErrVersion,
			version)
	}
	switch {
	case last == "":
		return First, nil
	case semver.Compare(version, last) <= 0:
		return "", fmt.Errorf("%w: %s does not come behind %s, the last one", ErrVersion, version, last)
	case semver.Major(version) != semver.Major(last):
		return Major, nil
	case semver.MajorMinor(version) != semver.MajorMinor(last):
		return Minor, nil
	}
	return Patch, nil
}

// nextPatch is the version behind a last one, the first for none.
func nextPatch(last string) string {
	if last == "" {
		return "v0.1.0"
	}
	var patch int
	release, _, _ := strings.Cut(last, "-")
	if release != last { // v0.2.0 follows v0.2.0-rc.1
		return release
	}
	prefix := semver.MajorMinor(last)
	// Canonical versions have three numbers, so that this cannot fail.
	_, _ = fmt.Sscanf(strings.TrimPrefix(last, prefix), ".%d", &patch)
	return fmt.Sprintf("%s.%d", prefix, patch+1)
}

// A taggedModule is a tag with what it gives a version to.
type taggedModule struct {
	Folder, Version, Tag string
}

// taggedModules lists all tags of the form FOLDER/vX.Y.Z.
func (r *Repository) taggedModules(ctx context.Context) ([]taggedModule, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags")
	if err != nil {
		return nil, err
	}
	var list []taggedModule
	for tag := range strings.Lines(out) {
		tag = strings.TrimSpace(tag)
		if at := strings.LastIndexByte(tag, '/'); at > 0 && semver.Canonical(tag[at+1:]) == tag[at+1:] &&
			tag[at+1:] != "" {
			list = append(list, taggedModule{Folder: tag[:at], Version: tag[at+1:], Tag: tag})
		}
	}
	return list, nil
}

// LastVersion is the highest that a module is tagged with, "" for none.
func (r *Repository) LastVersion(ctx context.Context) (string, error) {
	list, err := r.taggedModules(ctx)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return slices.MaxFunc(list, func(a, b taggedModule) int { return semver.Compare(a.Version, b.Version) }).Version,
		nil
}

// versionBefore is the highest version below another, "" for none.
func (r *Repository) versionBefore(ctx context.Context, version string) (string, error) {
	list, err := r.taggedModules(ctx)
	before := ""
	for _, t := range list {
		if semver.Compare(t.Version, version) < 0 && (before == "" || semver.Compare(t.Version, before) > 0) {
			before = t.Version
		}
	}
	return before, err
}

// refuseTagged refuses a version that a module has a tag of.
func (r *Repository) refuseTagged(ctx context.Context, modules []Module, version string) error {
	list, err := r.taggedModules(ctx)
	if err != nil {
		return err
	}
	for _, m := range modules {
		for _, t := range list {
			if t.Tag == m.Tag(version) {
				return fmt.Errorf("%w: %s; choose another version, or remove the tag with git tag -d if nobody has it",
					ErrTagged,
					t.Tag)
			}
		}
	}
	return nil
}
