package release

import "errors"

// What a caller can act on.
var (
	// ErrVersion is a version that cannot follow.
	ErrVersion = errors.New("unusable version")
	// ErrNotClean is a checkout with changes that a release would leave out.
	ErrNotClean = errors.New("the checkout is not clean")
	// ErrTagged is a version of which tags are there already.
	ErrTagged = errors.New("tagged already")
	// ErrModules is a set of modules that cannot be released.
	ErrModules = errors.New("unusable modules")
	// ErrIncompatible is an interface that breaks its users in a version that may not.
	ErrIncompatible = errors.New("incompatible with the last release")
	// ErrOutside is a module that an outside module could not use.
	ErrOutside = errors.New("unusable from outside")
	// ErrBuild is an artifact that could not be built.
	ErrBuild = errors.New("not built")
)
