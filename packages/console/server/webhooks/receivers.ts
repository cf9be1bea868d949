import { closest } from '@sonde/sdk/config'
import { isJsonObject, messageOf } from '@sonde/sdk/internal'
import { parseOutboundUrl } from '../outbound/address-rule.ts'

/** Default time limit of a delivery. Unit: milliseconds. */
const TIMEOUT_MS = 30_000
/** Longest time limit of a delivery. Unit: milliseconds. */
const TIMEOUT_MS_MAX = 300_000
const KEYS = ['url', 'timeout', 'events', 'secret_file', 'secret_env'] as const
const UNITS_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3.6e6 }

/** A receiver as the configuration has it: a URL, a JSON object as text, or the same object. */
export type ReceiverValue = string | Readonly<Record<string, unknown>>

/** A receiver of webhooks. */
export interface Receiver {
  readonly name: string
  /** A secret: many services have one in the path. */
  readonly url: string
  /** The host of the URL, without port. */
  readonly urlHost: string
  readonly timeoutMs: number
  /** Types of events that it gets: `hint.opened`, `hint.*`, `*`. */
  readonly events: readonly string[]
  /** Its own secret for Standard Webhooks. Default: that of all receivers. */
  readonly secretFile?: string
  readonly secretEnv?: string
}

/** Why an entry is no receiver. The first three are those of the Convox rack. */
export type SkipReason =
  | 'empty_value'
  | 'invalid_json'
  | 'empty_url_in_json'
  | 'unknown_key'
  | 'invalid_value'
  | 'invalid_url'

/** An entry that is no receiver. */
export interface SkippedReceiver {
  readonly name: string
  readonly reason: SkipReason
  /** What is wrong, without the value. */
  readonly message: string
}

/** The receivers of the configuration, and the entries that are none. */
export interface ReadReceivers {
  readonly receivers: readonly Receiver[]
  readonly skipped: readonly SkippedReceiver[]
}

/** Reads the receivers. An entry with a fault is left out, because the others must still get their events. */
export function readReceivers(values: Readonly<Record<string, ReceiverValue>>): ReadReceivers {
  const receivers: Receiver[] = []
  const skipped: SkippedReceiver[] = []
  for (const [name, value] of Object.entries(values)) {
    const read = readReceiver(name, value)
    if ('reason' in read) skipped.push(read)
    else receivers.push(read)
  }
  return { receivers, skipped }
}

/** The line on standard output for an entry that was left out, in the words of the Convox rack. */
export function skipLine({ reason, name }: SkippedReceiver): string {
  return `ns=webhook_parse at=skip reason=${reason} name=${name}`
}

function readReceiver(name: string, value: ReceiverValue): Receiver | SkippedReceiver {
  const skip = (reason: SkipReason, message: string) => ({ name, reason, message })
  const text = typeof value === 'string' ? value.trim() : ''
  if (typeof value === 'string' && text === '') return skip('empty_value', 'the value is empty')
  const options = typeof value !== 'string' ? value : text.startsWith('{') ? jsonObject(text) : { url: text }
  if (options === undefined) return skip('invalid_json', 'the value begins with { and is no JSON object')
  const { url, timeout, events, secret_file: secretFile, secret_env: secretEnv } = options
  if (typeof url !== 'string' || url.trim() === '') return skip('empty_url_in_json', 'the object has no url')
  const unknown = Object.keys(options).find((key) => !KEYS.some((known) => known === key))
  if (unknown !== undefined) {
    const meant = closest(unknown, KEYS)
    return skip('unknown_key', `the object has an unknown key${meant === undefined ? '' : ` (did you mean ${meant}?)`}`)
  }
  if (events !== undefined && !isListOfText(events)) return skip('invalid_value', 'events is no list of types')
  if (!isTextOrAbsent(secretFile) || !isTextOrAbsent(secretEnv))
    return skip('invalid_value', 'secret_file or secret_env is no text')
  try {
    // Receivers are in the file of the operator, who may name services of the own network.
    const { hostname: urlHost, href } = parseOutboundUrl(url.trim(), { allowsPrivate: true })
    return {
      ...{ name, url: href, urlHost, timeoutMs: timeoutMs(timeout), events: events ?? ['*'] },
      ...(secretFile !== undefined && { secretFile }),
      ...(secretEnv !== undefined && { secretEnv }),
    }
  } catch (error) {
    return skip('invalid_url', messageOf(error))
  }
}

/** Whether a receiver gets events of a type. */
export function wantsEvent({ events }: Receiver, type: string): boolean {
  return events.some((wanted) => wanted === type || (wanted.endsWith('*') && type.startsWith(wanted.slice(0, -1))))
}

/** A duration as Go spells it, `1m30s`; as in the Convox rack, the default for any other value. */
function timeoutMs(value: unknown): number {
  const text = typeof value === 'string' ? value : ''
  if (!/^\+?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return TIMEOUT_MS
  const parts = [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)]
  const totalMs = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS_MS[unit] ?? 0), 0)
  return totalMs > 0 ? Math.min(Math.max(1, Math.round(totalMs)), TIMEOUT_MS_MAX) : TIMEOUT_MS
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.length <= 32 && value.every((one) => typeof one === 'string')
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value !== '')
}
