// Package notices gathers what the licences of other people's work ask for: the names and texts of all that a product
// of this repository carries. Each product has its file (Products), kept in the repository, so that a release, an
// installation and the app ship it without a network.
//
// Go's modules come from `go list`, packages of npm from lock files and node_modules, the crates in wgpu-native from
// crates.json, which Crates makes. Tools that are kept for this (go-licenses, generate-license-file, cargo-about) each
// know one of the three and want its build tools at hand; reading three lists is less than joining three reports.
//
// Read product.go, then gather.go.
package notices
