// Package prompt owns tools that ask a model with a template: the template
// ([Template]), the parameters a caller fills it with, and the one model call
// that answers ([Tool]). It refuses to hold a conversation: a prompt sees nothing
// of its caller's, and every call begins anew.
package prompt
