// An official JavaScript client against a running service: prints what it saw as one JSON line.
// MODE is "sdk" for the first line of the SDK, else how the second settles on a revision.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SDK_FOLDER + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const second = (process.env.MODE ?? "sdk") !== "sdk";
const first = async () => ({
  ...(await load("@modelcontextprotocol/sdk/client/index.js")),
  ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
});
const { Client, StreamableHTTPClientTransport } = await (second
  ? load("@modelcontextprotocol/client")
  : first());

const mode = process.env.MODE === "auto" ? "auto" : { pin: process.env.MODE };
const options = second ? { versionNegotiation: { mode } } : {};
const client = new Client({ name: "test", version: "1.0.0" }, options);
const transport = new StreamableHTTPClientTransport(new URL(process.env.SERVER), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
});
await client.connect(transport);
if (!second) await client.ping();
const { tools } = await client.listTools();
const called = await client.callTool({ name: process.env.TOOL ?? "list_projects", arguments: {} });
const unknown = await client.callTool({ name: "promote_project", arguments: {} });
console.log(
  JSON.stringify({
    protocol: second ? client.getNegotiatedProtocolVersion() : null,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    tools: tools.map((tool) => tool.name),
    called,
    unknown,
  }),
);
await client.close();
