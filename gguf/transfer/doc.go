// Package transfer holds what reading a file over HTTP needs, whether it is read in
// ranges or downloaded whole: which failures are worth another try and when
// (retry.go), when a connection counts as dead (watchdog.go), and where the caller's
// own headers may go (redirect.go).
package transfer
