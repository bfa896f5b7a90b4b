// The official JavaScript client against a running service: prints what it saw as one JSON line.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SDK_FOLDER + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load(
  "@modelcontextprotocol/sdk/client/streamableHttp.js",
);

const client = new Client({ name: "test", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(process.env.SERVER), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
});
await client.connect(transport);
await client.ping();
const { tools } = await client.listTools();
const called = await client.callTool({ name: process.env.TOOL ?? "list_projects", arguments: {} });
const unknown = await client.callTool({ name: "promote_project", arguments: {} });
console.log(
  JSON.stringify({
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    tools: tools.map((tool) => tool.name),
    called,
    unknown,
  }),
);
await client.close();
