// The peers of S1 and S2: the official SDK, stateless, a server built per request. `registered`
// registers its 14 tools each time; `lean` is the low-level server, which answers from one list.
import { createRequire } from "node:module";
import http from "node:http";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.SDK_FOLDER + "/");
const load = (name) =>
  import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { McpServer } = await load("server/mcp.js");
const { Server } = await load("server/index.js");
const { StreamableHTTPServerTransport } = await load("server/streamableHttp.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = await load("types.js");
const { z } = await import(pathToFileURL(require.resolve("zod")).href);

const jsonSchemaValidator = { getValidator: () => () => ({ valid: true }) }; // its own: one per server
const info = { name: "peer", version: "1.0.0" };
const described = (name) => `What ${name} does, in one sentence of about the same length as ours.`;
const names = Array.from({ length: 14 }, (_, i) => `tool_${i}`);
const tools = names.map((name) => ({
  name,
  description: described(name),
  inputSchema: {
    type: "object",
    properties: {
      project: { type: "string", description: "Project slug" },
      session_id: { type: "string", description: "Chat id" },
      prompt: { type: "string" },
      limit: { type: "integer" },
    },
    required: ["project"],
  },
}));
const projects = [{ slug: "alpha", name: "Alpha", status: "active" }];

async function listed() {
  const result = { count: projects.length, projects };
  return {
    content: [{ type: "text", text: JSON.stringify(result) }],
    structuredContent: result,
  };
}

function lean() {
  const server = new Server(info, { capabilities: { tools: {} }, jsonSchemaValidator });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, listed);
  return server;
}

function registered() {
  const server = new McpServer(info);
  for (const name of names) {
    server.registerTool(
      name,
      {
        description: described(name),
        inputSchema: {
          project: z.string().describe("Project slug"),
          session_id: z.string().optional().describe("Chat id"),
          prompt: z.string().optional(),
          limit: z.number().int().optional(),
        },
      },
      listed,
    );
  }
  return server;
}

const build = { lean, registered }[process.argv[2]];

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
