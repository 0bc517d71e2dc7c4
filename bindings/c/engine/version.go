package engine

import "runtime/debug"

// released is set by whoever builds a release: -ldflags -X.
var released string

// Version is the release, or the commit that the library was built from.
func Version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
