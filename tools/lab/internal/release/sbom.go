package release

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/gemwire/gemwire/tools/lab/internal/notices"
)

// writeSBOM lists what a program is made of, in CycloneDX: the modules that the Go
// linker wrote into it, and Go itself; of the others, the crates where wgpu is linked,
// and the packages of npm. It has neither a time nor a number of its
// own, so that the same program has the same list.
func writeSBOM(name, program string, target Target, others []notices.Part) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	main := component(&info.Main, cdx.ComponentTypeApplication)
	main.PackageURL += fmt.Sprintf("?type=module&goos=%s&goarch=%s", target.OS, target.Arch)
	main.BOMRef = main.PackageURL
	parts := []cdx.Component{
		component(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")},
			cdx.ComponentTypeLibrary),
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component(m, cdx.ComponentTypeLibrary))
	}
	for _, p := range others {
		if p.Kind == notices.NPM || p.Kind == notices.Crate && target.CC != "" {
			parts = append(parts, foreign(p))
		}
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	refs := make([]string, len(parts))
	for i, p := range parts {
		refs[i] = p.BOMRef
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).Encode(bom)
	return errors.Join(err, file.Close())
}

// component is a module as CycloneDX has it, with its hash from go.sum.
func component(m *debug.Module, kind cdx.ComponentType) cdx.Component {
	url := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
	c := cdx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}

// foreign is a crate or a package of npm as CycloneDX has it.
func foreign(p notices.Part) cdx.Component {
	kind := map[string]string{notices.Crate: "cargo", notices.NPM: "npm"}[p.Kind]
	url := "pkg:" + kind + "/" + strings.ReplaceAll(p.Name, "@", "%40")
	if p.Version != "" {
		url += "@" + strings.ReplaceAll(p.Version, "+", "%2B")
	}
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: p.Name, Version: p.Version, PackageURL: url}
	if p.Licence != "" {
		c.Licenses = &cdx.Licenses{{Expression: strings.ReplaceAll(p.Licence, "/", " OR ")}}
	}
	return c
}
