package release

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// stamped are the files beside go.mod that say the version, and how often: the
// npm package's. Those that a tree lacks are passed over.
var stamped = map[string]int{
	"bindings/wasm/npm/package.json":      1,
	"bindings/wasm/npm/package-lock.json": 2, // of the package, not of what it is built with
	"bindings/wasm/npm/src/version.ts":    1,
}

// versionField is the version of a JSON file or of a TypeScript constant.
var versionField = regexp.MustCompile(`((?:"version":|\bversion =) *)"[^"]*"`)

// stamp writes a version into the files that say it.
func stamp(t *tree, version string) error {
	for name, count := range stamped {
		text, err := os.ReadFile(t.path(name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		places := versionField.FindAllSubmatchIndex(text, count)
		if len(places) != count {
			return fmt.Errorf("%w: %s says its version %d times, wanted %d", ErrModules, name, len(places), count)
		}
		var b strings.Builder
		end := 0
		for _, at := range places {
			b.Write(text[end:at[3]])
			fmt.Fprintf(&b, "%q", strings.TrimPrefix(version, "v"))
			end = at[1]
		}
		b.Write(text[end:])
		if err := os.WriteFile(t.path(name), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
