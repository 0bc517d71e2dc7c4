//go:build ignore

// Prints the sentences in the Go files named on standard input as JSON Lines: the file, the line, the text. A
// sentence is a string literal with two spaces between words or more; imports, tags and tests are left out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
)

var words = regexp.MustCompile(`[A-Za-z]{2,} [^ ]+ [A-Za-z]`)

func main() {
	out := json.NewEncoder(os.Stdout)
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, names.Text(), nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if _, tagged := node.(*ast.ImportSpec); tagged {
				return false
			}
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !words.MatchString(text) || strings.Contains(text, `json:"`) {
				return true
			}
			position := files.Position(literal.Pos())
			_ = out.Encode(map[string]any{"file": position.Filename, "line": position.Line, "text": text})
			return true
		})
	}
}
