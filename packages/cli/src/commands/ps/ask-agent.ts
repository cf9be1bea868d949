import { SondeError } from '@sonde/sdk'
import { type AppState, GPU_FIELDS, type GpuField, type PodsAnswer } from '@sonde/sdk/api'
import { messageOf, printable, sondeCommand } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { answerAt } from '../agent-answer.ts'

/** Longest time that an agent needs for an answer. Unit: milliseconds. */
const ANSWER_LIMIT_MS = 10_000
/** Length of the quote if another program answers. Unit: characters. */
const QUOTED_LENGTH = 300

const numberOrNull = v.nullable(v.number())
const fieldSchema = v.picklist(GPU_FIELDS)
const values = Object.fromEntries(GPU_FIELDS.map((field) => [field, numberOrNull]))
const someValues = Object.fromEntries(GPU_FIELDS.map((field) => [field, v.exactOptional(v.number())]))
const sumOrNull = v.nullable(v.object({ sum: v.number(), pods: v.number(), wholeGpus: v.number() }))

const attributionSchema = v.object({
  confidence: v.nullable(v.picklist(['certain', 'likely', 'doubtful'])),
  ...{ from: v.array(v.string()), appLabel: v.string(), serviceLabel: v.string(), labelsFrom: v.string() },
  ...{ phase: v.string(), waiting: v.string(), notes: v.array(v.string()) },
})

const conditionSchema = v.object({
  rank: v.number(),
  tone: v.picklist(['critical', 'warning', 'info', 'ok', 'absent']),
  words: v.string(),
})

/** The parts of an answer that are shown. All are optional: the program may be another one, or of another version. */
const answerSchema = v.looseObject({
  nowMs: v.number(),
  state: v.custom<AppState>((state) => typeof state === 'string'),
  summary: v.string(),
  advice: v.array(v.string()),
  otherApps: v.array(v.string()),
  totals: v.object({
    ...{ gpus: v.number(), sharedGpus: v.number() },
    ...{ memoryUsedBytes: sumOrNull, powerW: sumOrNull },
  }),
  pods: v.array(
    v.looseObject({
      ...{ namespace: v.string(), name: v.string(), app: v.string(), service: v.string(), node: v.string() },
      condition: conditionSchema,
      ...{ gpus: v.number(), instances: v.number(), sharedWith: v.number(), requested: numberOrNull },
      isScheduled: v.nullable(v.boolean()),
      ...{ isWarming: v.boolean(), startedMs: numberOrNull, ageMs: numberOrNull, isSimulated: v.boolean() },
      values: v.object(values as Record<GpuField, typeof numberOrNull>),
      deviceValues: v.object(
        someValues as Record<GpuField, v.ExactOptionalSchema<v.NumberSchema<undefined>, undefined>>,
      ),
      gaps: v.array(v.object({ fields: v.array(fieldSchema), reason: v.string() })),
      attribution: v.nullable(attributionSchema),
    }),
  ),
})

/**
 * Asks the agent at an address for GPU pods, of all apps or of one app.
 *
 * @throws SondeError `CLI_AGENT` if no agent answers; the message says what to do.
 */
export async function askAgent(address: string, app: string | undefined): Promise<PodsAnswer> {
  const url = `${address}/api/v1/pods${app === undefined ? '' : `?app=${encodeURIComponent(app)}`}`
  const { status, text } = await answerAt(url, ANSWER_LIMIT_MS).catch((cause: unknown) => {
    throw fault(`no agent answers at ${address} (${reasonOf(cause)}); ${hint()}`, cause)
  })
  if (status === 404) throw fault(`the program at ${address} has no /api/v1/pods, so it is no agent of this version`)
  const body = jsonOf(text)
  if (status !== 200) throw fault(`the agent at ${address} answers ${status}: ${messageIn(body) ?? quoted(text)}`)
  const checked = v.safeParse(answerSchema, body)
  if (checked.success) return checked.output
  throw fault(`the program at ${address} is no agent of this version: ${quoted(text)}`)
}

function hint(): string {
  return `start one with ${sondeCommand()} up, or give its address with --url`
}

/** The innermost cause, because `fetch failed` alone explains nothing. */
function reasonOf(cause: unknown): string {
  const { cause: inner, code } = cause as { cause?: unknown; code?: unknown }
  if (inner instanceof Error) return reasonOf(inner)
  return typeof code === 'string' ? code : messageOf(cause)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The answer is no JSON, so its text is quoted.
    return undefined
  }
}

function messageIn(body: unknown): string | undefined {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof message === 'string' ? message : undefined
}

function quoted(text: string): string {
  return JSON.stringify(printable(text.slice(0, QUOTED_LENGTH)))
}

function fault(message: string, cause?: unknown): SondeError {
  return new SondeError('CLI_AGENT', message, { cause })
}
