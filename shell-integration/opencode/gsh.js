// Asks gsh before opencode uses a tool. Put it into ~/.config/opencode/plugin/ (or .opencode/plugin/ of a project).
// GSH_PROGRAM names another gsh than the one that PATH finds.
import { spawn } from "node:child_process"

// Whatever is not exactly an allow is a refusal: a gsh that is not there, that dies, that says something else.
const refusal = (event) =>
  new Promise((resolve) => {
    const program = process.env.GSH_PROGRAM || "gsh"
    const gsh = spawn(program, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const late = setTimeout(() => gsh.kill("SIGKILL"), 120_000)
    let said = ""
    gsh.stdout.on("data", (chunk) => (said += chunk))
    gsh.stdin.on("error", () => {})
    gsh.on("error", (error) => {
      clearTimeout(late)
      resolve(`gsh: refused, since ${program} could not be started: ${error.message}`)
    })
    gsh.on("close", (status) => {
      clearTimeout(late)
      let reply = {}
      try {
        reply = JSON.parse(said)
      } catch {}
      const allowed = status === 0 && reply.decision === "allow"
      resolve(allowed ? undefined : reply.reason || "gsh: refused, since gsh ended without an answer.")
    })
    gsh.stdin.end(JSON.stringify(event))
  })

export const Gsh = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    const event = { event: "tool.execute.before", tool, session: sessionID, call: callID, args, directory }
    const refused = await refusal(event)
    if (refused) throw new Error(refused)
  },
})
