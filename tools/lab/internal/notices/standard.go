package notices

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed texts
var standardTexts embed.FS

// standard is the text for a part whose package brings none: that of the licence that it names, and who made it.
func standard(licence string, authors []string) []string {
	pick := choice(licence)
	if pick == "" {
		pick = licence
	}
	text, err := standardTexts.ReadFile("texts/" + pick + ".txt")
	if err != nil {
		return nil
	}
	by := "its authors"
	if len(authors) > 0 {
		by = strings.Join(authors, ", ")
	}
	return []string{fmt.Sprintf("Its package names the license %s, and brings no text of it. This is the usual one.\n"+
		"Copyright: %s\n\n%s", pick, by, tidy(string(text)))}
}
