package config

import (
	"net/url"
	"strings"
)

// secretWords mark the name of a variable or key whose value is a secret.
// "key" is not among them: see secretName.
var secretWords = [...]string{"token", "secret", "password", "passwd", "authorization", "cookie", "dsn", "connection"}

// secretName reports whether the name of a variable or key says that its value
// is a secret. "key" counts as a word or at the end of one (API_KEY, apiKey,
// accesskey), so that keyword or keyboard do not.
func secretName(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	for _, part := range strings.FieldsFunc(lower, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if strings.HasSuffix(part, "key") || strings.HasSuffix(part, "keys") {
			return true
		}
	}
	return false
}

// secretKey is secretName for the keys of a file. Keys of ours that hold no
// secret, whatever their name says, are not.
func secretKey(key string) bool {
	return key != "output_key" && secretName(key)
}

// minUserToken is the length from which the user part of a URL without a
// password is taken for a token rather than a name.
const minUserToken = 16

// userInfo returns the password of a URL, or its user where that is a token.
func userInfo(text string) []string {
	i := strings.Index(text, "://")
	if i < 1 || !strings.Contains(text[i:], "@") {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.User == nil {
		return nil
	}
	if password, ok := u.User.Password(); ok {
		_, escaped, _ := strings.Cut(u.User.String(), ":")
		return []string{password, escaped}
	}
	if name := u.User.Username(); len(name) >= minUserToken {
		return []string{name}
	}
	return nil
}
