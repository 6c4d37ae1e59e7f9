// Asks gsh before Amp uses a tool. Put it into ~/.config/amp/plugins/. Amp started with PLUGINS=off does not ask.
// GSH_PROGRAM names another gsh than the one that PATH finds.
import { spawnSync } from "node:child_process"

// Whatever is not exactly an allow is a refusal.
const refusal = (event: object): string | undefined => {
  const options = { input: JSON.stringify(event), encoding: "utf8" as const, timeout: 120_000 }
  const ended = spawnSync(process.env.GSH_PROGRAM || "gsh", ["hook", "amp"], options)
  try {
    const reply = JSON.parse(ended.stdout)
    if (ended.status === 0 && reply.decision === "allow") return undefined
    return reply.reason || "gsh: refused."
  } catch {
    return "gsh: refused, since gsh ended without an answer."
  }
}

export default (amp: any) => {
  amp.on("tool.call", async ({ tool, input, id }: any, context: any) => {
    const directory = context?.cwd ?? process.cwd()
    const refused = refusal({ event: "tool.call", tool, call: id, args: input, directory })
    return refused ? { action: "reject-and-continue", message: refused } : { action: "allow" }
  })
}
