package flagset

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// mediaKinds are the endings of files that a line of a chat may name.
var mediaKinds = map[string]chat.PartType{
	".png": chat.Image, ".jpg": chat.Image, ".jpeg": chat.Image, ".webp": chat.Image, ".gif": chat.Image,
	".bmp": chat.Image,
	".wav": chat.Audio, ".flac": chat.Audio, ".mp3": chat.Audio, ".ogg": chat.Audio, ".oga": chat.Audio,
	".opus": chat.Audio,
	".mp4":  chat.Video, ".m4v": chat.Video, ".mov": chat.Video, ".mkv": chat.Video, ".webm": chat.Video,
	".avi": chat.Video, ".mpg": chat.Video, ".mpeg": chat.Video, ".ogv": chat.Video, ".apng": chat.Video,
}

// TakePaths takes the names of pictures and recordings that exist out of a
// message, as a terminal writes those that are dragged into it: in quotes, with
// spaces escaped, or as file:// addresses. Everything else stays as it is.
func TakePaths(text string) (rest string, files []MediaFile) {
	var kept strings.Builder
	for at := 0; at < len(text); {
		if startsWord(text, at) {
			end := wordEnd(text, at)
			if file, ok := MediaPath(text[at:end]); ok {
				files = append(files, file)
				if at = end; at < len(text) && isSpace(text[at]) && text[at] != '\n' {
					at++ // the gap behind it
				}
				continue
			}
		}
		kept.WriteByte(text[at])
		at++
	}
	if len(files) == 0 {
		return text, nil
	}
	return tidied(kept.String()), files
}

// startsWord says whether a word could begin at a place.
func startsWord(text string, at int) bool { return at == 0 || isSpace(text[at-1]) }

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// longestPath is how far a word is read: no system has longer paths.
const longestPath = 4096

// wordEnd is where a word ends that begins at a place, read as a shell reads it.
func wordEnd(text string, at int) int {
	text = text[:min(len(text), at+longestPath)]
	var quote byte
	for i := at; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case b == '\\' && os.PathSeparator != '\\':
			i++
		case isSpace(b):
			return i
		}
	}
	if quote != 0 { // an apostrophe, and no quote
		if space := strings.IndexAny(text[at:], " \t\r\n"); space >= 0 {
			return at + space
		}
	}
	return len(text)
}

// MediaPath says which file a word names, if it names one.
func MediaPath(word string) (MediaFile, bool) {
	path := Unquoted(word)
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		decoded, err := url.PathUnescape(strings.TrimPrefix(rest, "localhost"))
		if err != nil {
			return MediaFile{}, false
		}
		path = decoded
	}
	kind, ok := mediaKinds[strings.ToLower(filepath.Ext(path))]
	if !ok {
		return MediaFile{}, false
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	info, err := os.Stat(path)
	return MediaFile{kind, path}, err == nil && info.Mode().IsRegular()
}

// Unquoted is a word without its quotes and escapes.
func Unquoted(word string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote != '\'' && c == '\\' && os.PathSeparator != '\\' && i+1 < len(word):
			i++
			b.WriteByte(word[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// tidied is what is left of a text, without the gaps that paths leave.
func tidied(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
