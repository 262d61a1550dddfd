// Package backend owns how an agent becomes something that answers: [Open]
// finds the runtime an agent file names and opens the agent on it, with its
// limits, its model and its tools. It refuses to run a turn itself: runtimes
// are rooms of their own behind agent.Backend, and their consumers never ask
// which one they have.
//
// In this build every runtime runs on backend/loop. For agent_framework,
// semantic_kernel and claude on an API, each a room of its own, that is where
// they belong; google_adk needs the offline model, for which the loop stands in
// and says so in a Notice.
package backend
