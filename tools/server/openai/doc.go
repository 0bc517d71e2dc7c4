// Package openai speaks OpenAI's API: chat completions, responses without a stored state, completions, models,
// embeddings and transcriptions.
//
// Read api.go (what is where), then chat.go with chat_request.go and chat_answer.go; responses.go, completions.go,
// transcription.go and errors.go.
package openai
