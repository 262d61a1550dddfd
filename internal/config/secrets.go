package config

import (
	"net/url"
	"strings"

	"github.com/holodeck-go/holodeck/internal/secret"
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
// secret, whatever their name says, are not: max_tokens and its like are numbers.
func secretKey(key string) bool {
	return key != "output_key" && !strings.HasSuffix(key, "_tokens") && secretName(key)
}

// minUserToken is the length from which the user part of a URL without a
// password is taken for a token rather than a name.
const minUserToken = 16

// credentials returns the parts of a text that are secrets because of where they
// stand: the password of a URL, or its user where that is a token, and what its
// query and fragment give for names that say secret.
func credentials(text string) []string {
	i := strings.Index(text, "://")
	if i < 1 || !strings.ContainsAny(text[i:], "@?#") {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil
	}
	var out []string
	if u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			_, escaped, _ := strings.Cut(u.User.String(), ":")
			out = append(out, password, escaped)
		} else if name := u.User.Username(); !ok && len(name) >= minUserToken {
			out = append(out, name)
		}
	}
	for _, list := range []string{u.RawQuery, u.EscapedFragment()} {
		for pair := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == '&' || r == ';' }) {
			name, escaped, _ := strings.Cut(pair, "=")
			if name, err := url.QueryUnescape(name); err != nil || !secretName(name) || escaped == "" {
				continue
			}
			out = append(out, escaped)
			if value, err := url.QueryUnescape(escaped); err == nil && value != escaped {
				out = append(out, value)
			}
		}
	}
	return out
}

// isArguments reports whether a list under a key is a command line, or the end
// of one.
func isArguments(key string) bool { return key == "args" || key == "command" }

// argument returns the part of an argument of a command line that is a secret by
// the name before it: --token=…, TOKEN=… and Authorization: …. next says that the
// argument only names what the one after it gives, as --token does.
func argument(text string) (value string, next bool) {
	end := strings.IndexAny(text, "=:")
	if end < 0 {
		return "", strings.HasPrefix(text, "-") && secretName(text)
	}
	if name := text[:end]; !secretName(name) || strings.ContainsAny(name, " /") {
		return "", false
	}
	return strings.TrimSpace(text[end+1:]), false
}

// hide returns a text with its credentials masked, whatever their length.
func hide(text string) string {
	for _, value := range credentials(text) {
		text = strings.NewReplacer(
			"="+value, "="+secret.Mask,
			":"+value+"@", ":"+secret.Mask+"@",
			"//"+value+"@", "//"+secret.Mask+"@",
		).Replace(text)
	}
	return text
}
