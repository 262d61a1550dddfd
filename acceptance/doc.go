// Package acceptance holds whole-command tests a user could read: each
// testdata/*.txtar is a script that runs the real program and says what it must
// print. It owns no code of the product.
//
// Beside testscript's own commands a script may use:
//
//	copydir SRC DST          copy a folder; $REPO is the repository
//	exits CODE COMMAND ARGS  run a command, which must end with that exit code
//	shows FILE               compare stdout with FILE, where "..." stands for any
//	                         lines and durations are not compared
//	replace FILE OLD NEW     replace text in a file; OLD must be there
//	makefile FILE MIB        make a file of so many MiB of letters
//	jsonpath FILE PATH WANT  compare one value of a JSON file, such as
//	                         summary.failed, with its JSON text
//	modelserver NAME SCRIPT  start a fake model server that plays a file of rules
//	                         (see docs/offline.md) in every provider's format;
//	                         its address is put into the variable NAME
//	mcpserver NAME TRANSPORT VARIABLE
//	                         start an MCP server over sse, http or websocket; its
//	                         URL is put into the variable. Servers over stdio are
//	                         started by npx, which on the PATH of scripts is a
//	                         stand-in that knows a few packages
package acceptance
