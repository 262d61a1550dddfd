// Makes a server listen on this machine alone, on a port of the system's choice,
// and puts that into the file PORT_FILE. Loaded by node -r before the server.
"use strict";
const fs = require("node:fs");
const net = require("node:net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const callback = args.find((a) => typeof a === "function");
  this.once("listening", () => fs.writeFileSync(process.env.PORT_FILE, String(this.address().port)));
  return listen.call(this, { port: 0, host: "127.0.0.1" }, callback);
};
