// Package ollama speaks Ollama's API: chats and texts as lines of JSON, and models that are listed, shown, copied,
// created, pulled and deleted.
//
// Read api.go (what is where), then chat.go and generate.go with request.go and reply.go; models.go, create.go,
// modelfile.go and pull.go.
package ollama
