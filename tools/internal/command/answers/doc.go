// Package answers has the commands that answer: run, one prompt, and chat, a conversation.
//
// answer_flags.go opens a model as the flags and Ollama's store say, for both; answer_text.go and answer_json.go print
// an answer. Read run.go, then chat.go and chat_answer.go; chat_slash.go has the commands within a chat.
package answers
