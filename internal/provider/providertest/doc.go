// Package providertest owns credentials that look real, for tests of what is
// signed with them. It refuses to be of use anywhere else.
package providertest
