// Package serving has the commands serve, which is the web app and the APIs of Ollama, OpenAI and Anthropic, and batch,
// which answers a file of requests to those APIs.
package serving
