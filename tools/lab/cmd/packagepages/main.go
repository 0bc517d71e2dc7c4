// Command packagepages writes a Markdown page for each public package below some
// folders, from its doc comments, for the documentation's site.
//
//	packagepages -out docs/packages/go quant gguf
//
// Folders are those of modules; the page of quant/x is OUT/quant/x.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "", "write the pages into this `FOLDER`")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "packagepages:", err)
		os.Exit(1)
	}
}

func run(out string, modules []string) error {
	if out == "" || len(modules) == 0 {
		return fmt.Errorf("say -out FOLDER and the folders of modules")
	}
	packages, err := find(modules)
	if err != nil {
		return err
	}
	for _, p := range packages {
		text, err := p.page(packages)
		if err != nil {
			return err
		}
		file := filepath.Join(out, filepath.FromSlash(p.folder)+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
