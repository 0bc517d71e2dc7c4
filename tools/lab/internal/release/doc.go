// Package release makes a version of the repository: every module of go.work is
// tagged with it, and what is given to people is built from the tags.
//
// In a clone, the go.mod files replace their siblings by folders. `go install`
// refuses such a module, so the tags stand on a commit of their own, in which each
// go.mod names its siblings by version; the next commit puts the folders back.
// Both are made beside the checkout, checked, and put in place in one step.
//
// Read modules.go (what is released, in which order) and draft.go (the two
// commits), then publish.go (tags and branch, all or none), proxy.go (the modules
// as a file GOPROXY) and outside.go (what an empty module makes of them). compat.go
// compares with the release before, notes.go tells what is new. build.go and the
// files that it calls make the command, the libraries and the package, with their
// checksums and bills of materials.
package release
