// The peer of S1 and S2: the official SDK, stateless, a server with 14 tools built per request.
import { createRequire } from "node:module";
import http from "node:http";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SDK_FOLDER + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = await load(
  "@modelcontextprotocol/sdk/server/streamableHttp.js",
);
const { z } = await load("zod");

const tools = Array.from({ length: 14 }, (_, i) => `tool_${i}`);
const projects = [{ slug: "alpha", name: "Alpha", status: "active" }];

function build() {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  for (const name of tools) {
    server.registerTool(
      name,
      {
        description: `What ${name} does, in one sentence of about the same length as ours.`,
        inputSchema: {
          project: z.string().describe("Project slug"),
          session_id: z.string().optional().describe("Chat id"),
          prompt: z.string().optional(),
          limit: z.number().int().optional(),
        },
      },
      async () => {
        const result = { count: projects.length, projects };
        return {
          content: [{ type: "text", text: JSON.stringify(result) }],
          structuredContent: result,
        };
      },
    );
  }
  return server;
}

http
  .createServer(async (req, res) => {
    if (req.headers.authorization !== `Bearer ${process.env.TOKEN}`) {
      res.writeHead(401).end();
      return;
    }
    const server = build();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    res.on("close", () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(req, res);
  })
  .listen(0, "127.0.0.1", function () {
    console.log(this.address().port);
  });
