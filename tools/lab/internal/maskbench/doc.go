// Package maskbench runs MaskBench (github.com/guidance-ai/jsonschemabench, folder maskbench/data): JSON schemas with
// instances that fit and others that do not. A schema passes where every instance that fits is accepted token by token
// and every other is refused. The masks are timed on the way.
//
// Read run.go for how a schema is tried, tokens.go for how instances are split, table.go for what is printed, and
// suite.go for the cases of the JSON Schema Test Suite.
package maskbench
