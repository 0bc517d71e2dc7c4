// Package serve is the web server of `gemwire serve`: the apps, and the models
// that they load, from this machine to its browsers.
//
// It reads what it was given and nothing else: each file is opened below one of
// the folders named in [Options], where neither ".." nor a link leads out. It
// answers to names of this machine only, so that no page of the web can reach it
// under a name of its own (DNS rebinding), and pages from elsewhere can read its
// answers only where they were allowed to (CORS).
//
// Read site.go first (the order in which a request is looked at), then guard.go
// and origins.go (who may ask), app.go and encoding.go (the apps), models.go with
// folder.go and store.go (the models), content.go with ranges.go and paced.go (how a
// file is sent), results.go, and last listen.go, connections.go, certificate.go and
// network.go (where it listens, and to how many).
package serve
