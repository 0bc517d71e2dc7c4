package checkup

import (
	"slices"

	"github.com/gemwire/gemwire/wgslkit"
)

// blame finds, for each failed case, the kernels to avoid. A kernel that some
// case got right is not to blame. A form that no case got right is to blame
// in all sizes; otherwise it is the very kernels. Where each of its kernels was
// right elsewhere, it is all of them: what they do wrong depends on more than
// their text.
func blame(failed, all []*result) map[*result][]string {
	rightNames, rightForms := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		if r.passed() {
			for _, k := range r.kernels {
				rightNames[k.Name], rightForms[k.Form] = true, true
			}
		}
	}
	out := map[*result][]string{}
	for _, r := range failed {
		names := pick(r.kernels, func(k wgslkit.KernelID) (string, bool) { return k.Form, !rightForms[k.Form] })
		if len(names) == 0 {
			names = pick(r.kernels, func(k wgslkit.KernelID) (string, bool) { return k.Name, !rightNames[k.Name] })
		}
		if len(names) == 0 {
			names = pick(r.kernels, func(k wgslkit.KernelID) (string, bool) { return k.Name, true })
		}
		out[r] = names
	}
	return out
}

func pick(kernels []wgslkit.KernelID, name func(wgslkit.KernelID) (string, bool)) []string {
	var names []string
	for _, k := range kernels {
		if n, ok := name(k); ok && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// union is all names, each once, in order.
func union(lists map[*result][]string) []string {
	var all []string
	for _, names := range lists {
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
