// Package chat owns a conversation of a person with an agent: what is said turn
// by turn, the commands that begin with a slash, files that go with a message,
// permissions that are asked for, and the conversations that are kept. It refuses
// to know a terminal: it talks to a [screen.Screen], of which the sub-rooms have
// two.
package chat
