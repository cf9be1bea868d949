import type { IncomingMessage } from 'node:http'
import { SondeError } from '@sonde/sdk'
import type { ListedNode, PartVersion } from '@sonde/sdk/api'
import * as v from 'valibot'

/** Policy: a longer answer is no answer of an agent. */
const ANSWER_BYTES_MAX = 4 << 20

const text = (lengthMax: number) =>
  v.pipe(
    v.string(),
    v.transform((given) => given.slice(0, lengthMax)),
  )
/** Times beyond these are no dates, and a page could not show them. */
const time = v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15))
const nodeSchema = v.object({
  node: v.pipe(text(253), v.minLength(1)),
  version: text(100),
  startedMs: time,
  simulated: v.boolean(),
  hardware: v.object({ gpus: text(300), nics: text(300), kernel: text(100) }),
})
const hintsSchema = v.object({
  hints: v.array(v.object({ severity: v.picklist(['critical', 'warning', 'notice']), stage: v.string() })),
})
const KINDS = ['Sonde', 'kernel', 'GPU driver', 'NIC driver', 'DOCA', 'firmware'] as const
const versionsSchema = v.object({
  versions: v.pipe(
    v.array(v.object({ of: v.picklist(KINDS), about: text(100), version: text(100), count: v.number() })),
    v.maxLength(64),
  ),
})

/** What an agent says about its node. */
export type AgentReading = Pick<ListedNode, 'node' | 'startedMs' | 'hardware' | 'simulated'>

/** @throws SondeError `NOD_ANSWER` */
export function readNode(answer: unknown): AgentReading {
  const { node, startedMs, simulated, hardware } = checked(nodeSchema, answer)
  return { node, startedMs, simulated, hardware: [hardware.gpus, hardware.nics].filter(Boolean).join(' · ') }
}

/** The hints that have not ended. @throws SondeError `NOD_ANSWER` */
export function openHints(answer: unknown): Pick<ListedNode, 'hintCount' | 'severity'> {
  const open = checked(hintsSchema, answer).hints.filter(({ stage }) => stage === 'standing')
  const severity = (['critical', 'warning', 'notice'] as const).find((each) =>
    open.some((hint) => hint.severity === each),
  )
  return { hintCount: open.length, severity: severity ?? null }
}

/** @throws SondeError `NOD_ANSWER` */
export function readVersions(answer: unknown): readonly PartVersion[] {
  return checked(versionsSchema, answer).versions
}

/**
 * The JSON of an answer.
 *
 * @throws SondeError `NOD_LOGIN` if the agent refuses the console, `NOD_ANSWER` if it is no answer of an agent.
 */
export async function agentJson(response: IncomingMessage): Promise<unknown> {
  refuseStatus(response)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.byteLength
    // Leaving the loop destroys the response.
    if (bytes > ANSWER_BYTES_MAX) throw noAgent(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    parts.push(part)
  }
  if (response.statusCode !== 200) throw noAgent(`the status ${response.statusCode ?? 0}`)
  try {
    return JSON.parse(Buffer.concat(parts).toString())
  } catch {
    throw noAgent('no JSON')
  }
}

/**
 * Refuses answers that must not reach a browser: its login is at the console, and nothing leads it elsewhere.
 *
 * @throws SondeError `NOD_LOGIN` or `NOD_ANSWER`. The response is then destroyed.
 */
export function refuseStatus(response: IncomingMessage): void {
  const { statusCode: status = 0 } = response
  if (status === 200 || status === 404 || status === 400 || status === 405 || status === 413) return
  if (status === 422 || status === 429 || (status >= 500 && status < 600)) return
  response.destroy()
  if (status === 401 || status === 403)
    throw new SondeError(
      'NOD_LOGIN',
      'the agent refuses this console; give it a token with console.agents.token_file, or a certificate that the agent accepts',
    )
  throw noAgent(`the status ${status}`)
}

function checked<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, answer)
  if (!success) throw noAgent(`an answer without ${v.getDotPath(issues[0]) ?? 'its members'}`)
  return output
}

function noAgent(what: string): SondeError {
  return new SondeError('NOD_ANSWER', `what is there gives ${what}; a Sonde agent of this version does not`)
}
