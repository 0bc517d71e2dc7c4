package embedding

// The model was trained on texts with these words around them; without them, it
// answers less well.

// Query is a question to look documents up with.
func Query(text string) string { return "task: search result | query: " + text }

// Document is a text to be found, with its title or "".
func Document(title, text string) string {
	if title == "" {
		title = "none"
	}
	return "title: " + title + " | text: " + text
}

// Similarity is a text to be compared with others of its kind.
func Similarity(text string) string { return "task: sentence similarity | query: " + text }
